// SPDX-License-Identifier: MIT
// Places of a project that programs of the host execute or trust, with the reason of each row.
//
// Theory of operation: a box may write all files of the project. Some of them are executed by the
// next program that the user starts outside, with everything that the box does not have. Source
// files are read by the user before that, or are part of the reported changes. The files in this
// table are not: users do not look into them, and they need no further step. A row counts only for
// files that git does not track. A tracked file is part of the history, shows in `git diff`, and
// must stay writable: git reports success for a checkout that cannot replace a file.
#include "plan/guard/places.h"

#include "base/arena.h"
#include "base/text.h"
#include "plan/guard/index.h"

#include <string.h>

#define GIT(name_, directory_, host_, decision_, judge_, why_)                                   \
	{                                                                                        \
		.name = (name_), .scope = GUARD_GIT, .directory = (directory_), .host = (host_), \
		.decision = (decision_), .judge = (judge_), .why = (why_)                        \
	}
#define FILE_ROW(scope_, name_, host_, judge_, why_)                                      \
	{                                                                                 \
		.name = (name_), .scope = (scope_), .host = (host_),                      \
		.decision = (judge_) ? GUARD_JUDGED : GUARD_PROTECTED, .judge = (judge_), \
		.why = (why_)                                                             \
	}
#define DIRECTORY_ROW(scope_, name_, host_, why_)                                       \
	{                                                                               \
		.name = (name_), .scope = (scope_), .directory = true, .host = (host_), \
		.decision = GUARD_PROTECTED, .why = (why_)                              \
	}
#define LEFTHOOK(name_) \
	FILE_ROW(GUARD_ANYWHERE, name_, HOST_EXECUTES, JUDGE_NONE, "a git hook runs its commands")
// The names that lefthook has for its configuration in one format.
#define LEFTHOOK_ROWS(format_)                                                        \
	LEFTHOOK("lefthook." format_), LEFTHOOK("lefthook-local." format_),           \
		LEFTHOOK(".lefthook." format_), LEFTHOOK(".lefthook-local." format_), \
		LEFTHOOK(".config/lefthook." format_), LEFTHOOK(".config/lefthook-local." format_)

