// SPDX-License-Identifier: MIT
// Finds helper programs, and makes sure that nobody but the user and root can have put them there.
//
// Theory of operation: what runs outside of the box decides what the box is. A build can name the programs (for Nix); else
// they are looked for on PATH, and each that is found is judged: every link on the way, the file, and every
// directory above. One that a box or another user could have put there is passed over, and the user is told.
#include "probe/programs.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/project.h"
#include "sys/files.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Paths that the build was given, "" for those to be looked for.
static const struct {
	const char *name;
	const char *path;
} compiled_in[] = {
	{ "bwrap", PROGRAM_BWRAP }, { "claude", PROGRAM_CLAUDE },
	{ "git", PROGRAM_GIT },     { "nft", PROGRAM_NFT },
	{ "nix", PROGRAM_NIX },     { "node", PROGRAM_NODE },
	{ "pasta", PROGRAM_PASTA }, { "systemd-run", PROGRAM_SYSTEMD_RUN },
};

bool probe_owner_trusted(const struct facts *facts, uid_t owner)
{
	struct stat system;

	if (owner == facts->uid || owner == 0)
		return true;
	// In a user namespace without it, root's files are nobody's, the system's among them.
	return (stat("/usr", &system) == 0 || stat("/", &system) == 0) && owner == system.st_uid;
}

static bool in_reach(const struct facts *facts, const char *path)
{
	const struct git_facts *git = plan_git(facts);

	return path_within(path, facts->project) || path_within(path, facts->state.root) ||
	       (git && (path_within(path, git->top) || path_within(path, git->common)));
}

bool probe_box_writes(const struct facts *facts, const struct followed *file)
{
	bool writes = in_reach(facts, file->real);

	vec_each(hop, &file->hops)
		writes |= in_reach(facts, hop->link);
	return writes;
}

// A group is fine when it is our own, or when root let it in.
static bool others_write(const struct facts *facts, const struct stat *status)
{
	return !probe_owner_trusted(facts, status->st_uid) || (status->st_mode & S_IWOTH) ||
	       ((status->st_mode & S_IWGRP) && status->st_uid == facts->uid &&
		status->st_gid != facts->gid && status->st_gid != 0);
}

// A file or link, its directory, and all above. Further up the sticky bit is enough: what lies there is judged as well.
static bool others_reach(struct arena *arena, const struct facts *facts, const char *path)
{
	const char *place = path;

	for (int level = 0;; level++) {
		struct stat status;

		if (lstat(place, &status) < 0)
			return true;
		if (S_ISLNK(status.st_mode))
			status.st_mode &= ~(mode_t)(S_IWGRP | S_IWOTH);
		if (level > 1 && (status.st_mode & S_ISVTX))
			status.st_mode &= ~(mode_t)(S_IWGRP | S_IWOTH);
		if (others_write(facts, &status))
			return true;
		if (str_equal(place, "/"))
			return false;
		place = path_parent(arena, place);
	}
}

// What is wrong with a program; NULL: nothing.
static const char *distrust(struct arena *arena, const struct facts *facts, const char *path)
{
	struct followed file;
	bool others;

	if (path[0] != '/')
		return "the entry is relative";
	file = file_follow(arena, path);
	if (probe_box_writes(facts, &file))
		return "a box can write there";
	others = others_reach(arena, facts, file.real);
	vec_each(hop, &file.hops)
		others |= others_reach(arena, facts, hop->link);
	return others ? "other users can write there" : NULL;
}

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

const char *probe_program(struct arena *arena, const struct facts *facts, const char *name,
			  strings *passed_over)
{
	const char *path = facts_variable(facts, "PATH");

	for (size_t i = 0; i < ARRAY_SIZE(compiled_in); i++)
		if (str_equal(compiled_in[i].name, name) && *compiled_in[i].path)
			return is_program(compiled_in[i].path) ? compiled_in[i].path : NULL;
	// The last ones are not on an ordinary user's PATH everywhere, and nft is there.
	path = arena_printf(arena, "%s:/usr/local/sbin:/usr/sbin:/sbin",
			    path ? path : "/usr/bin:/bin");
	for (const char *s = path; *s;) {
		size_t length = strcspn(s, ":");
		const char *directory = length ? arena_strndup(arena, s, length) : ".";
		const char *candidate = arena_printf(arena, "%s/%s", directory, name);
		const char *problem;

		s += length + (s[length] == ':');
		if (!is_program(candidate))
			continue;
		problem = distrust(arena, facts, candidate);
		if (!problem)
			return candidate;
		if (passed_over)
			vec_push(arena, passed_over,
				 arena_printf(arena, "'%s' on PATH is passed over: %s",
					      quote_word(arena, candidate, 120), problem));
	}
	return NULL;
}

strings probe_passed_over(struct arena *arena, const struct facts *facts)
{
	const strings *const known[] = { &facts->passed_over, &facts->agent.passed_over };
	strings all = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		vec_each(sentence, known[i])
			vec_push(arena, &all, *sentence);
	probe_program(arena, facts, "git", &all);
	probe_program(arena, facts, "nix", &all);
	return all;
}
