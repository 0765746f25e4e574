// SPDX-License-Identifier: MIT
// Opens and creates the snapshots of a project.
//
// Theory of operation: files are saved as they are, byte for byte. So each attribute that converts
// content is switched off in info/attributes, which beats the files of the project. Names that git
// refuses for the sake of other systems are accepted. core.bigFileThreshold makes git write all new
// contents of a run to one pack instead of a file each.
#include "snapshot/store.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/list.h"
#include "sys/lock.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXCLUDE_LIMIT = 1024 * 1024, LOCK_MS = 30000, LOCK_STEP_MS = 2 };

#define LOCK_NAME "claudebox.lock"

static const char configuration[] = "[core]\n"
				    "\trepositoryFormatVersion = 0\n"
				    "\tbare = false\n"
				    "\tsharedRepository = 0600\n"
				    "\tfileMode = true\n"
				    "\tsymlinks = true\n"
				    "\tignoreCase = false\n"
				    "\tprecomposeUnicode = false\n"
				    "\tprotectNTFS = false\n"
				    "\tprotectHFS = false\n"
				    "\tautocrlf = false\n"
				    "\tfsmonitor = false\n"
				    "\tuntrackedCache = false\n"
				    "\thooksPath = /dev/null\n"
				    "\tlogAllRefUpdates = false\n"
				    "\tbigFileThreshold = 1\n"
				    "\tcompression = 1\n"
				    "\tfsync = none\n"
				    "[gc]\n"
				    "\tauto = 0\n"
				    "[pack]\n"
				    "\tthreads = 2\n"
				    "\twindow = 0\n"
				    "[diff]\n"
				    "\tignoreSubmodules = all\n";

static const char attributes[] =
	"* -text -filter -ident -working-tree-encoding -eol !diff !merge !whitespace\n";

static bool make_directory(int parent, const char *name, struct error *error)
{
	return mkdirat(parent, name, 0700) == 0 || errno == EEXIST ||
	       write_fail(error, "create", name);
}

// Creates what `git init` would, and no samples.
static bool fill(int directory, struct error *error)
{
	static const char *const names[] = { "info",         "objects", "objects/pack",
					     "objects/info", "refs",    "sessions" };
	CLEANUP_FD int info = -1;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!make_directory(directory, names[i], error))
			return false;
	info = file_open(directory, "info", O_RDONLY | O_DIRECTORY);
	return (info >= 0 || write_fail(error, "open", "info")) &&
	       replace_file(info, "attributes", attributes, error) &&
	       replace_file(directory, "config", configuration, error) &&
	       replace_file(directory, "HEAD", "ref: refs/heads/none\n", error);
}

// Notes which project it is: the name of the directory does not say.
static bool write_project(const struct store *store, struct error *error)
{
	return faccessat(store->directory, STORE_PROJECT, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
	       replace_file(store->directory, STORE_PROJECT, store->project, error);
}

// Removes what a killed git left: its locks, and parts of packs.
static void remove_leftovers(int directory, struct arena *arena)
{
	strings packs = list_directory(arena, directory, "objects/pack");

	unlinkat(directory, "index.lock", 0);
	unlinkat(directory, "packed-refs.lock", 0);
	vec_each(name, &packs) {
		if (str_starts(*name, "tmp_") || str_starts(*name, ".tmp-"))
			unlinkat(directory, path_join(arena, "objects/pack", *name), 0);
	}
}

// Takes the lock. Another box or command holds it for seconds at most; a git that was left by a
// killed claudebox may hang at a FIFO. Returns false with errno.
static bool take_lock(int lock)
{
	int64_t until = clock_monotonic_ms() + LOCK_MS;

	while (flock(lock, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return false;
		if (clock_monotonic_ms() >= until)
			return false;
		poll(NULL, 0, LOCK_STEP_MS);
	}
	return true;
}

bool store_open(struct store *store, const char *git, const char *path, const char *project,
		bool create, struct error *error)
{
	struct arena *arena = error->arena;
	CLEANUP_FD int parent =
		file_open(AT_FDCWD, path_parent(arena, path), O_RDONLY | O_DIRECTORY);

	*store = (struct store){
		.git = git, .path = path, .project = project, .directory = -1, .lock = -1
	};
	if (parent < 0 && !create)
		return errno == ENOENT ? false : write_fail(error, "open", path);
	if (parent < 0)
		return write_fail(error, "open", path_parent(arena, path));
	if (create && !make_directory(parent, path_name(path), error))
		return false;
	store->directory =
		openat(parent, path_name(path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (store->directory < 0)
		return !create && errno == ENOENT ? false : write_fail(error, "open", path);
	store->lock = lock_open(store->directory, LOCK_NAME);
	if (store->lock < 0 || !take_lock(store->lock))
		return write_fail(error, "lock", path);
	remove_leftovers(store->directory, arena);
	if (create && !write_project(store, error))
		return false;
	return faccessat(store->directory, "HEAD", F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
	       fill(store->directory, error);
}

void store_close(struct store *store)
{
	cleanup_close(&store->lock);
	cleanup_close(&store->directory);
	*store = STORE_NONE;
}

bool store_set_exclude(const struct store *store, const char *text, struct error *error)
{
	CLEANUP_FD int info = file_open(store->directory, "info", O_RDONLY | O_DIRECTORY);

	if (info < 0)
		return write_fail(error, "open", "info");
	return str_equal(file_read_at(error->arena, info, "exclude", EXCLUDE_LIMIT), text) ||
	       replace_file(info, "exclude", text, error);
}