const struct guard_row guard_table[] = {
	// Git, for every git directory in or of the project.
	GIT("hooks", true, HOST_EXECUTES, GUARD_PROTECTED, JUDGE_HOOKS,
	    "git runs the programs in it"),
	GIT("config", false, HOST_EXECUTES, GUARD_PROTECTED, JUDGE_GIT_CONFIG,
	    "git runs the programs that it names"),
	GIT("config.worktree", false, HOST_EXECUTES, GUARD_PROTECTED, JUDGE_GIT_CONFIG,
	    "git runs the programs that it names"),
	GIT("commondir", false, HOST_EXECUTES, GUARD_PROTECTED, JUDGE_POINTER,
	    "git reads its configuration and hooks from the directory that it names"),
	GIT("gitdir", false, HOST_READS, GUARD_PROTECTED, JUDGE_POINTER,
	    "git removes the worktree that it names"),
	GIT("info/attributes", false, HOST_EXECUTES, GUARD_PROTECTED, JUDGE_NONE,
	    "git runs the filters that it names"),
	GIT("objects/info/alternates", false, HOST_READS, GUARD_PROTECTED, JUDGE_NONE,
	    "git reads objects of the repository that it names"),
	GIT("remotes", true, HOST_READS, GUARD_PROTECTED, JUDGE_NONE,
	    "git fetches from the addresses in it"),
	GIT("branches", true, HOST_READS, GUARD_PROTECTED, JUDGE_NONE,
	    "git fetches from the addresses in it"),
	// A repository in the project, or the pointer to its git directory.
	{ .name = ".git",
	  .scope = GUARD_ANYWHERE,
	  .host = HOST_EXECUTES,
	  .decision = GUARD_JUDGED,
	  .judge = JUDGE_REPOSITORY,
	  .why = "git runs the hooks and programs of its configuration" },
	FILE_ROW(GUARD_ANYWHERE, ".gitmodules", HOST_READS, JUDGE_GITMODULES,
		 "git fetches the repositories that it names"),
	// Other version control.
	FILE_ROW(GUARD_ANYWHERE, ".hg/hgrc", HOST_EXECUTES, JUDGE_NONE,
		 "hg runs the hooks and loads the extensions that it names"),
	FILE_ROW(GUARD_ANYWHERE, ".hg/hgrc-not-shared", HOST_EXECUTES, JUDGE_NONE,
		 "hg runs the hooks and loads the extensions that it names"),
	FILE_ROW(GUARD_ANYWHERE, ".hg/sharedpath", HOST_EXECUTES, JUDGE_NONE,
		 "hg reads its configuration from the directory that it names"),
	FILE_ROW(GUARD_ANYWHERE, ".jj/repo/config.toml", HOST_EXECUTES, JUDGE_NONE,
		 "jj runs the pager, editor and other programs that it names"),
	FILE_ROW(GUARD_ANYWHERE, ".sl/config", HOST_EXECUTES, JUDGE_NONE,
		 "sl runs the hooks and loads the extensions that it names"),
	FILE_ROW(GUARD_ANYWHERE, ".sl/sharedpath", HOST_EXECUTES, JUDGE_NONE,
		 "sl reads its configuration from the directory that it names"),
	// Agents.
	FILE_ROW(GUARD_ANYWHERE, ".mcp.json", HOST_ASKS, JUDGE_NONE,
		 "Claude Code starts the servers that it names"),
	FILE_ROW(GUARD_ANYWHERE, ".claude/settings.json", HOST_EXECUTES, JUDGE_NONE,
		 "Claude Code runs its hooks and follows its permissions"),
	FILE_ROW(GUARD_ANYWHERE, ".claude/settings.local.json", HOST_EXECUTES, JUDGE_NONE,
		 "Claude Code runs its hooks and follows its permissions"),
	DIRECTORY_ROW(GUARD_ANYWHERE, ".claude/hooks", HOST_EXECUTES,
		      "Claude Code runs the programs in it"),
	DIRECTORY_ROW(GUARD_ANYWHERE, ".claude/commands", HOST_READS,
		      "Claude Code follows the commands in it, which may run programs"),
	DIRECTORY_ROW(GUARD_ANYWHERE, ".claude/agents", HOST_READS,
		      "Claude Code follows the agents in it"),
	DIRECTORY_ROW(GUARD_ANYWHERE, ".claude/skills", HOST_READS,
		      "Claude Code follows the skills in it, which may run programs"),
	DIRECTORY_ROW(GUARD_ANYWHERE, ".gemini", HOST_EXECUTES,
		      "Gemini CLI starts the servers that its settings name"),
	DIRECTORY_ROW(GUARD_ANYWHERE, ".codex", HOST_ASKS,
		      "Codex starts the servers that its configuration names"),
	FILE_ROW(GUARD_ANYWHERE, "opencode.json", HOST_EXECUTES, JUDGE_NONE,
		 "opencode starts the servers and loads the plugins that it names"),
	FILE_ROW(GUARD_ANYWHERE, "opencode.jsonc", HOST_EXECUTES, JUDGE_NONE,
		 "opencode starts the servers and loads the plugins that it names"),
	DIRECTORY_ROW(GUARD_ANYWHERE, ".opencode", HOST_EXECUTES,
		      "opencode loads the plugins in it"),
	FILE_ROW(GUARD_ANYWHERE, "crush.json", HOST_EXECUTES, JUDGE_NONE,
		 "crush starts the servers that it names"),
	FILE_ROW(GUARD_ANYWHERE, ".crush.json", HOST_EXECUTES, JUDGE_NONE,
		 "crush starts the servers that it names"),
	DIRECTORY_ROW(GUARD_ANYWHERE, ".qwen", HOST_EXECUTES,
		      "Qwen Code starts the servers that its settings name"),
	DIRECTORY_ROW(GUARD_ANYWHERE, ".amazonq", HOST_ASKS,
		      "Amazon Q starts the servers that its settings name"),
	DIRECTORY_ROW(GUARD_TOP, ".kiro", HOST_ASKS,
		      "the editor runs its hooks and starts the servers that it names"),
	DIRECTORY_ROW(GUARD_TOP, ".roo", HOST_ASKS, "the editor starts the servers that it names"),
	FILE_ROW(GUARD_ANYWHERE, ".aider.conf.yml", HOST_EXECUTES, JUDGE_NONE,
		 "aider runs the commands that it names"),
	DIRECTORY_ROW(GUARD_TOP, ".claudebox", HOST_ASKS,
		      "claudebox asks about the packages that it requests"),
	// Editors.
	DIRECTORY_ROW(GUARD_TOP, ".vscode", HOST_ASKS,
		      "the editor runs its tasks and the programs of its settings"),
	DIRECTORY_ROW(GUARD_TOP, ".idea", HOST_ASKS, "the editor runs its configurations"),
	DIRECTORY_ROW(GUARD_TOP, ".devcontainer", HOST_ASKS,
		      "the editor runs the commands of its containers"),
	FILE_ROW(GUARD_TOP, ".devcontainer.json", HOST_ASKS, JUDGE_NONE,
		 "the editor runs the commands of its containers"),
	DIRECTORY_ROW(GUARD_TOP, ".cursor", HOST_ASKS,
		      "the editor runs its hooks and starts the servers that it names"),
	DIRECTORY_ROW(GUARD_TOP, ".windsurf", HOST_ASKS,
		      "the editor runs its hooks and follows its rules"),
	DIRECTORY_ROW(GUARD_TOP, ".zed", HOST_ASKS,
		      "the editor runs its tasks and the programs of its settings"),
	// The shell.
	FILE_ROW(GUARD_ANYWHERE, ".envrc", HOST_ASKS, JUDGE_NONE, "direnv runs it"),
	FILE_ROW(GUARD_TOP, ".bashrc", HOST_EXECUTES, JUDGE_NONE, "a shell runs it"),
	FILE_ROW(GUARD_TOP, ".bash_profile", HOST_EXECUTES, JUDGE_NONE, "a shell runs it"),
	FILE_ROW(GUARD_TOP, ".bash_login", HOST_EXECUTES, JUDGE_NONE, "a shell runs it"),
	FILE_ROW(GUARD_TOP, ".bash_logout", HOST_EXECUTES, JUDGE_NONE, "a shell runs it"),
	FILE_ROW(GUARD_TOP, ".profile", HOST_EXECUTES, JUDGE_NONE, "a shell runs it"),
	FILE_ROW(GUARD_TOP, ".zshenv", HOST_EXECUTES, JUDGE_NONE, "a shell runs it"),
	FILE_ROW(GUARD_TOP, ".zshrc", HOST_EXECUTES, JUDGE_NONE, "a shell runs it"),
	FILE_ROW(GUARD_TOP, ".zprofile", HOST_EXECUTES, JUDGE_NONE, "a shell runs it"),
	FILE_ROW(GUARD_TOP, ".zlogin", HOST_EXECUTES, JUDGE_NONE, "a shell runs it"),
	FILE_ROW(GUARD_TOP, ".zlogout", HOST_EXECUTES, JUDGE_NONE, "a shell runs it"),
	FILE_ROW(GUARD_TOP, ".inputrc", HOST_READS, JUDGE_NONE, "a shell takes its keys from it"),
	// Interpreters that run a file of the current directory when they start.
	FILE_ROW(GUARD_ANYWHERE, ".Rprofile", HOST_EXECUTES, JUDGE_NONE, "R runs it"),
	FILE_ROW(GUARD_ANYWHERE, ".Renviron", HOST_EXECUTES, JUDGE_NONE,
		 "R runs the file that it names"),
	FILE_ROW(GUARD_ANYWHERE, ".RData", HOST_EXECUTES, JUDGE_NONE,
		 "R loads it, and runs a function in it"),
	FILE_ROW(GUARD_ANYWHERE, ".octaverc", HOST_EXECUTES, JUDGE_NONE, "octave runs it"),
	FILE_ROW(GUARD_ANYWHERE, ".pdbrc", HOST_EXECUTES, JUDGE_NONE,
		 "the debugger of Python runs it"),
	FILE_ROW(GUARD_ANYWHERE, ".perldb", HOST_EXECUTES, JUDGE_NONE,
		 "the debugger of Perl runs it"),
	FILE_ROW(GUARD_ANYWHERE, ".irbrc", HOST_EXECUTES, JUDGE_NONE, "irb runs it"),
	FILE_ROW(GUARD_ANYWHERE, ".pryrc", HOST_EXECUTES, JUDGE_NONE, "pry runs it"),
	FILE_ROW(GUARD_ANYWHERE, ".ghci", HOST_EXECUTES, JUDGE_NONE, "ghci runs its commands"),
	FILE_ROW(GUARD_ANYWHERE, ".ocamlinit", HOST_EXECUTES, JUDGE_NONE, "ocaml runs it"),
	FILE_ROW(GUARD_ANYWHERE, ".iex.exs", HOST_EXECUTES, JUDGE_NONE, "iex runs it"),
	// Hooks by other programs.
	{ .name = ".husky",
	  .scope = GUARD_ANYWHERE,
	  .directory = true,
	  .host = HOST_EXECUTES,
	  .decision = GUARD_PROTECTED,
	  .judge = JUDGE_HOOKS,
	  .why = "a git hook runs the programs in it" },
	LEFTHOOK_ROWS("yml"),
	LEFTHOOK_ROWS("yaml"),
	LEFTHOOK_ROWS("toml"),
	LEFTHOOK_ROWS("json"),
	LEFTHOOK_ROWS("jsonc"),
	DIRECTORY_ROW(GUARD_ANYWHERE, ".lefthook", HOST_EXECUTES,
		      "a git hook runs the programs in it"),
	DIRECTORY_ROW(GUARD_ANYWHERE, ".lefthook-local", HOST_EXECUTES,
		      "a git hook runs the programs in it"),
	FILE_ROW(GUARD_ANYWHERE, ".pre-commit-config.yaml", HOST_EXECUTES, JUDGE_NONE,
		 "a git hook runs its commands"),
	// Package managers and builders: settings that name programs and addresses.
	FILE_ROW(GUARD_ANYWHERE, ".cargo/config.toml", HOST_EXECUTES, JUDGE_NONE,
		 "cargo runs the programs that it names"),
	FILE_ROW(GUARD_ANYWHERE, ".cargo/config", HOST_EXECUTES, JUDGE_NONE,
		 "cargo runs the programs that it names"),
	FILE_ROW(GUARD_ANYWHERE, ".npmrc", HOST_EXECUTES, JUDGE_NPMRC,
		 "npm runs the programs and uses the addresses that it names"),
	FILE_ROW(GUARD_ANYWHERE, ".yarnrc", HOST_EXECUTES, JUDGE_NONE,
		 "yarn runs the program that it names"),
	FILE_ROW(GUARD_ANYWHERE, ".yarnrc.yml", HOST_EXECUTES, JUDGE_NONE,
		 "yarn runs the program that it names"),
	FILE_ROW(GUARD_ANYWHERE, ".pnpmfile.cjs", HOST_EXECUTES, JUDGE_NONE, "pnpm runs it"),
	FILE_ROW(GUARD_ANYWHERE, ".pnpmfile.mjs", HOST_EXECUTES, JUDGE_NONE, "pnpm runs it"),
	FILE_ROW(GUARD_ANYWHERE, "bunfig.toml", HOST_EXECUTES, JUDGE_NONE,
		 "bun runs the scripts that it names"),
	FILE_ROW(GUARD_ANYWHERE, ".bazelrc", HOST_EXECUTES, JUDGE_NONE,
		 "bazel runs the programs that it names"),
	DIRECTORY_ROW(GUARD_ANYWHERE, ".mvn", HOST_EXECUTES,
		      "Maven loads the extensions that it names"),
	FILE_ROW(GUARD_ANYWHERE, "mise.toml", HOST_ASKS, JUDGE_NONE, "mise runs its hooks"),
	FILE_ROW(GUARD_ANYWHERE, ".mise.toml", HOST_ASKS, JUDGE_NONE, "mise runs its hooks"),
	FILE_ROW(GUARD_ANYWHERE, "mise.local.toml", HOST_ASKS, JUDGE_NONE, "mise runs its hooks"),
	FILE_ROW(GUARD_ANYWHERE, ".mise.local.toml", HOST_ASKS, JUDGE_NONE, "mise runs its hooks"),
	DIRECTORY_ROW(GUARD_ANYWHERE, ".mise", HOST_ASKS, "mise runs its hooks"),
	FILE_ROW(GUARD_ANYWHERE, "mise/config.toml", HOST_ASKS, JUDGE_NONE, "mise runs its hooks"),
	FILE_ROW(GUARD_ANYWHERE, "mise/config.local.toml", HOST_ASKS, JUDGE_NONE,
		 "mise runs its hooks"),
	FILE_ROW(GUARD_ANYWHERE, ".config/mise.toml", HOST_ASKS, JUDGE_NONE, "mise runs its hooks"),
	FILE_ROW(GUARD_ANYWHERE, ".config/mise.local.toml", HOST_ASKS, JUDGE_NONE,
		 "mise runs its hooks"),
	DIRECTORY_ROW(GUARD_ANYWHERE, ".config/mise", HOST_ASKS, "mise runs its hooks"),
};
const size_t guard_count = ARRAY_SIZE(guard_table);

