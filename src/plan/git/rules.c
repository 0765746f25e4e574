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

// The box has the repository's own settings, and programs of its PATH alone.
#define IN_REPOSITORY "git config --local, in the repository"
#define WITH_PROGRAM  IN_REPOSITORY "; --path DIR if the box lacks the program"

const struct git_rule_row git_rule_table[] = {
	// Identity. user.name and user.email are part of every generated file.
	{ "user", "name email", GIT_IDENTITY, "who wrote a commit" },
	{ "author", "name email", GIT_TEXT, "who wrote a commit" },
	{ "committer", "name email", GIT_TEXT, "who committed" },
	// Working with branches.
	{ "init", "defaultbranch defaultobjectformat defaultrefformat", GIT_WORD,
	  "new repositories are alike" },
	{ "pull", "rebase ff autostash", GIT_WORD, "how pull integrates" },
	{ "push",
	  "default autosetupremote followtags recursesubmodules useforceifincludes negotiate",
	  GIT_WORD, "what a push would update" },
	{ "rebase",
	  "autosquash autostash updaterefs abbreviatecommands missingcommitscheck stat forkpoint "
	  "backend reschedulefailedexec rebasemerges maxlabellength",
	  GIT_WORD, "how rebase works" },
	{ "rebase", "instructionformat", GIT_TEXT, "a format of commits" },
	{ "merge",
	  "conflictstyle ff log renames renamelimit renormalize stat directoryrenames autostash "
	  "branchdesc defaulttoupstream suppressdest verbosity",
	  GIT_WORD, "how merge works, and what a conflict looks like" },
	{ "fetch",
	  "prune prunetags parallel output showforcedupdates recursesubmodules all "
	  "negotiationalgorithm writecommitgraph fsckobjects unpacklimit followremotehead",
	  GIT_WORD, "what fetch keeps" },
	{ "branch", "autosetupmerge autosetuprebase sort", GIT_WORD, "how branches follow" },
	{ "branch.*", "rebase remote merge pushremote", GIT_WORD, "how a branch follows" },
	{ "checkout", "defaultremote guess workers thresholdforparallelism", GIT_WORD,
	  "which branch a name means" },
	{ "clone", "defaultremotename filtersubmodules rejectshallow", GIT_WORD,
	  "clones are alike" },
	{ "remote", "pushdefault", GIT_WORD, "the name of a remote" },
	{ "worktree", "guessremote userelativepaths", GIT_WORD, "worktrees are alike" },
	{ "submodule", "recurse fetchjobs propagatebranches", GIT_WORD,
	  "whether commands include submodules" },
	{ "rerere", "enabled autoupdate", GIT_WORD, "recorded conflicts are reused" },
	{ "revert", "reference", GIT_WORD, "the message of a revert" },
	// Commits.
	{ "commit", "cleanup status verbose", GIT_WORD, "the message of a commit" },
	{ "commit", "template", GIT_FILE, "the message of a commit" },
	{ "trailer", "separators where ifexists ifmissing", GIT_WORD, "trailers are alike" },
	{ "trailer.*", "key where ifexists ifmissing", GIT_WORD, "trailers are alike" },
	{ "trailer.*", "command cmd", GIT_PROGRAM, "the program may be missing" },
	{ "tag", "sort", GIT_WORD, "the order of tags" },
	{ "versionsort", "suffix prereleasesuffix", GIT_WORD, "the order of tags" },
	{ "notes", "displayref rewriteref rewritemode mergestrategy", GIT_WORD,
	  "notes follow a rebase" },
	{ "notes.*", "amend rebase mergestrategy", GIT_WORD, "notes follow a rebase" },
	// Content of files.
	{ "core",
	  "autocrlf eol safecrlf whitespace checkroundtripencoding ignorecase filemode symlinks",
	  GIT_WORD, "decides what is stored and checked out" },
	{ "core", "excludesfile attributesfile", GIT_FILE,
	  "decides which files are ignored, and how files are stored" },
	{ "core",
	  "quotepath abbrev logallrefupdates notesref warnambiguousrefs trustctime checkstat "
	  "untrackedcache preloadindex compression loosecompression bigfilethreshold splitindex "
	  "commitgraph multipackindex protecthfs protectntfs usereplacerefs maxtreedepth",
	  GIT_WORD, "output and storage, without a program" },
	{ "core", "commentchar commentstring", GIT_TEXT, "marks comments in messages" },
	{ "i18n", "commitencoding logoutputencoding", GIT_WORD, "encoding of messages" },
	{ "apply", "*", GIT_WORD, "blanks in patches" },
	{ "am", "*", GIT_WORD, "how patches apply" },
	{ "add", "ignoreerrors", GIT_WORD, "what add does with unreadable files" },
	{ "clean", "requireforce", GIT_WORD, "protects files" },
	{ "filter.*", "clean smudge process required", GIT_LFS,
	  "git-lfs stores pointers instead of large files" },
	{ "lfs",
	  "fetchinclude fetchexclude concurrenttransfers locksverify skipdownloaderrors "
	  "setlockablereadonly allowincompletepush",
	  GIT_WORD, "how git-lfs works" },
	{ "lfs.*", "locksverify", GIT_WORD, "how git-lfs works" },
	// Output.
	{ "diff",
	  "algorithm colormoved colormovedws context interhunkcontext dirstat ignoresubmodules "
	  "indentheuristic mnemonicprefix noprefix relative renamelimit renames submodule "
	  "suppressblankempty wserrorhighlight statgraphwidth statnamewidth autorefreshindex",
	  GIT_WORD, "output of diff" },
	{ "diff", "wordregex srcprefix dstprefix", GIT_TEXT, "output of diff" },
	{ "diff.*", "xfuncname funcname wordregex binary algorithm", GIT_TEXT,
	  "output of diff for one kind of file" },
	{ "log",
	  "abbrevcommit date decorate follow mailmap showroot excludedecoration diffmerges "
	  "initialdecorationset graphcolors",
	  GIT_WORD, "output of log" },
	{ "format", "pretty subjectprefix notes", GIT_TEXT, "output of log and patches" },
	{ "format",
	  "signoff numbered thread useautobase coverletter encodeemailheaders suffix attach from",
	  GIT_WORD, "output of patches" },
	{ "pretty", "*", GIT_TEXT, "output of log" },
	{ "blame", "*", GIT_WORD, "output of blame; files of the repository by name" },
	{ "mailmap", "file blob", GIT_WORD, "names in log; files of the repository" },
	{ "grep", "*", GIT_WORD, "output of grep" },
	{ "status", "*", GIT_WORD, "output of status" },
	{ "stash", "*", GIT_WORD, "output of stash" },
	{ "showbranch", "default", GIT_WORD, "output of show-branch" },
	{ "color", "*", GIT_WORD, "colours" },
	{ "color.*", "*", GIT_WORD, "colours" },
	{ "column", "*", GIT_WORD, "columns" },
	{ "advice", "*", GIT_WORD, "which hints are shown" },
	{ "help", "autocorrect", GIT_WORD, "what a mistyped command does" },
	{ "interactive", "singlekey", GIT_WORD, "how questions are answered" },
	// Storage and speed.
	{ "feature", "*", GIT_WORD, "groups of settings of git" },
	{ "index", "*", GIT_WORD, "format of the index" },
	{ "pack", "threads windowmemory window depth", GIT_WORD, "memory and speed" },
	{ "gc",
	  "auto autopacklimit autodetach reflogexpire reflogexpireunreachable rerereresolved "
	  "rerereunresolved pruneexpire",
	  GIT_WORD, "what is kept" },
	{ "maintenance", "auto strategy", GIT_WORD, "what is kept" },
	{ "transfer", "fsckobjects credentialsinurl unpacklimit", GIT_WORD, "checks" },
	{ "protocol", "version", GIT_WORD, "speed of fetch" },
	{ "http", "postbuffer lowspeedlimit lowspeedtime maxrequests version", GIT_WORD,
	  "speed of fetch" },
	// Commands and addresses.
	{ "alias", "*", GIT_ALIAS, "commands of the user" },
	{ "url.*", "insteadof pushinsteadof", GIT_ADDRESS, "short names of servers" },
	// Results differ without these.
	{ "commit", "gpgsign", GIT_SIGNING, "the key stays outside" },
	{ "tag", "gpgsign forcesignannotated", GIT_SIGNING, "the key stays outside" },
	{ "push", "gpgsign", GIT_SIGNING, "the key stays outside" },
	{ "merge", "verifysignatures", GIT_SIGNING, "the keyring stays outside" },
	{ "log", "showsignature", GIT_SIGNING, "the keyring stays outside" },
	{ "core", "hookspath", GIT_HOOKS, "runs programs" },
	{ "init", "templatedir", GIT_TEMPLATE, "copies hooks, which are programs" },
	{ "hook.*", "command", GIT_PROGRAM, "runs programs" },
	{ "diff", "external", GIT_DIFF, "runs a program" },
	{ "diff.*", "command textconv", GIT_DIFF, "runs a program" },
	{ "merge.*", "driver", GIT_MERGE, "runs a program" },
	{ "core", "fsmonitor", GIT_PROGRAM, "runs a program" },
	{ "alias.*", "command", GIT_ALIAS_PROGRAM, "may run a program" },
	{ "http", "proxy sslverify extraheader cookiefile", GIT_CONNECTION,
	  "may contain a login, or names a file" },
	{ "http.*", "proxy sslverify extraheader cookiefile", GIT_CONNECTION,
	  "may contain a login, or names a file" },
	{ "http", "sslcainfo sslcapath", GIT_CERTIFICATES, "names a file" },
	{ "http.*", "sslcainfo sslcapath", GIT_CERTIFICATES, "names a file" },
	{ "core", "gitproxy", GIT_CONNECTION, "runs a program" },
};
const size_t git_rule_count = ARRAY_SIZE(git_rule_table);

