// SPDX-License-Identifier: MIT
// Files that programs of the host execute or trust when the user works on the project.
//
// Theory of operation: the protected places (src/plan/guard/places.c) come first. They appear here
// when git tracks them, or when the user has excepted them. Then comes a table of build files by
// name. Source code is not in it: the user reviews it before running it. Of a package.json, only
// its scripts and dependencies count.
#include "plan/report/executed.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/guard/index.h"
#include "plan/guard/places.h"
#include "plan/report/change.h"

#include <jansson.h>
#include <string.h>

const char *const run_rank_names[RUN_RANK_COUNT] = {
	[RUN_WITHOUT_ASKING] = "without-asking",
	[RUN_WITH_QUESTION] = "with-question",
	[RUN_BY_BUILD] = "build",
	[RUN_ELSEWHERE] = "elsewhere",
	[RUN_TRUSTED] = "trusted",
};

#define MAKE   "make runs its commands"
#define GRADLE "gradle runs it"
#define CONFIG "a tool of JavaScript runs it"
#define CI     "the CI service runs its commands"
#define IMAGE  "building the image runs its commands"
#define BAZEL  "bazel runs it"
#define AGENT  "agents follow it"

const struct run_row run_table[] = {
	{ ".gitattributes", NULL, RUN_WITHOUT_ASKING, "git runs the filters that it names" },
	{ "Makefile", NULL, RUN_BY_BUILD, MAKE },
	{ "makefile", NULL, RUN_BY_BUILD, MAKE },
	{ "GNUmakefile", NULL, RUN_BY_BUILD, MAKE },
	{ "*.mk", NULL, RUN_BY_BUILD, MAKE },
	{ "*.mak", NULL, RUN_BY_BUILD, MAKE },
	{ "CMakeLists.txt", NULL, RUN_BY_BUILD, "cmake runs it" },
	{ "*.cmake", NULL, RUN_BY_BUILD, "cmake runs it" },
	{ "CMakePresets.json", NULL, RUN_BY_BUILD, "cmake runs the commands that it names" },
	{ "meson.build", NULL, RUN_BY_BUILD, "meson runs the commands that it names" },
	{ "configure", NULL, RUN_BY_BUILD, "building runs it" },
	{ "configure.ac", NULL, RUN_BY_BUILD, "autoconf makes a script of it" },
	{ "autogen.sh", NULL, RUN_BY_BUILD, "building runs it" },
	{ "SConstruct", NULL, RUN_BY_BUILD, "scons runs it" },
	{ "build.zig", NULL, RUN_BY_BUILD, "zig runs it" },
	{ "build.rs", NULL, RUN_BY_BUILD, "cargo runs it, also when an editor opens the project" },
	{ "Cargo.toml", NULL, RUN_BY_BUILD, "cargo builds and runs what it names" },
	{ "setup.py", NULL, RUN_BY_BUILD, "pip runs it" },
	{ "setup.cfg", NULL, RUN_BY_BUILD, "python tools run what it names" },
	{ "pyproject.toml", NULL, RUN_BY_BUILD, "python tools run what it names" },
	{ "conftest.py", NULL, RUN_BY_BUILD, "pytest runs it" },
	{ "pytest.ini", NULL, RUN_BY_BUILD, "pytest loads the plugins that it names" },
	{ "tox.ini", NULL, RUN_BY_BUILD, "tox runs its commands" },
	{ "noxfile.py", NULL, RUN_BY_BUILD, "nox runs it" },
	{ "tasks.py", NULL, RUN_BY_BUILD, "invoke runs it" },
	{ "sitecustomize.py", NULL, RUN_BY_BUILD, "python runs it at each start" },
	{ "usercustomize.py", NULL, RUN_BY_BUILD, "python runs it at each start" },
	{ "*.pth", NULL, RUN_BY_BUILD, "python runs it at each start" },
	{ "Rakefile", NULL, RUN_BY_BUILD, "rake runs it" },
	{ "Gemfile", NULL, RUN_BY_BUILD, "bundler runs it" },
	{ "*.gemspec", NULL, RUN_BY_BUILD, "bundler runs it" },
	{ ".rspec", NULL, RUN_BY_BUILD, "rspec loads what it names" },
	{ "build.gradle", NULL, RUN_BY_BUILD, GRADLE },
	{ "settings.gradle", NULL, RUN_BY_BUILD, GRADLE },
	{ "*.gradle", NULL, RUN_BY_BUILD, GRADLE },
	{ "*.gradle.kts", NULL, RUN_BY_BUILD, GRADLE },
	{ "gradlew", NULL, RUN_BY_BUILD, GRADLE },
	{ "gradle-wrapper.properties", NULL, RUN_BY_BUILD,
	  "gradlew runs what it downloads from there" },
	{ "gradle-wrapper.jar", NULL, RUN_BY_BUILD, GRADLE },
	{ "mvnw", NULL, RUN_BY_BUILD, "Maven's wrapper is run" },
	{ "pom.xml", NULL, RUN_BY_BUILD, "Maven runs the plugins that it names" },
	{ "build.xml", NULL, RUN_BY_BUILD, "ant runs its commands" },
	{ "build.sbt", NULL, RUN_BY_BUILD, "sbt runs it" },
	{ "mix.exs", NULL, RUN_BY_BUILD, "mix runs it" },
	{ "Package.swift", NULL, RUN_BY_BUILD, "swift runs it" },
	{ "justfile", NULL, RUN_BY_BUILD, "just runs its commands" },
	{ "Justfile", NULL, RUN_BY_BUILD, "just runs its commands" },
	{ "Taskfile.yml", NULL, RUN_BY_BUILD, "task runs its commands" },
	{ "Taskfile.yaml", NULL, RUN_BY_BUILD, "task runs its commands" },
	{ "WORKSPACE", NULL, RUN_BY_BUILD, BAZEL },
	{ "MODULE.bazel", NULL, RUN_BY_BUILD, BAZEL },
	{ "BUILD", NULL, RUN_BY_BUILD, BAZEL },
	{ "BUILD.bazel", NULL, RUN_BY_BUILD, BAZEL },
	{ "*.bzl", NULL, RUN_BY_BUILD, BAZEL },
	{ "*.config.js", NULL, RUN_BY_BUILD, CONFIG },
	{ "*.config.cjs", NULL, RUN_BY_BUILD, CONFIG },
	{ "*.config.mjs", NULL, RUN_BY_BUILD, CONFIG },
	{ "*.config.ts", NULL, RUN_BY_BUILD, CONFIG },
	{ ".eslintrc.js", NULL, RUN_BY_BUILD, "eslint runs it, also in an editor" },
	{ ".eslintrc.cjs", NULL, RUN_BY_BUILD, "eslint runs it, also in an editor" },
	{ "Gruntfile.js", NULL, RUN_BY_BUILD, "grunt runs it" },
	{ "gulpfile.js", NULL, RUN_BY_BUILD, "gulp runs it" },
	{ "binding.gyp", NULL, RUN_BY_BUILD, "npm builds what it names" },
	{ "flake.nix", NULL, RUN_BY_BUILD, "nix evaluates it" },
	{ "shell.nix", NULL, RUN_BY_BUILD, "nix evaluates it" },
	{ "default.nix", NULL, RUN_BY_BUILD, "nix evaluates it" },
	{ "Dockerfile", NULL, RUN_BY_BUILD, IMAGE },
	{ "Dockerfile.*", NULL, RUN_BY_BUILD, IMAGE },
	{ "*.dockerfile", NULL, RUN_BY_BUILD, IMAGE },
	{ "Containerfile", NULL, RUN_BY_BUILD, IMAGE },
	{ "docker-compose.yml", NULL, RUN_BY_BUILD, "docker starts what it names" },
	{ "docker-compose.yaml", NULL, RUN_BY_BUILD, "docker starts what it names" },
	{ "compose.yml", NULL, RUN_BY_BUILD, "docker starts what it names" },
	{ "compose.yaml", NULL, RUN_BY_BUILD, "docker starts what it names" },
	{ "Vagrantfile", NULL, RUN_BY_BUILD, "vagrant runs it" },
	{ "Procfile", NULL, RUN_BY_BUILD, "foreman runs its commands" },
	{ "rust-toolchain", NULL, RUN_BY_BUILD, "cargo runs the toolchain that it names" },
	{ "rust-toolchain.toml", NULL, RUN_BY_BUILD, "cargo runs the toolchain that it names" },
	{ "pnpm-workspace.yaml", NULL, RUN_BY_BUILD, "pnpm runs the scripts that it allows" },
	{ "config", ".bundle", RUN_BY_BUILD, "bundler loads the plugins that it names" },
	{ "ansible.cfg", NULL, RUN_BY_BUILD, "ansible loads the plugins that it names" },
	{ "devbox.json", NULL, RUN_BY_BUILD, "devbox runs its commands" },
	{ ".gdbinit", NULL, RUN_WITH_QUESTION, "gdb runs its commands" },
	{ ".lldbinit", NULL, RUN_WITH_QUESTION, "lldb runs its commands" },
	{ ".exrc", NULL, RUN_WITH_QUESTION, "vim runs it if you allow that" },
	{ ".nvim.lua", NULL, RUN_WITH_QUESTION, "nvim runs it if you allow that" },
	{ ".dir-locals.el", NULL, RUN_WITH_QUESTION, "emacs asks to evaluate it" },
	{ "*.code-workspace", NULL, RUN_WITH_QUESTION, "the editor runs its tasks" },
	{ ".lazygit.yml", NULL, RUN_WITHOUT_ASKING, "lazygit runs the commands that it names" },
	{ "*", ".github/workflows", RUN_ELSEWHERE, CI },
	{ "action.yml", NULL, RUN_ELSEWHERE, CI },
	{ "action.yaml", NULL, RUN_ELSEWHERE, CI },
	{ ".gitlab-ci.yml", NULL, RUN_ELSEWHERE, CI },
	{ "*", ".circleci", RUN_ELSEWHERE, CI },
	{ "*", ".woodpecker", RUN_ELSEWHERE, CI },
	{ "*", ".buildkite", RUN_ELSEWHERE, CI },
	{ "Jenkinsfile", NULL, RUN_ELSEWHERE, CI },
	{ "azure-pipelines.yml", NULL, RUN_ELSEWHERE, CI },
	{ ".travis.yml", NULL, RUN_ELSEWHERE, CI },
	{ "CLAUDE.md", NULL, RUN_TRUSTED, AGENT },
	{ "CLAUDE.local.md", NULL, RUN_TRUSTED, AGENT },
	{ "AGENTS.md", NULL, RUN_TRUSTED, AGENT },
	{ "GEMINI.md", NULL, RUN_TRUSTED, AGENT },
	{ ".cursorrules", NULL, RUN_TRUSTED, AGENT },
	{ "copilot-instructions.md", ".github", RUN_TRUSTED, AGENT },
	{ "*", ".claude", RUN_TRUSTED, "Claude Code reads it" },
};
const size_t run_count = ARRAY_SIZE(run_table);