const char *const guard_host_names[GUARD_HOST_COUNT] = {
	[HOST_EXECUTES] = "executes",
	[HOST_ASKS] = "asks first",
	[HOST_READS] = "reads",
};

const char *const guard_decision_names[GUARD_DECISION_COUNT] = {
	[GUARD_PROTECTED] = "protected",
	[GUARD_JUDGED] = "judged by content",
	[GUARD_REPORTED] = "reported",
};

// Directories of dependencies and caches. Their packages often contain settings of editors.
static const char *const dependency_names[] = { "node_modules", "__pycache__" };

bool guard_is_dependency(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(dependency_names); i++)
		if (str_equal(dependency_names[i], name))
			return true;
	return false;
}

// Returns whether a path begins with all components of a name: it is the place, or lies in it.
static bool begins_with(const char *path, const char *name)
{
	const char *rest = str_after(path, name);

	return rest && (*rest == '\0' || *rest == '/');
}

// Returns whether a row stands for a path at one of its components.
static bool matches(const struct guard_row *row, const char *path)
{
	for (const char *at = path; at; at = strchr(at, '/')) {
		at += *at == '/';
		if (begins_with(at, row->name))
			return true;
		if (row->scope != GUARD_ANYWHERE)
			return false;
	}
	return false;
}

