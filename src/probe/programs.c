// SPDX-License-Identifier: MIT
// Finds helper programs that only the user and root can have installed.
//
// Theory of operation: programs that run outside of the box decide what the box contains. The build
// can set their paths (a build by Nix does). Otherwise they are searched for on PATH, and each
// program that is found is checked: the file, every symbolic link on the path to it, and every
// directory above. A program that a box or another user could have put there is ignored, and the
// audit reports it.
#include "probe/programs.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/project.h"
#include "probe/known_projects.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// Paths that were set at build time; "": search PATH.
static const struct {
	const char *name;
	const char *path;
} build_paths[] = {
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
	// In a user namespace without root, root's files belong to the overflow uid. The owner of
	// /usr counts as root there.
	return (stat("/usr", &system) == 0 || stat("/", &system) == 0) && owner == system.st_uid;
}

// Returns whether a path is in a directory that a box of this project can write to.
static bool is_box_writable(const struct facts *facts, const char *path)
{
	const struct git_facts *git = plan_git(facts);

	vec_each(mount, &facts->mounts) {
		if (mount->writable && path_within(path, mount->source.real))
			return true;
	}
	return path_within(path, facts->project) || path_within(path, facts->state.root) ||
	       (git && (path_within(path, git->top) || path_within(path, git->common)));
}

const char *probe_path_writer(struct arena *arena, const struct facts *facts, const char *path)
{
	const char *other;

	if (is_box_writable(facts, path))
		return "a box";
	other = probe_known_project(arena, facts, path);
	if (!other)
		return NULL;
	return arena_printf(arena, "a box of '%s'",
			    quote_display(arena, path_tilde(arena, other, facts->home), 120));
}

const char *probe_writing_box(struct arena *arena, const struct facts *facts,
			      const struct followed *file)
{
	const char *profiles = path_join(arena, facts->state.root, "profiles");
	const char *writer = NULL;

	// No box can write the user's profiles, in claudebox's state.
	if (!path_within(file->real, profiles))
		writer = probe_path_writer(arena, facts, file->real);
	vec_each(hop, &file->hops) {
		if (!writer && !path_within(hop->link, profiles))
			writer = probe_path_writer(arena, facts, hop->link);
	}
	return writer;
}

struct planted_link probe_planted_link(struct arena *arena, const struct facts *facts,
				       const struct followed *file)
{
	vec_each(hop, &file->hops) {
		const char *project = is_box_writable(facts, hop->link)
					      ? facts->project
					      : probe_known_project(arena, facts, hop->link);

		if (project && !path_within(file->real, project))
			return (struct planted_link){
				.path = hop->link, .box = probe_path_writer(arena, facts, hop->link)
			};
	}
	return (struct planted_link){ 0 };
}

// Write access of a group is accepted when it is the user's primary group, when it is root's, and
// when root granted it.
bool probe_writable_by_others(const struct facts *facts, const struct stat *status)
{
	return !probe_owner_trusted(facts, status->st_uid) || (status->st_mode & S_IWOTH) ||
	       ((status->st_mode & S_IWGRP) && status->st_uid == facts->uid &&
		status->st_gid != facts->gid && status->st_gid != 0);
}

// Returns whether other users can change or replace a file or link: they can write to it or to a
// directory above. Above the directory that holds it, the sticky bit is sufficient protection,
// because the entry below is checked too.
static bool replaceable_by_others(struct arena *arena, const struct facts *facts, const char *path)
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
		if (probe_writable_by_others(facts, &status))
			return true;
		if (str_equal(place, "/"))
			return false;
		place = path_parent(arena, place);
	}
}

bool probe_others_can_change(struct arena *arena, const struct facts *facts,
			     const struct followed *file)
{
	bool others = replaceable_by_others(arena, facts, file->real);

	vec_each(hop, &file->hops)
		others |= replaceable_by_others(arena, facts, hop->link);
	return others;
}

const char *probe_trust_problem(struct arena *arena, const struct facts *facts, const char *path)
{
	struct followed file;
	const char *box;

	if (path[0] != '/')
		return "the PATH entry is relative";
	file = file_follow(arena, path);
	box = probe_writing_box(arena, facts, &file);
	if (box)
		return arena_printf(arena, "%s can change it", box);
	return probe_others_can_change(arena, facts, &file) ? "other users can change it" : NULL;
}

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

const char *probe_program(struct arena *arena, const struct facts *facts, const char *name,
			  strings *untrusted)
{
	const char *path = facts_variable(facts, "PATH");

	for (size_t i = 0; i < ARRAY_SIZE(build_paths); i++)
		if (str_equal(build_paths[i].name, name) && *build_paths[i].path)
			return is_program(build_paths[i].path) ? build_paths[i].path : NULL;
	// nft is in one of the last three directories, which are not on every user's PATH.
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
		problem = probe_trust_problem(arena, facts, candidate);
		if (!problem)
			return candidate;
		if (untrusted)
			vec_push(arena, untrusted,
				 arena_printf(arena, "'%s' on PATH is ignored: %s",
					      quote_word(arena, candidate, 120), problem));
	}
	return NULL;
}

strings probe_untrusted_programs(struct arena *arena, const struct facts *facts)
{
	const strings *const known[] = { &facts->untrusted_programs,
					 &facts->agent.untrusted_programs };
	strings all = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		vec_each(message, known[i])
			vec_push(arena, &all, *message);
	probe_program(arena, facts, "git", &all);
	probe_program(arena, facts, "nix", &all);
	return all;
}

const char *probe_text_after(struct arena *arena, const char *program, const char *wanted,
			     size_t count)
{
	CLEANUP_FD int fd = open(program, O_RDONLY | O_CLOEXEC);
	struct stat status;
	const char *found;
	const char *after = NULL;
	void *text;

	if (fd < 0 || fstat(fd, &status) < 0 || status.st_size == 0)
		return NULL;
	text = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED)
		return NULL;
	found = memmem(text, (size_t)status.st_size, wanted, strlen(wanted));
	if (found) {
		size_t left = (size_t)status.st_size - (size_t)(found - (const char *)text);

		left -= strlen(wanted);
		after = arena_strndup(arena, found + strlen(wanted), count < left ? count : left);
	}
	munmap(text, (size_t)status.st_size);
	return after;
}
