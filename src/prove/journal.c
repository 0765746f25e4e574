// SPDX-License-Identifier: MIT
// The journal of --prove: a file in ~/.claudebox that lists every path, System V object and queue
// that it creates on this machine.
//
// Theory of operation: the journal names every path and object before the first is created. Its
// owner holds a lock on it while it runs. The next --prove locks each journal without an owner,
// removes what it lists, and then removes the journal. A path is removed only if its last component
// starts with the random name of the journal; no file of the user has such a name.
#include "prove/journal.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "guard/quarantine/quarantine.h"
#include "plan/plan.h"
#include "plan/state/instances.h"
#include "prove/canaries.h"
#include "prove/protocol.h"
#include "prove/prove.h"
#include "state/prepare.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/output.h"
#include "sys/remove_tree.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define JOURNAL_PREFIX "prove-"

enum { JOURNAL_LIMIT = 1024 * 1024 };

static const char *render_journal(const struct prove *prove, const struct plan *plan)
{
	struct text out = { .arena = prove->arena };

	vec_each(canary, &prove->list) {
		bool is_path = canary->kind == CANARY_FILE || canary->kind == CANARY_UNIX ||
			       canary->kind == CANARY_MOUNTED_SOCKET ||
			       canary->kind == CANARY_WRITE ||
			       canary->kind == CANARY_WRITE_BY_ATTACK;

		if (is_path && !canary->granted)
			text_printf(&out, "path\t%s\n", canary->value);
	}
	if (!strchr(plan->project, '\n'))
		text_printf(&out, "files\t%s\n", plan->project);
	if (plan->guard.active && !strchr(plan->state.instance, '\n'))
		text_printf(&out, "quarantine\t%s\n", plan->state.instance);
	text_printf(&out, "tree\t%s\n", prove_other_instance(prove->arena, plan, prove->mark));
	if (plan->state.home)
		text_printf(&out, "tree\t%s\n", plan->state.home);
	text_printf(&out, "objects\t%d\nqueue\t%s\n", prove->key, prove->mark);
	return text_get(&out);
}

// Removes the System V objects with this key that this user created.
static void remove_objects(int key)
{
	struct shmid_ds memory;
	struct semid_ds semaphore;
	struct msqid_ds messages;
	int id = shmget(key, 0, 0);

	if (id >= 0 && shmctl(id, IPC_STAT, &memory) == 0 && memory.shm_perm.cuid == getuid())
		shmctl(id, IPC_RMID, NULL);
	id = semget(key, 0, 0);
	if (id >= 0 && semctl(id, 0, IPC_STAT, &semaphore) == 0 &&
	    semaphore.sem_perm.cuid == getuid())
		semctl(id, 0, IPC_RMID);
	id = msgget(key, 0);
	if (id >= 0 && msgctl(id, IPC_STAT, &messages) == 0 && messages.msg_perm.cuid == getuid())
		msgctl(id, IPC_RMID, NULL);
}

// Removes files and directories that a killed attack program left in the project.
static void remove_files(struct arena *arena, const char *path, const char *mark)
{
	CLEANUP_DIR DIR *directory = opendir(path);
	struct error error = { .arena = arena };
	struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (str_starts(entry->d_name, mark) &&
		    unlinkat(dirfd(directory), entry->d_name, 0) < 0 && errno == EISDIR)
			remove_tree(dirfd(directory), entry->d_name, &error);
}

