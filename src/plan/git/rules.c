// SPDX-License-Identifier: MIT
// Which settings of git pass into the box, with the reason of each row.
//
// Theory of operation: git behaves in the box as outside if its settings are the same. Some
// settings name programs, keys or files that the box does not have, and some contain logins. So the
// table lists what passes, and what is named because results differ without it. A setting that is
// in no row stays outside: a newer git may use it to run a program.
#include "plan/git/rules.h"

#include "base/arena.h"
#include "base/text.h"
#include "plan/git/copies.h"
#include "plan/git/facts.h"
#include "plan/git/settings.h"

#include <string.h>

#define IN_REPOSITORY "git config --local, in the repository"

const struct git_rule_row git_rule_table[] = {
	// Identity. user.name and user.email are part of every generated file.
	{ "author", false, "name email", GIT_TEXT, "who wrote a commit" },
	{ "committer", false, "name email", GIT_TEXT, "who committed" },
	// Working with branches.
	{ "init", false, "defaultbranch defaultobjectformat defaultrefformat", GIT_WORD,
	  "new repositories are alike" },
	{ "pull", false, "rebase ff autostash", GIT_WORD, "how pull integrates" },
	{ "push", false,
	  "default autosetupremote followtags recursesubmodules useforceifincludes negotiate",
	  GIT_WORD, "what a push would update" },
	{ "rebase", false,
	  "autosquash autostash updaterefs abbreviatecommands missingcommitscheck stat forkpoint "
	  "backend reschedulefailedexec rebasemerges maxlabellength",
	  GIT_WORD, "how rebase works" },
	{ "rebase", false, "instructionformat", GIT_TEXT, "a format of commits" },
	{ "merge", false,
	  "conflictstyle ff log renames renamelimit renormalize stat directoryrenames autostash "
	  "branchdesc defaulttoupstream suppressdest verbosity",
	  GIT_WORD, "how merge works, and what a conflict looks like" },
	{ "fetch", false,
	  "prune prunetags parallel output showforcedupdates recursesubmodules all "
	  "negotiationalgorithm writecommitgraph fsckobjects unpacklimit followremotehead",
	  GIT_WORD, "what fetch keeps" },
	{ "branch", false, "autosetupmerge autosetuprebase sort", GIT_WORD, "how branches follow" },
	{ "branch", true, "rebase remote merge pushremote", GIT_WORD, "how a branch follows" },
	{ "checkout", false, "defaultremote guess workers thresholdforparallelism", GIT_WORD,
	  "which branch a name means" },
	{ "clone", false, "defaultremotename filtersubmodules rejectshallow", GIT_WORD,
	  "clones are alike" },
	{ "remote", false, "pushdefault", GIT_WORD, "the name of a remote" },
	{ "worktree", false, "guessremote userelativepaths", GIT_WORD, "worktrees are alike" },
	{ "submodule", false, "recurse fetchjobs propagatebranches", GIT_WORD,
	  "whether commands include submodules" },
	{ "rerere", false, "enabled autoupdate", GIT_WORD, "recorded conflicts are reused" },
	{ "revert", false, "reference", GIT_WORD, "the message of a revert" },
	// Commits.
	{ "commit", false, "cleanup status verbose", GIT_WORD, "the message of a commit" },
	{ "commit", false, "template", GIT_FILE, "the message of a commit" },
	{ "trailer", false, "separators where ifexists ifmissing", GIT_WORD, "trailers are alike" },
	{ "trailer", true, "key where ifexists ifmissing", GIT_WORD, "trailers are alike" },
	{ "trailer", true, "command cmd", GIT_PROGRAM, "the program may be missing" },
	{ "tag", false, "sort", GIT_WORD, "the order of tags" },
	{ "versionsort", false, "suffix prereleasesuffix", GIT_WORD, "the order of tags" },
	{ "notes", false, "displayref rewriteref rewritemode mergestrategy", GIT_WORD,
	  "notes follow a rebase" },
	{ "notes", true, "amend rebase mergestrategy", GIT_WORD, "notes follow a rebase" },
	// Content of files.
	{ "core", false,
	  "autocrlf eol safecrlf whitespace checkroundtripencoding ignorecase filemode symlinks",
	  GIT_WORD, "decides what is stored and checked out" },
	{ "core", false, "excludesfile attributesfile", GIT_FILE,
	  "decides which files are ignored, and how files are stored" },
	{ "core", false,
	  "quotepath abbrev logallrefupdates notesref warnambiguousrefs trustctime checkstat "
	  "untrackedcache preloadindex compression loosecompression bigfilethreshold splitindex "
	  "commitgraph multipackindex protecthfs protectntfs usereplacerefs maxtreedepth",
	  GIT_WORD, "output and storage, without a program" },
	{ "core", false, "commentchar commentstring", GIT_TEXT, "marks comments in messages" },
	{ "i18n", false, "commitencoding logoutputencoding", GIT_WORD, "encoding of messages" },
	{ "apply", false, "*", GIT_WORD, "blanks in patches" },
	{ "am", false, "*", GIT_WORD, "how patches apply" },
	{ "add", false, "ignoreerrors", GIT_WORD, "what add does with unreadable files" },
	{ "clean", false, "requireforce", GIT_WORD, "protects files" },
	{ "filter", true, "clean smudge process required", GIT_LFS,
	  "git-lfs stores pointers instead of large files" },
	{ "lfs", false,
	  "fetchinclude fetchexclude concurrenttransfers locksverify skipdownloaderrors "
	  "setlockablereadonly allowincompletepush",
	  GIT_WORD, "how git-lfs works" },
	{ "lfs", true, "locksverify", GIT_WORD, "how git-lfs works" },
	// Output.
	{ "diff", false,
	  "algorithm colormoved colormovedws context interhunkcontext dirstat ignoresubmodules "
	  "indentheuristic mnemonicprefix noprefix relative renamelimit renames submodule "
	  "suppressblankempty wserrorhighlight statgraphwidth statnamewidth autorefreshindex",
	  GIT_WORD, "output of diff" },
	{ "diff", false, "wordregex srcprefix dstprefix", GIT_TEXT, "output of diff" },
	{ "diff", true, "xfuncname funcname wordregex binary algorithm", GIT_TEXT,
	  "output of diff for one kind of file" },
	{ "log", false,
	  "abbrevcommit date decorate follow mailmap showroot excludedecoration diffmerges "
	  "initialdecorationset graphcolors",
	  GIT_WORD, "output of log" },
	{ "format", false, "pretty subjectprefix notes", GIT_TEXT, "output of log and patches" },
	{ "format", false,
	  "signoff numbered thread useautobase coverletter encodeemailheaders suffix attach from",
	  GIT_WORD, "output of patches" },
	{ "pretty", false, "*", GIT_TEXT, "output of log" },
	{ "blame", false, "*", GIT_WORD, "output of blame; files of the repository by name" },
	{ "mailmap", false, "file blob", GIT_WORD, "names in log; files of the repository" },
	{ "grep", false, "*", GIT_WORD, "output of grep" },
	{ "status", false, "*", GIT_WORD, "output of status" },
	{ "stash", false, "*", GIT_WORD, "output of stash" },
	{ "showbranch", false, "default", GIT_WORD, "output of show-branch" },
	{ "color", false, "*", GIT_WORD, "colours" },
	{ "color", true, "*", GIT_WORD, "colours" },
	{ "column", false, "*", GIT_WORD, "columns" },
	{ "advice", false, "*", GIT_WORD, "which hints are shown" },
	{ "help", false, "autocorrect", GIT_WORD, "what a mistyped command does" },
	{ "interactive", false, "singlekey", GIT_WORD, "how questions are answered" },
	// Storage and speed.
	{ "feature", false, "*", GIT_WORD, "groups of settings of git" },
	{ "index", false, "*", GIT_WORD, "format of the index" },
	{ "pack", false, "threads windowmemory window depth", GIT_WORD, "memory and speed" },
	{ "gc", false,
	  "auto autopacklimit autodetach reflogexpire reflogexpireunreachable rerereresolved "
	  "rerereunresolved pruneexpire",
	  GIT_WORD, "what is kept" },
	{ "maintenance", false, "auto strategy", GIT_WORD, "what is kept" },
	{ "transfer", false, "fsckobjects credentialsinurl unpacklimit", GIT_WORD, "checks" },
	{ "protocol", false, "version", GIT_WORD, "speed of fetch" },
	{ "http", false, "postbuffer lowspeedlimit lowspeedtime maxrequests version", GIT_WORD,
	  "speed of fetch" },
	// Commands and addresses.
	{ "alias", false, "*", GIT_ALIAS, "commands of the user" },
	{ "url", true, "insteadof pushinsteadof", GIT_ADDRESS, "short names of servers" },
	// Results differ without these.
	{ "commit", false, "gpgsign", GIT_SIGNING, "the key stays outside" },
	{ "tag", false, "gpgsign forcesignannotated", GIT_SIGNING, "the key stays outside" },
	{ "push", false, "gpgsign", GIT_SIGNING, "the key stays outside" },
	{ "merge", false, "verifysignatures", GIT_SIGNING, "the keyring stays outside" },
	{ "log", false, "showsignature", GIT_SIGNING, "the keyring stays outside" },
	{ "core", false, "hookspath", GIT_HOOKS, "runs programs" },
	{ "init", false, "templatedir", GIT_HOOKS, "copies hooks, which are programs" },
	{ "hook", true, "command", GIT_HOOKS, "runs programs" },
	{ "diff", false, "external", GIT_DIFF, "runs a program" },
	{ "diff", true, "command textconv", GIT_DIFF, "runs a program" },
	{ "merge", true, "driver", GIT_MERGE, "runs a program" },
	{ "core", false, "fsmonitor", GIT_PROGRAM, "runs a program" },
	{ "alias", true, "command", GIT_ALIAS_PROGRAM, "may run a program" },
	{ "http", false, "proxy sslverify sslcainfo sslcapath extraheader cookiefile",
	  GIT_CONNECTION, "may contain a login, or names a file" },
	{ "http", true, "proxy sslverify sslcainfo sslcapath extraheader cookiefile",
	  GIT_CONNECTION, "may contain a login, or names a file" },
	{ "core", false, "gitproxy", GIT_CONNECTION, "runs a program" },
};
const size_t git_rule_count = ARRAY_SIZE(git_rule_table);

