// SPDX-License-Identifier: MIT
// Keeps the sign-in that the boxes share and the host's own .credentials.json alike (AUTH-01…03).
//
// Theory of operation: the boxes share ~/.claudebox/sign-in, so Claude's own locks make several of them refresh
// once. Every supervisor watches that directory and the host's, and copies whichever side moved (plan/credentials.c
// decides). A lock of ours serialises supervisors. The shared directory is written by boxes: nothing in it is
// followed, and files are only ever replaced.
#include "run/sign_in.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "host/probe.h"
#include "plan/credentials.h"
#include "run/run.h"

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

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// A box may have put anything in place of the store; that is moved aside.
static int open_store(const struct plan *plan, struct arena *arena)
{
	CLEANUP_FD int parent =
		open(plan->state.sign_in, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct error ignored = { .arena = arena };
	int store;

	if (parent < 0)
		return -1;
	store = run_open_directory(parent, SIGN_IN_STORE, SIGN_IN_STORE, &ignored);
	if (store < 0 && run_clear_way(parent, SIGN_IN_STORE, &ignored))
		store = run_open_directory(parent, SIGN_IN_STORE, SIGN_IN_STORE, &ignored);
	return store;
}

static const char *read_base(struct arena *arena, int root)
{
	const char *text = probe_read_at(arena, root, BASE_FILE, TEXT_LIMIT);

	return text && *text ? arena_strndup(arena, text, strcspn(text, "\n")) : NULL;
}

static bool carry_out(const struct sides *sides, const struct sign_in_step *step,
		      const char *old_base, struct error *error)
{
	if (step->move == SIGN_IN_TO_BOX &&
	    !run_replace_file(sides->store, CREDENTIALS, step->content, error))
		return false;
	if (step->move == SIGN_IN_TO_HOST) {
		const char *directory = path_parent(error->arena, sides->host);
		CLEANUP_FD int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd < 0 || !run_replace_file(fd, path_name(sides->host), step->content, error))
			return false;
	}
	if (step->move == SIGN_IN_DROP)
		unlinkat(sides->store, CREDENTIALS, 0);
	if (str_equal(step->base, old_base))
		return true;
	return run_replace_file(sides->root, BASE_FILE, step->base ? step->base : "", error);
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
	struct followed host = probe_follow(arena, plan->state.host_sign_in);
	struct sign_in_step step;
	const char *base;

	// Whatever the umask takes, the next one must be able to open it.
	if (root < 0 || store < 0 || lock < 0 || fchmod(lock, 0600) < 0 ||
	    flock(lock, LOCK_EX) < 0) {
		error_hint(error, "look at the owner and mode of that directory");
		return error_set(error, "cannot open the sign-in in '%s': %s",
				 quote_display(arena, plan->state.sign_in, 0), strerror(errno));
	}
	sides.host = host.kind == FILE_REGULAR ? host.real : NULL;
	base = read_base(arena, root);
	step = sign_in_decide(arena,
			      sides.host ? probe_read(arena, sides.host, TEXT_LIMIT, 0) : NULL,
			      probe_read_at(arena, store, CREDENTIALS, TEXT_LIMIT), base, starting,
			      now_ms());
	return carry_out(&sides, &step, base, error);
}

bool sign_in_prepare(const struct plan *plan, struct arena *arena, struct error *error)
{
	return synchronise(plan, arena, true, error);
}

static void synchronise_quietly(const struct sign_in *sign_in)
{
	struct arena arena = { 0 };
	struct error error = { .arena = &arena };

	// The agent has the terminal: a failure here shows at the next start, which does the same again.
	synchronise(sign_in->plan, &arena, false, &error);
	arena_free(&arena);
}

// Ending a watch takes the kernel about 10 ms, so a command that is over at once gets none: the sign-in is brought up to
// date at the start, when the watch begins, and at the end.
int sign_in_patience(const struct sign_in *sign_in)
{
	return sign_in->watched ? -1 : PATIENCE_MS;
}

void sign_in_watch(struct sign_in *sign_in)
{
	const uint32_t events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR;
	struct arena arena = { 0 };
	CLEANUP_FD int store = open_store(sign_in->plan, &arena);
	const char *host = probe_follow(&arena, sign_in->plan->state.host_sign_in).real;

	sign_in->watched = true;
	sign_in->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (sign_in->watch >= 0) {
		inotify_add_watch(sign_in->watch, arena_printf(&arena, "/proc/self/fd/%d/.", store),
				  events);
		inotify_add_watch(sign_in->watch, path_parent(&arena, host), events);
	}
	arena_free(&arena);
	synchronise_quietly(sign_in);
}

int sign_in_descriptor(const struct sign_in *sign_in)
{
	return sign_in->watch;
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

void sign_in_changed(struct sign_in *sign_in)
{
	if (drain(sign_in->watch))
		synchronise_quietly(sign_in);
}

void sign_in_end(struct sign_in *sign_in)
{
	synchronise_quietly(sign_in);
	cleanup_close(&sign_in->watch);
}