// Removes what the guard moved out of a directory of the attack program.
static void remove_quarantined(struct arena *arena, const char *instance, const char *mark)
{
	struct error error = { .arena = arena };
	CLEANUP_FD int directory = file_open(AT_FDCWD, instance, O_PATH | O_DIRECTORY);
	CLEANUP_FD int quarantine =
		directory < 0 ? -1
			      : openat(directory, INSTANCE_QUARANTINE,
				       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const char *wanted = arena_printf(arena, "/%s.", mark);
	quarantine_items items = { 0 };

	if (quarantine >= 0)
		items = quarantine_list(quarantine, arena);
	vec_each(item, &items) {
		if (strstr(item->path, wanted))
			remove_tree(quarantine, item->id, &error);
	}
}

// Removes a home that the attacks wrote.
static void remove_home(struct arena *arena, const char *path)
{
	CLEANUP_FD int parent =
		file_open(AT_FDCWD, path_parent(arena, path), O_RDONLY | O_DIRECTORY);
	struct error error = { .arena = arena };

	if (parent >= 0 && !remove_tree(parent, path_name(path), &error))
		output_error(&error);
}

static void remove_listed(struct arena *arena, const char *text, const char *mark)
{
	const char *line;

	while ((line = str_next_line(arena, &text))) {
		const char *path = str_after(line, "path\t");
		const char *tree = str_after(line, "tree\t");
		const char *files = str_after(line, "files\t");
		const char *quarantine = str_after(line, "quarantine\t");
		const char *key = str_after(line, "objects\t");
		const char *queue = str_after(line, "queue\t");

		if (path && *path == '/' && str_starts(path_name(path), mark) && unlink(path) < 0 &&
		    errno == EISDIR)
			rmdir(path);
		if (tree && *tree == '/' && str_starts(path_name(tree), mark))
			remove_home(arena, tree);
		if (files)
			remove_files(arena, files, mark);
		if (quarantine && *quarantine == '/')
			remove_quarantined(arena, quarantine, mark);
		if (key)
			remove_objects((int)strtol(key, NULL, 10));
		if (queue && str_equal(queue, mark))
			syscall(SYS_mq_unlink, queue);
	}
}

static void remove_leftover(struct arena *arena, int root, const char *name)
{
	CLEANUP_FD int fd = openat(root, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char *text = arena_alloc(arena, JOURNAL_LIMIT + 1);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0) // its owner runs
		return;
	if (read(fd, text, JOURNAL_LIMIT) < 0)
		return;
	remove_listed(arena, text, name + strlen(JOURNAL_PREFIX));
	unlinkat(root, name, 0);
}

static void remove_leftovers(struct arena *arena, int root)
{
	int copy = fcntl(root, F_DUPFD_CLOEXEC, 0);
	CLEANUP_DIR DIR *entries = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	while (entries && (entry = readdir(entries)))
		if (str_starts(entry->d_name, JOURNAL_PREFIX CANARY_PREFIX) &&
		    strlen(entry->d_name) == strlen(JOURNAL_PREFIX CANARY_PREFIX) + MARK_DIGITS)
			remove_leftover(arena, root, entry->d_name);
}

bool prove_open_journal(struct prove *prove, const struct plan *plan, struct error *error)
{
	const char *root = plan->state.root;
	const char *name = arena_printf(prove->arena, JOURNAL_PREFIX "%s", prove->mark);
	CLEANUP_FD int directory = state_open_root(root, error);
	// The box creates this directory anyway, and the attacks search it for other boxes' state.
	CLEANUP_FD int instances =
		directory < 0 ? -1 : open_directory(directory, "instances", root, error);

	if (instances < 0)
		return false;
	remove_leftovers(prove->arena, directory);
	prove->journal_text = render_journal(prove, plan);
	prove->journal = openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (prove->journal >= 0 && strlen(prove->journal_text) <= JOURNAL_LIMIT &&
	    flock(prove->journal, LOCK_EX | LOCK_NB) == 0 &&
	    write_all(prove->journal, prove->journal_text, strlen(prove->journal_text)))
		return true;
	error_set(error, "cannot write '%s/%s': %s", root, name, strerror(errno));
	if (prove->journal >= 0)
		unlinkat(directory, name, 0);
	return false;
}

void prove_close_journal(struct prove *prove, const struct plan *plan)
{
	remove_listed(prove->arena, prove->journal_text, prove->mark);
	unlink(arena_printf(prove->arena, "%s/" JOURNAL_PREFIX "%s", plan->state.root,
			    prove->mark));
	cleanup_close(&prove->journal);
}
