// SPDX-License-Identifier: MIT
// Keeps the sign-in that the boxes share and the host's own .credentials.json alike (AUTH-01…03).
//
// Theory of operation: the boxes share ~/.claudebox/sign-in, so Claude's own locks make several of them refresh
// once. Every supervisor watches that directory and the host's, and copies whichever side moved (plan/claude/credentials.c
// decides). A lock of ours serialises supervisors. The shared directory is written by boxes: nothing in it is
// followed, and files are only ever replaced.
#include "state/credentials.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/claude/credentials.h"
#include "plan/plan.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"
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

#define CREDENTIALS ".credentials.json"
#define BASE_FILE   "sign-in.base"
#define LOCK_FILE   "sign-in.lock"

enum { TEXT_LIMIT = 1024 * 1024, PATIENCE_MS = 500 };

struct sides {
	int root;         // ~/.claudebox
	int store;        // ~/.claudebox/sign-in/store
	const char *host; // the host's file, links followed; NULL: none
};

// A box may have put anything in place of the store; that is moved aside.
static int open_store(const struct plan *plan, struct arena *arena)
{
	CLEANUP_FD int parent =
		open(plan->state.credentials, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct error ignored = { .arena = arena };
	int store;

	if (parent < 0)
		return -1;
	store = open_directory(parent, CREDENTIALS_STORE, CREDENTIALS_STORE, &ignored);
	if (store < 0 && move_aside(parent, CREDENTIALS_STORE, &ignored))
		store = open_directory(parent, CREDENTIALS_STORE, CREDENTIALS_STORE, &ignored);
	return store;
}

static const char *read_base(struct arena *arena, int root)
{
	const char *text = file_read_at(arena, root, BASE_FILE, TEXT_LIMIT);

	return text && *text ? arena_strndup(arena, text, strcspn(text, "\n")) : NULL;
}

static bool carry_out(const struct sides *sides, const struct credentials_step *step,
		      const char *old_base, struct error *error)
{
	if (step->move == CREDENTIALS_TO_BOX &&
	    !replace_file(sides->store, CREDENTIALS, step->content, error))
		return false;
	if (step->move == CREDENTIALS_TO_HOST) {
		const char *directory = path_parent(error->arena, sides->host);
		CLEANUP_FD int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd < 0 || !replace_file(fd, path_name(sides->host), step->content, error))
			return false;
	}
	if (step->move == CREDENTIALS_DROP)
		unlinkat(sides->store, CREDENTIALS, 0);
	if (str_equal(step->base, old_base))
		return true;
	return replace_file(sides->root, BASE_FILE, step->base ? step->base : "", error);
}

static bool synchronise(const struct plan *plan, struct arena *arena, bool starting,
			struct error *error)
{
	CLEANUP_FD int root =
		open(plan->state.root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP_FD int store = open_store(plan, arena);
	CLEANUP_FD int lock =
		root < 0 ? -1
			 : openat(root, LOCK_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct sides sides = { .root = root, .store = store };
	struct followed host = file_follow(arena, plan->state.host_credentials);
	struct credentials_step step;
	const char *base;

	// Whatever the umask takes, the next one must be able to open it.
	if (root < 0 || store < 0 || lock < 0 || fchmod(lock, 0600) < 0 ||
	    flock(lock, LOCK_EX) < 0) {
		error_hint(error, "look at the owner and mode of that directory");
		return error_set(error, "cannot open the sign-in in '%s': %s",
				 quote_display(arena, plan->state.credentials, 0), strerror(errno));
	}
	sides.host = host.kind == FILE_REGULAR ? host.real : NULL;
	base = read_base(arena, root);
	step = credentials_decide(arena,
				  sides.host ? file_read(arena, sides.host, TEXT_LIMIT, 0) : NULL,
				  file_read_at(arena, store, CREDENTIALS, TEXT_LIMIT), base,
				  starting, clock_realtime_ms());
	return carry_out(&sides, &step, base, error);
}

bool credentials_prepare(const struct plan *plan, struct arena *arena, struct error *error)
{
	return synchronise(plan, arena, true, error);
}

static void synchronise_quietly(const struct credentials *credentials)
{
	struct arena arena = { 0 };
	struct error error = { .arena = &arena };

	// The agent has the terminal: a failure here shows at the next start, which does the same again.
	synchronise(credentials->plan, &arena, false, &error);
	arena_free(&arena);
}

// Ending a watch takes the kernel about 10 ms, so a command that is over at once gets none: the sign-in is brought up to
// date at the start, when the watch begins, and at the end.
int credentials_timeout(const struct credentials *credentials)
{
	return credentials->watched ? -1 : PATIENCE_MS;
}

void credentials_watch(struct credentials *credentials)
{
	const uint32_t events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR;
	struct arena arena = { 0 };
	CLEANUP_FD int store = open_store(credentials->plan, &arena);
	const char *host = file_follow(&arena, credentials->plan->state.host_credentials).real;

	credentials->watched = true;
	credentials->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (credentials->watch >= 0) {
		inotify_add_watch(credentials->watch,
				  arena_printf(&arena, "/proc/self/fd/%d/.", store), events);
		inotify_add_watch(credentials->watch, path_parent(&arena, host), events);
	}
	arena_free(&arena);
	synchronise_quietly(credentials);
}

int credentials_descriptor(const struct credentials *credentials)
{
	return credentials->watch;
}

// True when an event is about the credentials; a busy host directory has many others.
static bool drain(int watch)
{
	char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool relevant = false;
	ssize_t got;

	while ((got = read(watch, buffer, sizeof(buffer))) > 0) {
		for (char *at = buffer; at < buffer + got;) {
			const struct inotify_event *event = (const struct inotify_event *)at;

			relevant |= (event->mask & IN_Q_OVERFLOW) ||
				    (event->len && str_equal(event->name, CREDENTIALS));
			at += sizeof(*event) + event->len;
		}
	}
	return relevant;
}

void credentials_changed(struct credentials *credentials)
{
	if (drain(credentials->watch))
		synchronise_quietly(credentials);
}

void credentials_end(struct credentials *credentials)
{
	synchronise_quietly(credentials);
	cleanup_close(&credentials->watch);
}