const struct git_outside_row git_outside_table[GIT_RULE_COUNT] = {
	[GIT_SIGNING] = { "no key is in the box: commits are not signed, and signatures are not "
			  "checked",
			  NULL },
	[GIT_HOOKS] = { "these hooks do not run: they are programs of yours",
			"git config --local core.hooksPath %s, in the repository" },
	[GIT_TEMPLATE] = { "new repositories get git's own template: yours may have programs",
			   "git init --template %s" },
	[GIT_FILTERS] = { "the filter does not run: files are stored and checked out as they are",
			  WITH_PROGRAM },
	[GIT_DIFF] = { "the program does not run: git shows its own diff", WITH_PROGRAM },
	[GIT_MERGE] = { "the merge driver does not run: git merges as text", WITH_PROGRAM },
	[GIT_PROGRAM] = { "the program does not run", WITH_PROGRAM },
	[GIT_CONNECTION] = { "connections of git use the defaults: a login may be in it",
			     IN_REPOSITORY },
	[GIT_CERTIFICATES] = { "connections of git use the certificates of the box",
			       "--mount-ro FILE, and " IN_REPOSITORY },
	[GIT_ALIAS_PROGRAM] = { "git in the box does not know an alias that can run programs outside "
				"of git or change its settings",
				NULL },
	[GIT_SSH] = { "it replaces https:// by SSH, and the box has no SSH key: git in the box "
		      "keeps https://",
		      NULL },
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

bool git_keys_have(const char *keys, const char *key)
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
	const char *section = parts.subsection ? arena_printf(arena, "%s.*", parts.section)
					       : parts.section;

	for (size_t i = 0; i < git_rule_count; i++) {
		const struct git_rule_row *row = &git_rule_table[i];

		if (str_equal(row->section, section) && git_keys_have(row->keys, parts.key))
			return row;
	}
	return NULL;
}