const struct git_outside_row git_outside_table[GIT_RULE_COUNT] = {
	[GIT_SIGNING] = { "no key is in the box: commits are not signed, and signatures are not "
			  "checked",
			  NULL },
	[GIT_HOOKS] = { "these hooks do not run: they are programs of yours", IN_REPOSITORY },
	[GIT_FILTERS] = { "the filter does not run: files are stored and checked out as they are",
			  IN_REPOSITORY },
	[GIT_DIFF] = { "the program does not run: git shows its own diff", IN_REPOSITORY },
	[GIT_MERGE] = { "the merge driver does not run: git merges as text", IN_REPOSITORY },
	[GIT_PROGRAM] = { "the program does not run", IN_REPOSITORY },
	[GIT_CONNECTION] = { "connections of git use the defaults: a login may be in it",
			     IN_REPOSITORY },
	[GIT_ALIAS_PROGRAM] = { "they run a shell, another program, or a key", NULL },
	[GIT_SSH] = { "no SSH key is in the box: addresses stay as they are", NULL },
	[GIT_LOCAL_ADDRESS] = { "they lead to a directory or a program of this machine", NULL },
	[GIT_SECRET] = { "they contain something like a login or a token", NULL },
	[GIT_FORM] = { "the value is a path, is too long, or has control characters", NULL },
};

