// SPDX-License-Identifier: MIT
// Synchronises the credentials that the boxes share with the host's own .credentials.json.
//
// Theory of operation: all boxes share ~/.claudebox/sign-in, so that Claude's own lock works across
// boxes and an expired token is refreshed once. Every supervisor watches that directory and the
// host's, and copies the side that changed to the other (plan/claude/credentials.c decides). A lock
// serialises the supervisors. Boxes can write to the shared directory: no link in it is followed,
// and files are replaced, never written in place. The host's file can be behind links of the user.
// These are the ones that the probe saw and accepted: if a link changes or appears meanwhile, that
// side is left alone until the next start.
#include "state/credentials.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/claude/credentials.h"
#include "plan/plan.h"
#include "state/credentials_store.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/lock.h"
#include "sys/output.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>

#define BASE_FILE "sign-in.base"
#define LOCK_FILE "sign-in.lock"

enum { TEXT_LIMIT = 1024 * 1024, WATCH_DELAY_MS = 500, ATTEMPTS = 5 };

struct sides {
	int root;         // ~/.claudebox
	int store;        // ~/.claudebox/sign-in/store
	const char *host; // the host's file, with links resolved; NULL: none
};

// Reads the digest that the last synchronisation recorded, or NULL.
static const char *read_base(struct arena *arena, int root)
{
	const char *text = file_read_at(arena, root, BASE_FILE, TEXT_LIMIT);

	return text && *text ? arena_strndup(arena, text, strcspn(text, "\n")) : NULL;
}

static bool apply_step(const struct sides *sides, const struct credentials_step *step,
		       const char *old_base, bool starting, struct error *error)
{
	if (step->move == CREDENTIALS_TO_BOX &&
	    !replace_file(sides->store, CREDENTIALS_FILE, step->content, error))
		return false;
	if (step->move == CREDENTIALS_TO_HOST) {
		const char *directory = path_parent(error->arena, sides->host);
		CLEANUP_FD int fd = file_open(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);

		if (fd < 0)
			return write_fail(error, "open directory", directory);
		if (!replace_file(fd, path_name(sides->host), step->content, error))
			return false;
	}
	if (step->move == CREDENTIALS_DROP && unlinkat(sides->store, CREDENTIALS_FILE, 0) == 0 &&
	    starting)
		output_message("claudebox", "you have logged out of Claude on this machine: your "
					    "boxes are logged out as well");
	if (str_equal(step->base, old_base))
		return true;
	return replace_file(sides->root, BASE_FILE, step->base ? step->base : "", error);
}

// Returns whether the probe has seen all links on the way to the host's file.
static bool links_are_known(const struct plan_state *state, const struct followed *file)
{
	vec_each(hop, &file->hops) {
		bool known = false;

		vec_each(seen, &state->host_links.hops)
			known |= str_equal(hop->link, seen->link) &&
				 str_equal(hop->target, seen->target);
		if (!known)
			return false;
	}
	return true;
}

// Reads the host's file. Stores its path without links, NULL: there is none. Returns false if the
// file is not to be used: its links have changed, or it is not a file that Claude wrote.
static bool read_host(const struct plan_state *state, struct arena *arena, const char **ret_path,
		      const char **ret_text)
{
	struct followed file = file_follow(arena, state->host_credentials);
	CLEANUP_FD int fd = -1;
	struct stat status;

	*ret_path = NULL;
	*ret_text = NULL;
	if (!links_are_known(state, &file))
		return false;
	if (file.kind == FILE_MISSING)
		return true;
	fd = file_open(AT_FDCWD, file.real, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return errno == ENOENT;
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
	    (status.st_uid != geteuid() && status.st_uid != 0) ||
	    (state->host_credentials_of_box && status.st_nlink != 1))
		return false;
	*ret_path = file.real;
	*ret_text = file_read_descriptor(arena, fd, TEXT_LIMIT);
	return *ret_text != NULL;
}

