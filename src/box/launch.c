// SPDX-License-Identifier: MIT
// Starts bwrap from the plan.
//
// Theory of operation: bwrap gets its options by descriptor and an empty environment, so neither `ps` nor
// /proc/1/environ shows anything. Made files are memfds and never touch the disk. Host paths are opened here, compared
// with what the audit showed, and handed over as descriptors: a path swapped in between cannot slip in. What is staged
// goes to its place when bwrap is done (mount_namespace.c). The command is our init, also a memfd; it gets the agent's
// environment by another one.
#include "box/launch.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/quote.h"
#include "base/text.h"
#include "box/box.h"
#include "box/cgroup.h"
#include "box/spawn.h"
#include "init/protocol.h"
#include "plan/limits.h"
#include "plan/plan.h"
#include "plan/tables.h"
#include "render/bwrap.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/memfd.h"
#include "terminal/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

extern const unsigned char init_program[];
extern const size_t init_program_size;

// bwrap's own descriptors stay clear of those that init expects.
enum { INIT_PROGRAM_FD = 5, ARGUMENTS_FD = 6, FIRST_FREE_FD = 10 };

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

bool close_inherited_on_exec(struct error *error)
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

static int make_memfd(const char *name, const void *content, size_t size, bool executable)
{
	return move_up(memfd_with(name, content, size, executable));
}

int init_memfd(void)
{
	return make_memfd("claudebox-init", init_program, init_program_size, true);
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

bool file_is_same(int fd, const struct file_id *id)
{
	struct stat status;

	return fstat(fd, &status) == 0 && !S_ISLNK(status.st_mode) &&
	       (!id->inode || (status.st_dev == id->device && status.st_ino == id->inode));
}

bool file_changed_error(const char *path, struct error *error)
{
	error_hint(error, "start again; if it happens again, something is changing that path");
	return error_set(error, "'%s' changed between the audit and the start",
			 quote_display(error->arena, path, 0));
}

// Opens what will be mounted and makes sure that it is what the audit showed.
static int open_source(const struct plan_mount *mount, struct error *error)
{
	int fd = move_up(file_open(AT_FDCWD, mount->source, O_PATH));

	if (fd < 0) {
		error_set(error, "cannot open '%s': %s",
			  quote_display(error->arena, mount->source, 0), strerror(errno));
		return -1;
	}
	if (file_is_same(fd, &mount->id))
		return fd;
	close(fd);
	file_changed_error(mount->source, error);
	return -1;
}

static const char *argument(const struct bwrap_option *option, size_t i)
{
	bool last = i + 1 == ARRAY_SIZE(option->arguments) || !option->arguments[i + 1];

	return last && option->staged ? option->staged : option->arguments[i];
}

static bool add_host_path(struct launch *launch, const struct plan *plan,
			  const struct bwrap_option *option, struct error *error)
{
	int fd = open_source(option->mount, error);

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
	add_argument(launch, argument(option, 1));
	return true;
}

static bool add_filter(struct launch *launch, const struct bwrap_option *option,
		       struct error *error)
{
	int fd = make_memfd("filter", option->filter->bytes, option->filter->size, false);

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
				false);
		if (fd < 0)
			return fail(error, "make a file in memory");
		add_argument(launch, option->flag);
		add_descriptor(launch, fd);
		add_argument(launch, option->arguments[1]);
		return true;
	case OPERAND_SECCOMP:
		return add_filter(launch, option, error);
	case OPERAND_TEXT:
		break;
	}
	add_argument(launch, option->flag);
	for (size_t i = 0; i < ARRAY_SIZE(option->arguments) && option->arguments[i]; i++)
		add_argument(launch, argument(option, i));
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
		make_memfd("options", launch->arguments.data, launch->arguments.length, false);
	launch->environment = make_memfd("environment", variables.data, variables.length, false);
	launch->init = init_memfd();
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

// None for bwrap; systemd-run must find its systemd, and the shell behind it a command.
static const char **make_environment(struct launch *launch, const struct plan *plan)
{
	strings variables = { 0 };

	if (plan->limits.way == LIMITS_SYSTEMD)
		vec_push(launch->arena, &variables,
			 "PATH=/usr/bin:/bin:/run/current-system/sw/bin");
	if (plan->limits.runtime_directory)
		vec_push(launch->arena, &variables,
			 arena_printf(launch->arena, "XDG_RUNTIME_DIR=%s",
				      plan->limits.runtime_directory));
	vec_push(launch->arena, &variables, NULL);
	return variables.items;
}

static struct spawn make_command(struct launch *launch, const struct plan *plan,
				 const struct box *box)
{
	strings words = limits_render_prefix(launch->arena, &plan->limits);
	const char *program = words.count ? words.items[0] : plan->bwrap;
	const struct spawn_move moves[] = { { launch->control, INIT_CONTROL_FD },
					    { launch->environment, INIT_ENVIRONMENT_FD },
					    { launch->init, INIT_PROGRAM_FD },
					    { launch->options, ARGUMENTS_FD } };
	bool own = box->screen.relay != NULL;
	struct spawn spawn;

	vec_push(launch->arena, &words, words.count ? plan->bwrap : "bwrap");
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
	spawn = (struct spawn){ .program = program,
				.arguments = words.items,
				.environment = make_environment(launch, plan) };
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (launch->standard[fd] >= 0)
			vec_push(launch->arena, &spawn.moves,
				 (struct spawn_move){ launch->standard[fd], fd });
	for (size_t i = 0; i < ARRAY_SIZE(moves); i++)
		vec_push(launch->arena, &spawn.moves, moves[i]);
	vec_each(fd, &launch->inherited)
		vec_push(launch->arena, &spawn.moves, (struct spawn_move){ *fd, *fd });
	return spawn;
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

bool box_launch(struct box *box, const struct plan *plan, struct arena *arena, struct error *error)
{
	struct launch launch = { .arena = arena,
				 .arguments = { .arena = arena },
				 .init = -1,
				 .environment = -1,
				 .control = -1,
				 .options = -1 };
	struct spawn spawn;
	int sockets[2];
	int on = 1;
	bool started;

	box->bwrap = box->control = box->info = -1;
	box->cgroup = CGROUP_NOT_MADE;
	box->terminal = move_up(box->terminal);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		launch.standard[fd] = terminal_relay_standard(box, fd);
	if ((tier_table[plan->network].attached && !add_info(&launch, box, error)) ||
	    !gather(&launch, plan, error) || !cgroup_make(&box->cgroup, plan, arena, error)) {
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
	spawn = make_command(&launch, plan, box);
	started = spawn_process(&spawn, &box->cgroup, &box->bwrap) ||
		  (box->bwrap < 0 && cgroup_forgo(&box->cgroup, plan, errno) &&
		   spawn_process(&spawn, &box->cgroup, &box->bwrap));
	if (!started && box->bwrap < 0 && box->cgroup.inner >= 0) {
		error_set(error, "cannot start a process in a cgroup: %s", strerror(errno));
		error_hint(error, "it takes Linux 5.7 and clone3(); claudebox was started in '%s'",
			   quote_display(arena, plan->limits.parent, 0));
	} else if (!started) {
		error_set(error, "cannot execute '%s': %s", quote_display(arena, spawn.program, 0),
			  strerror(errno));
		error_hint(error,
			   plan->limits.way == LIMITS_SYSTEMD
				   ? "without \"limits\" in the profile systemd is not needed"
				   : "is it bubblewrap? claudebox takes the first bwrap on PATH");
	}
	release(&launch);
	return started;
}