bool guard_lies_in_dependencies(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(dependency_names); i++) {
		size_t length = strlen(dependency_names[i]);

		for (const char *at = path; at; at = strchr(at, '/')) {
			at += *at == '/';
			if (strncmp(at, dependency_names[i], length) == 0 && at[length] == '/')
				return true;
		}
	}
	return false;
}

bool guard_is_hidden_repository(const char *path, uint32_t mode)
{
	return (mode & GIT_MODE_TYPE) == GIT_MODE_LINK && guard_lies_in_dependencies(path);
}

// Returns whether a path ends where the directories of a row's name end: ".claude" of
// ".claude/hooks".
static bool ends_before(const struct guard_row *row, const char *path)
{
	for (const char *at = path; at; at = strchr(at, '/')) {
		const char *rest;

		at += *at == '/';
		rest = str_after(row->name, at);
		if (rest && *rest == '/')
			return true;
		if (row->scope != GUARD_ANYWHERE)
			return false;
	}
	return false;
}

// Returns the first row outside of git directories that a path has this relation to, NULL: none.
static const struct guard_row *
find_in_project(const char *path, bool (*relates)(const struct guard_row *row, const char *path))
{
	if (guard_lies_in_dependencies(path))
		return NULL;
	for (size_t i = 0; i < guard_count; i++)
		if (guard_table[i].scope != GUARD_GIT && relates(&guard_table[i], path))
			return &guard_table[i];
	return NULL;
}