static bool name_matches(const char *pattern, const char *name)
{
	size_t length = strlen(pattern);

	if (*pattern == '*')
		return str_ends(name, pattern + 1) && strlen(name) > strlen(pattern + 1);
	if (pattern[length - 1] == '*')
		return strncmp(name, pattern, length - 1) == 0;
	return str_equal(name, pattern);
}

// Returns whether a path lies in a directory of this name.
static bool lies_in(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	for (const char *at = path; at; at = strchr(at, '/')) {
		at += *at == '/';
		if (strncmp(at, directory, length) == 0 && at[length] == '/')
			return true;
	}
	return false;
}

static const struct run_row *find_row(const char *path)
{
	const char *name = path_name(path);

	for (size_t i = 0; i < run_count; i++)
		if (name_matches(run_table[i].name, name) &&
		    (!run_table[i].in || lies_in(path, run_table[i].in)))
			return &run_table[i];
	return NULL;
}

static bool is_link(const struct file_version *version)
{
	return (version->mode & GIT_MODE_TYPE) == GIT_MODE_SYMLINK;
}

static bool is_program(const struct file_version *version)
{
	return (version->mode & GIT_MODE_TYPE) == GIT_MODE_FILE && (version->mode & 0111);
}

static bool is_package(const char *path)
{
	return str_equal(path_name(path), "package.json");
}