const struct git_copy_row git_copy_table[GIT_COPY_COUNT] = {
	[GIT_COPY_IGNORE] = { "core.excludesfile", "git/ignore", "/run/claudebox/git/ignore",
			      "your git settings: ignored files" },
	[GIT_COPY_ATTRIBUTES] = { "core.attributesfile", "git/attributes",
				  "/run/claudebox/git/attributes",
				  "your git settings: attributes" },
	[GIT_COPY_TEMPLATE] = { "commit.template", NULL, "/run/claudebox/git/commit-template",
				"your git settings: template of messages" },
};

static bool has_key(const char *keys, const char *key)
{
	size_t length = strlen(key);

	if (str_equal(keys, "*"))
		return true;
	for (const char *s = keys; *s; s += strspn(s, " ")) {
		size_t word = strcspn(s, " ");

		if (word == length && strncmp(s, key, word) == 0)
			return true;
		s += word;
	}
	return false;
}

const struct git_rule_row *git_rule_find(struct arena *arena, const char *name)
{
	struct git_name parts = git_name_split(arena, name);

	for (size_t i = 0; i < git_rule_count; i++) {
		const struct git_rule_row *row = &git_rule_table[i];

		if (str_equal(row->section, parts.section) &&
		    row->named == (parts.subsection != NULL) && has_key(row->keys, parts.key))
			return row;
	}
	return NULL;
}
