// SPDX-License-Identifier: MIT
// Starts bwrap from the plan.
//
// Theory of operation: bwrap gets its options by descriptor and an empty environment, so neither `ps` nor
// /proc/1/environ shows anything. Made files are memfds and never touch the disk. Host paths are opened here, compared
// with what the audit showed, and handed over as descriptors: a path swapped in between cannot slip in. The command is
// our init, also a memfd; it gets the agent's environment by another one.
#include "run/run.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "host/probe.h"
#include "init/protocol.h"
#include "plan/render.h"
#include "plan/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

extern const unsigned char init_program[];
extern const size_t init_program_size;

// bwrap's own descriptors stay clear of those that init expects.
enum { INIT_PROGRAM_FD = 5, ARGUMENTS_FD = 6, FIRST_FREE_FD = 10, INFO_MS = 20000 };

struct launch {
	struct arena *arena;
	struct text arguments; // NUL-separated
	VEC(int) inherited;
	int init;
	int environment;
	int control;
	int options;
	int standard[STDERR_FILENO + 1]; // -1: ours
};

static bool fail(struct error *error, const char *what)
{
	return error_set(error, "cannot %s: %s", what, strerror(errno));
}

bool run_close_on_execution(struct error *error)
{
	CLEANUP_DIR DIR *directory = NULL;
	struct dirent *entry;

	if (close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
		return true;
	// Linux before 5.11
	directory = opendir("/proc/self/fd");
	if (!directory)
		return fail(error, "look at the open descriptors");
	while ((entry = readdir(directory))) {
		int fd = (int)strtol(entry->d_name, NULL, 10);

		if (fd > STDERR_FILENO && fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
			return fail(error, "keep a descriptor out of the box");
	}
	return true;
}

// A descriptor number that nothing fixed will overwrite.
static int move_up(int fd)
{
	int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);

	if (fd >= 0)
		close(fd);
	return moved;
}

static int make_memfd(const char *name, const void *content, size_t size, unsigned int flags)
{
	int fd = memfd_create(name, MFD_CLOEXEC | flags);

	if (fd < 0 && errno == EINVAL) // before Linux 6.3 every memfd may be executed
		fd = memfd_create(name, MFD_CLOEXEC);
	fd = move_up(fd);
	if (fd >= 0 && (!run_write(fd, content, size) || lseek(fd, 0, SEEK_SET) < 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

static void add_argument(struct launch *launch, const char *argument)
{
	text_add_bytes(&launch->arguments, argument, strlen(argument) + 1);
}

static void add_descriptor(struct launch *launch, int fd)
{
	vec_push(launch->arena, &launch->inherited, fd);
	add_argument(launch, arena_printf(launch->arena, "%d", fd));
}

// Whether this is what the audit showed. Numbers are used again: a link may have that of the file that it replaced.
static bool is_same(int fd, const struct file_id *id)
{
	struct stat status;

	return fstat(fd, &status) == 0 && !S_ISLNK(status.st_mode) &&
	       (!id->inode || (status.st_dev == id->device && status.st_ino == id->inode));
}

static bool changed(const char *path, struct error *error)
{
	error_hint(error, "start again; if it happens again, something is changing that path");
	return error_set(error, "'%s' changed between the audit and the start",
			 quote_display(error->arena, path, 0));
}

// Opens what will be mounted and makes sure that it is what the audit showed.
static int open_source(const struct plan_mount *mount, struct error *error)
{
	int fd = move_up(probe_open(AT_FDCWD, mount->source, O_PATH));

	if (fd < 0) {
		error_set(error, "cannot open '%s': %s",
			  quote_display(error->arena, mount->source, 0), strerror(errno));
		return -1;
	}
	if (is_same(fd, &mount->id))
		return fd;
	close(fd);
	changed(mount->source, error);
	return -1;
}

// bwrap follows links on the way to where it mounts.
static bool check_place(const struct plan_mount *mount, struct error *error)
{
	CLEANUP_FD int fd = mount->place.inode ? probe_open(AT_FDCWD, mount->path, O_PATH) : -1;

	return !mount->place.inode || (fd >= 0 && is_same(fd, &mount->place)) ||
	       changed(mount->path, error);
}

static bool add_host_path(struct launch *launch, const struct plan *plan,
			  const struct bwrap_option *option, struct error *error)
{
	int fd = check_place(option->mount, error) ? open_source(option->mount, error) : -1;

	if (fd < 0)
		return false;
	if (plan->bind_descriptors) {
		add_argument(launch, option->by_descriptor);
		add_descriptor(launch, fd);
	} else {
		close(fd);
		add_argument(launch, option->flag);
		add_argument(launch, option->arguments[0]);
	}
	add_argument(launch, option->arguments[1]);
	return true;
}

static bool add_filter(struct launch *launch, const struct bwrap_option *option,
		       struct error *error)
{
	int fd = make_memfd("filter", option->filter->bytes, option->filter->size, 0);

	if (fd < 0)
		return fail(error, "make a file in memory");
	add_argument(launch, option->flag);
	add_descriptor(launch, fd);
	return true;
}

static bool add_option(struct launch *launch, const struct plan *plan,
		       const struct bwrap_option *option, struct error *error)
{
	int fd;

	if (option->mode) {
		add_argument(launch, "--perms");
		add_argument(launch, option->mode);
	}
	switch (option->operand) {
	case OPERAND_VARIABLE: // goes to init, not to bwrap
	case OPERAND_NO_INIT: // bwrap, killed between two of its steps, would leave a child that waits for it for ever
		return true;
	case OPERAND_HOST_PATH:
		return add_host_path(launch, plan, option, error);
	case OPERAND_DATA:
		fd = make_memfd(option->mount->path, option->mount->source,
				option->mount->size ? option->mount->size
						    : strlen(option->mount->source),
				0);
		if (fd < 0)
			return fail(error, "make a file in memory");
		add_argument(launch, option->flag);
		add_descriptor(launch, fd);
		add_argument(launch, option->arguments[1]);
		return true;
	case OPERAND_FILTER:
		return add_filter(launch, option, error);
	case OPERAND_TEXT:
		break;
	}
	add_argument(launch, option->flag);
	for (size_t i = 0; i < ARRAY_SIZE(option->arguments) && option->arguments[i]; i++)
		add_argument(launch, option->arguments[i]);
	return true;
}

// bwrap says which process is the box's first; init waits there for our word. bwrap's end is open both ways: if we
// vanish meanwhile its write must not fail, or it would end and leave a child that waits for it for ever.
static bool add_info(struct launch *launch, struct box *box, struct error *error)
{
	int info[2];
	int both;

	if (pipe2(info, O_CLOEXEC) < 0)
		return fail(error, "make a pipe");
	both = open(arena_printf(launch->arena, "/proc/self/fd/%d", info[1]), O_RDWR | O_CLOEXEC);
	close(info[1]);
	box->info = move_up(info[0]);
	if (both < 0)
		return fail(error, "open a pipe both ways");
	add_argument(launch, "--info-fd");
	add_descriptor(launch, move_up(both));
	return true;
}

static bool gather(struct launch *launch, const struct plan *plan, struct error *error)
{
	bwrap_options options = render_bwrap(plan, launch->arena);
	struct text variables = { .arena = launch->arena };

	vec_each(option, &options) {
		if (!add_option(launch, plan, option, error))
			return false;
	}
	add_argument(launch, "--as-pid-1");
	vec_each(variable, &plan->variables) {
		text_printf(&variables, "%s=%s", variable->name, variable->value);
		text_add_bytes(&variables, "", 1);
	}
	launch->options =
		make_memfd("options", launch->arguments.data, launch->arguments.length, 0);
	launch->environment = make_memfd("environment", variables.data, variables.length, 0);
	launch->init = make_memfd("claudebox-init", init_program, init_program_size, MFD_EXEC);
	if (launch->options < 0 || launch->environment < 0)
		return fail(error, "make a file in memory");
	if (launch->init < 0) {
		error_hint(error, "allow programs in memory: sysctl vm.memfd_noexec must not be 2");
		return fail(error, "make a program in memory");
	}
	return true;
}

// Signals that were ignored when claudebox started, as under nohup, stay ignored for the agent.
static unsigned long ignored_signals(void)
{
	unsigned long mask = 0;

	for (int number = 1; number < 32; number++) {
		struct sigaction action;

		if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			mask |= 1UL << (number - 1);
	}
	return mask;
}

// bwrap must not die, or stop, by what is meant for the agent. Blocked, not ignored: to ignore a signal throws away one
// that has just arrived, and init starts with a clean mask for the agent anyway.
static void blocked_for_bwrap(sigset_t *set)
{
	static const int numbers[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGTSTP,
				       SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2, SIGALRM };

	sigemptyset(set);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		sigaddset(set, numbers[i]);
}

// Everything is closed on execution but what is named here. Not fork(): copying our page tables takes longer.
static bool spawn(struct launch *launch, const struct plan *plan, const char **arguments,
		  pid_t *ret_pid)
{
	static char *const environment[] = { NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t blocked;

	blocked_for_bwrap(&blocked);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &blocked);
	posix_spawn_file_actions_init(&actions);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (launch->standard[fd] >= 0)
			posix_spawn_file_actions_adddup2(&actions, launch->standard[fd], fd);
	posix_spawn_file_actions_adddup2(&actions, launch->control, INIT_CONTROL_FD);
	posix_spawn_file_actions_adddup2(&actions, launch->environment, INIT_ENVIRONMENT_FD);
	posix_spawn_file_actions_adddup2(&actions, launch->init, INIT_PROGRAM_FD);
	posix_spawn_file_actions_adddup2(&actions, launch->options, ARGUMENTS_FD);
	vec_each(fd, &launch->inherited)
		posix_spawn_file_actions_adddup2(&actions, *fd, *fd);
	errno = posix_spawn(ret_pid, plan->bwrap, &actions, &attributes, (char *const *)arguments,
			    environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return errno == 0;
}

static const char **make_command(struct launch *launch, const struct plan *plan,
				 const struct box *box)
{
	bool own = box->screen.relay != NULL;
	strings words = { 0 };

	vec_push(launch->arena, &words, "bwrap");
	vec_push(launch->arena, &words, "--args");
	vec_push(launch->arena, &words, arena_printf(launch->arena, "%d", ARGUMENTS_FD));
	vec_push(launch->arena, &words, "--");
	vec_push(launch->arena, &words,
		 arena_printf(launch->arena, "/proc/self/fd/%d", INIT_PROGRAM_FD));
	vec_push(launch->arena, &words,
		 arena_printf(launch->arena, "%c%c%c%lu",
			      box->foreground || own ? INIT_FLAG_FOREGROUND : '-',
			      plan->scoped ? INIT_FLAG_SCOPED : '-',
			      own ? INIT_FLAG_OWN_TERMINAL : '-', ignored_signals()));
	vec_each(word, &plan->command)
		vec_push(launch->arena, &words, *word);
	vec_push(launch->arena, &words, NULL);
	return words.items;
}

static void release(struct launch *launch)
{
	vec_each(fd, &launch->inherited)
		close(*fd);
	cleanup_close(&launch->init);
	cleanup_close(&launch->environment);
	cleanup_close(&launch->options);
	cleanup_close(&launch->control);
}

bool run_start_box(struct box *box, const struct plan *plan, struct arena *arena,
		   struct error *error)
{
	struct launch launch = { .arena = arena,
				 .arguments = { .arena = arena },
				 .init = -1,
				 .environment = -1,
				 .control = -1,
				 .options = -1 };
	const char **command;
	int sockets[2];
	int on = 1;
	bool started;

	box->bwrap = box->control = box->info = -1;
	box->terminal = move_up(box->terminal);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		launch.standard[fd] = terminal_relay_standard(box, fd);
	if ((tier_table[plan->network].attached && !add_info(&launch, box, error)) ||
	    !gather(&launch, plan, error)) {
		release(&launch);
		return false;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0) {
		release(&launch);
		return fail(error, "make a socket");
	}
	box->control = move_up(sockets[0]);
	launch.control = move_up(sockets[1]);
	setsockopt(box->control, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	command = make_command(&launch, plan, box);
	started = spawn(&launch, plan, command, &box->bwrap);
	if (!started) {
		error_set(error, "cannot execute '%s': %s", quote_display(arena, plan->bwrap, 0),
			  strerror(errno));
		error_hint(error, "is it bubblewrap? claudebox takes the first bwrap on PATH");
	}
	release(&launch);
	return started;
}

// {"child-pid": 123, …}, in pieces, until bwrap closes it.
pid_t run_box_child(const struct box *box)
{
	char text[4096];
	size_t length = 0;
	const char *number;

	while (length < sizeof(text) - 1) {
		struct pollfd wait = { .fd = box->info, .events = POLLIN };
		ssize_t got;

		if (poll(&wait, 1, INFO_MS) <= 0)
			return -1;
		got = read(box->info, text + length, sizeof(text) - 1 - length);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		length += (size_t)got;
	}
	text[length] = '\0';
	number = strstr(text, "\"child-pid\"");
	number = number ? strchr(number, ':') : NULL;
	return number ? (pid_t)strtol(number + 1, NULL, 10) : -1;
}