// Opens ~/.claudebox and waits for the lock of all supervisors, which lasts as long as the returned
// descriptor is open. Boxes can write neither. Returns -1 with an error on failure.
static int lock_root(const struct plan *plan, int *ret_root, struct error *error)
{
	CLEANUP_FD int root =
		open(plan->state.root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP_FD int lock = root < 0 ? -1 : lock_open(root, LOCK_FILE);

	if (lock < 0 || flock(lock, LOCK_EX) < 0) {
		error_set(error, "cannot lock the credentials in '%s': %s",
			  quote_display(error->arena, plan->state.root, 0), strerror(errno));
		error_hint(error, "check the owner and the mode of that directory");
		return -1;
	}
	*ret_root = take_fd(&root);
	return take_fd(&lock);
}

// Compares both sides and copies the newer one. Called with the lock of all supervisors.
static bool synchronise(const struct plan *plan, int root, struct arena *arena, bool starting,
			struct error *error)
{
	CLEANUP_FD int store = credentials_open_store(plan, arena);
	struct sides sides = { .root = root, .store = store };
	struct credentials_step step;
	const char *host;
	const char *base;

	if (store < 0) {
		error_set(error, "cannot open the credentials in '%s': %s",
			  quote_display(arena, plan->state.credentials, 0), strerror(errno));
		return error_hint(error, "check the owner and the mode of that directory");
	}
	if (!plan->state.host_credentials || !read_host(&plan->state, arena, &sides.host, &host))
		return true; // the boxes keep what they have
	base = read_base(arena, root);
	step = credentials_decide(arena, host,
				  file_read_single_at(arena, store, CREDENTIALS_FILE, TEXT_LIMIT),
				  base, starting, clock_realtime_ms());
	return apply_step(&sides, &step, base, starting, error);
}

// Opens the directory of the host's credentials. Returns -1 if it is not to be used.
static int open_host_directory(const struct plan_state *state, struct arena *arena)
{
	const char *path = state->host_credentials;
	struct followed file = path ? file_follow(arena, path) : (struct followed){ 0 };

	if (!path || !links_are_known(state, &file))
		return -1;
	return file_open(AT_FDCWD, path_parent(arena, file.real), O_RDONLY | O_DIRECTORY);
}

// Removes the temporary files beside the host's credentials that killed supervisors have left.
static void clean_host_directory(const struct plan *plan, struct arena *arena)
{
	CLEANUP_FD int fd = open_host_directory(&plan->state, arena);

	if (fd >= 0)
		remove_temporaries(fd);
}

bool credentials_prepare(const struct plan *plan, struct arena *arena, struct error *error)
{
	CLEANUP_FD int root = -1;
	CLEANUP_FD int lock = lock_root(plan, &root, error);
	int failure = 0;

	if (lock < 0)
		return false;
	clean_host_directory(plan, arena);
	credentials_clean_store(plan, root, arena);
	for (int i = 0; i < ATTEMPTS; i++) {
		*error = (struct error){ .arena = arena };
		if (synchronise(plan, root, arena, true, error))
			return true;
		failure = errno;
	}
	// A full disk or a limit on file size is reported like any other failed write.
	if (failure == ENOSPC || failure == EDQUOT || failure == EFBIG || failure == EROFS)
		return false;
	// A box that runs can change the directory faster than it is repaired.
	output_message("claudebox",
		       "the Claude credentials in this box may be old: %s; another box may be "
		       "changing that directory",
		       error->message);
	*error = (struct error){ .arena = arena };
	return true;
}

static void synchronise_quietly(const struct credentials *credentials)
{
	struct arena arena = { 0 };
	struct error error = { .arena = &arena };
	CLEANUP_FD int root = -1;
	CLEANUP_FD int lock = -1;

	// The agent uses the terminal, so no error is printed. The next start does the same again
	// and reports it.
	lock = lock_root(credentials->plan, &root, &error);
	if (lock >= 0)
		synchronise(credentials->plan, root, &arena, false, &error);
	arena_free(&arena);
}

// The kernel takes about 10 ms to remove a watch, so a command that ends soon gets none. The
// credentials are synchronised at the start, when the watch begins, and at the end.
int credentials_timeout(const struct credentials *credentials)
{
	return credentials->watched ? -1 : clock_left_ms(credentials->since_ms, WATCH_DELAY_MS);
}

void credentials_watch(struct credentials *credentials)
{
	const uint32_t events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR;
	struct arena arena = { 0 };
	CLEANUP_FD int store = credentials_open_store(credentials->plan, &arena);
	CLEANUP_FD int host = open_host_directory(&credentials->plan->state, &arena);

	credentials->watched = true;
	credentials->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (credentials->watch >= 0) {
		inotify_add_watch(credentials->watch,
				  arena_printf(&arena, "/proc/self/fd/%d/.", store), events);
		inotify_add_watch(credentials->watch,
				  arena_printf(&arena, "/proc/self/fd/%d/.", host), events);
	}
	arena_free(&arena);
	synchronise_quietly(credentials);
}

int credentials_descriptor(const struct credentials *credentials)
{
	return credentials->watch;
}

// Reads all pending events. Returns whether one of them concerns the credentials; a busy directory
// of the host causes many others.
static bool read_events(int watch)
{
	char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool relevant = false;
	ssize_t got;

	while ((got = read(watch, buffer, sizeof(buffer))) > 0) {
		for (char *at = buffer; at < buffer + got;) {
			const struct inotify_event *event = (const struct inotify_event *)at;

			relevant |= (event->mask & IN_Q_OVERFLOW) ||
				    (event->len && str_equal(event->name, CREDENTIALS_FILE));
			at += sizeof(*event) + event->len;
		}
	}
	return relevant;
}

void credentials_changed(struct credentials *credentials)
{
	if (read_events(credentials->watch))
		synchronise_quietly(credentials);
}

void credentials_end(struct credentials *credentials)
{
	synchronise_quietly(credentials);
	cleanup_close(&credentials->watch);
}