bool executed_needs_content(const struct file_change *change)
{
	return change->after.mode && (is_link(&change->after) || is_package(change->path));
}

// Returns whether a link leads out of the project, by its text.
static bool leads_out(struct arena *arena, const char *path, const char *target)
{
	// Below a root of any name, components ".." that go above the project are visible.
	const char *directory = strchr(path, '/') ? path_join(arena, "/p", path_parent(arena, path))
						  : "/p";

	return *target == '/' ||
	       !path_within(path_clean(arena, path_join(arena, directory, target)), "/p");
}

// Returns what a changed package.json makes npm run, NULL: nothing.
static const char *judge_package(const struct change_content *content)
{
	static const struct {
		const char *key;
		const char *why;
	} keys[] = {
		{ "scripts", "npm runs its scripts" },
		{ "bin", "npm installs its programs" },
		{ "gypfile", "npm builds what it names" },
		{ "packageManager", "corepack runs the program that it names" },
		{ "dependencies", "npm install runs scripts of its new dependencies" },
		{ "devDependencies", "npm install runs scripts of its new dependencies" },
		{ "optionalDependencies", "npm install runs scripts of its new dependencies" },
		{ "overrides", "npm install runs scripts of its new dependencies" },
		{ "workspaces", "npm install runs scripts of its new packages" },
	};
	JSON_OWNED *before = json_read_object(content->before, 0);
	JSON_OWNED *after = json_read_object(content->after, 0);

	if (!after)
		return content->after ? NULL : "npm runs its scripts";
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const json_t *old = json_object_get(before, keys[i].key);
		const json_t *new = json_object_get(after, keys[i].key);

		if (new && !json_equal(old, new))
			return keys[i].why;
	}
	return NULL;
}