const struct guard_row *guard_find(const char *path)
{
	return find_in_project(path, matches);
}

const struct guard_row *guard_find_below(const char *path)
{
	return find_in_project(path, ends_before);
}

bool guard_may_be_empty(const struct guard_row *row)
{
	// The rows of targets.c have no name. The plan has a read-only mount of .claudebox.
	return row->directory && row->scope != GUARD_GIT && *row->name &&
	       !str_equal(row->name, ".claudebox");
}

// Returns whether a path has a component with this name.
static bool has_component(const char *path, const char *name)
{
	size_t length = strlen(name);

	for (; path; path = strchr(path, '/')) {
		path += *path == '/';
		// Nearly all names differ in the first character.
		if (*path == *name && strncmp(path, name, length) == 0 && strchr("/", path[length]))
			return true;
	}
	return false;
}

bool guard_is_name(const char *name)
{
	for (size_t i = 0; i < guard_count; i++)
		if (guard_table[i].name[0] != '.' && has_component(guard_table[i].name, name))
			return true;
	return false;
}

const struct guard_row *guard_find_in_git(const char *path)
{
	for (size_t i = 0; i < guard_count; i++)
		if (guard_table[i].scope == GUARD_GIT && matches(&guard_table[i], path))
			return &guard_table[i];
	return NULL;
}
