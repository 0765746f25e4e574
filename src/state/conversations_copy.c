// SPDX-License-Identifier: MIT
// Copies conversations of the host into the instance.
//
// Theory of operation: boxes write the instance's Claude directory, so no link in it is followed
// and no file is replaced. All copies are first written under temporary names, then renamed. If a
// copy fails (a full disk), all are removed. If claudebox is killed, the next import removes the
// temporary files and copies what is missing. The answer is recorded last.
#include "state/conversations_copy.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/state/conversations.h"
#include "state/conversations_scan.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 256 * 1024 };

// Opens a directory that a box may have replaced by a file or a link: that is moved aside.
static int open_or_replace(int parent, const char *name, const char *shown, struct error *error)
{
	int fd = open_directory(parent, name, shown, error);

	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP) && move_aside(parent, name, error))
		fd = open_directory(parent, name, shown, error);
	return fd;
}

// Opens the directory of the project's conversations in the instance. Returns -1 with an error.
static int open_target(const struct plan_state *state, struct error *error)
{
	CLEANUP_FD int claude = file_open(AT_FDCWD, state->claude, O_RDONLY | O_DIRECTORY);
	CLEANUP_FD int all = -1;
	const char *path = path_join(error->arena, state->claude, CONVERSATIONS_DIRECTORY);

	if (claude < 0) {
		write_fail(error, "open directory", state->claude);
		return -1;
	}
	all = open_or_replace(claude, CONVERSATIONS_DIRECTORY, path, error);
	if (all < 0)
		return -1;
	return open_or_replace(all, state->import.slug,
			       path_join(error->arena, path, state->import.slug), error);
}

static bool copy_bytes(int from, int to, uint64_t left, char *chunk)
{
	while (left) {
		ssize_t got = read(from, chunk, left < CHUNK ? (size_t)left : CHUNK);

		if (got < 0 && errno == EINTR)
			continue;
		if (got == 0)
			errno = EIO; // the file has become shorter
		if (got <= 0 || !write_all(to, chunk, (size_t)got))
			return false;
		left -= (uint64_t)got;
	}
	return true;
}

// Writes the copy under a temporary name. Claude sorts conversations by their times.
static bool write_copy(int source, int target, const struct host_conversation *conversation,
		       const char *temporary, char *chunk, struct error *error)
{
	const struct timespec changed = {
		.tv_sec = conversation->changed_ns / INT64_C(1000000000),
		.tv_nsec = conversation->changed_ns % INT64_C(1000000000),
	};
	const struct timespec times[] = { changed, changed };
	CLEANUP_FD int from = conversation_open(source, conversation, error);
	CLEANUP_FD int to = -1;

	if (from < 0)
		return false;
	unlinkat(target, temporary, 0);
	to = openat(target, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0)
		return write_fail(error, "write conversation", conversation->name);
	flock(to, LOCK_EX | LOCK_NB); // shows remove_temporaries() that the file is in use
	if (fchmod(to, 0600) < 0 || !copy_bytes(from, to, conversation->size, chunk) ||
	    futimens(to, times) < 0 || fsync(to) < 0)
		return write_fail(error, "write conversation", conversation->name);
	return true;
}

static bool copy_all(const struct plan_import *import, int source, int target, struct error *error)
{
	char *chunk = arena_alloc(error->arena, CHUNK);
	bool ok = true;

	vec_each(conversation, &import->list)
		ok = ok && write_copy(source, target, conversation,
				      write_temporary_name(error->arena, conversation->name), chunk,
				      error);
	vec_each(conversation, &import->list) {
		const char *temporary = write_temporary_name(error->arena, conversation->name);

		// EEXIST: another start has just copied it, or the box has a file of this name.
		if (ok &&
		    renameat2(target, temporary, target, conversation->name, RENAME_NOREPLACE) <
			    0 &&
		    errno != EEXIST)
			ok = write_fail(error, "write conversation", conversation->name);
		unlinkat(target, temporary, 0);
	}
	return ok;
}

static bool record_answer(const struct plan_state *state, struct error *error)
{
	CLEANUP_FD int instance = file_open(AT_FDCWD, state->instance, O_RDONLY | O_DIRECTORY);

	if (instance < 0)
		return write_fail(error, "open directory", state->instance);
	return replace_file(instance, state->conversations_name, state->import.answer, error);
}

bool conversations_copy(const struct plan *plan, struct error *error)
{
	const struct plan_import *import = &plan->state.import;
	CLEANUP_FD int source = -1;
	CLEANUP_FD int target = -1;

	if (import->list.count) {
		source = file_open(AT_FDCWD, import->source, O_RDONLY | O_DIRECTORY);
		if (source < 0)
			return write_fail(error, "open directory", import->source);
		target = open_target(&plan->state, error);
		if (target < 0)
			return false;
		remove_temporaries(target);
		if (!copy_all(import, source, target, error))
			return false;
	}
	return !import->answer || record_answer(&plan->state, error);
}