static bool set(struct executed *ret, const struct file_change *change, enum run_rank rank,
		const char *why)
{
	*ret = (struct executed){ .path = change->path, .rank = rank, .why = why };
	return true;
}

static enum run_rank rank_of(enum guard_host host)
{
	return host == HOST_EXECUTES ? RUN_WITHOUT_ASKING
	       : host == HOST_ASKS   ? RUN_WITH_QUESTION
				     : RUN_TRUSTED;
}

bool executed_judge(struct arena *arena, const struct file_change *change,
		    const struct change_content *content, struct executed *ret)
{
	const struct guard_row *place = guard_find(change->path);
	const struct run_row *row = find_row(change->path);
	const char *why;

	if (!change->after.mode)
		return false; // a file that is gone executes nothing
	if (is_link(&change->after) &&
	    (content->leads_out ||
	     (content->after && leads_out(arena, change->path, content->after))))
		return set(ret, change, RUN_WITHOUT_ASKING,
			   "a link that leads out of the project: writing to it changes a file "
			   "outside");
	if (place)
		return set(ret, change, rank_of(place->host), place->why);
	if (is_package(change->path) && !is_link(&change->after)) {
		why = judge_package(content);
		return why && set(ret, change, RUN_BY_BUILD, why);
	}
	if (row)
		return set(ret, change, row->rank, row->why);
	if (is_program(&change->after) && !is_program(&change->before))
		return set(ret, change, RUN_BY_BUILD,
			   change->before.mode ? "it can be executed now" : "a new program");
	return false;
}

static bool comes_before(const struct executed *a, const struct executed *b)
{
	return a->rank != b->rank ? a->rank < b->rank : strcmp(a->path, b->path) < 0;
}

void executed_sort(executed_files *files)
{
	for (size_t i = 1; i < files->count; i++) {
		struct executed file = files->items[i];
		size_t place = i;

		for (; place && comes_before(&file, &files->items[place - 1]); place--)
			files->items[place] = files->items[place - 1];
		files->items[place] = file;
	}
}
