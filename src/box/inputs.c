// SPDX-License-Identifier: MIT
// Creates the descriptors that bwrap and init get: options, mount sources, generated files,
// environment.
#include "box/inputs.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/text.h"
#include "box/mount_namespace.h"
#include "plan/plan.h"
#include "plan/tables.h"
#include "render/bwrap.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/memfd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

extern const unsigned char init_program[];
extern const size_t init_program_size;
extern const unsigned char git_program[];
extern const size_t git_program_size;

enum { FIRST_FREE_FD = 10 }; // above INPUT_* and the descriptors of init (protocol.h)

// Sets the error "cannot OPERATION" from errno.
static bool set_error(struct error *error, const char *operation)
{
	return error_set(error, "cannot %s: %s", operation, strerror(errno));
}

int inputs_move_up(int fd)
{
	int moved;

	if (fd < 0 || fd >= FIRST_FREE_FD)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
	close(fd);
	return moved;
}

// Occupies the numbers below FIRST_FREE_FD, so that each descriptor gets a higher one at once.
static void occupy_low(struct inputs *inputs)
{
	int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);

	for (; fd >= 0 && fd < FIRST_FREE_FD; fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0))
		vec_push(inputs->arena, &inputs->low, fd);
	cleanup_close(&fd);
}

static int create_memfd(const char *name, const void *content, size_t size, bool executable)
{
	return inputs_move_up(memfd_with(name, content, size, executable));
}

int init_memfd(void)
{
	return create_memfd("claudebox-init", init_program, init_program_size, true);
}

static void add_argument(struct inputs *inputs, const char *argument)
{
	text_add_bytes(&inputs->arguments, argument, strlen(argument) + 1);
}

// bwrap inherits the descriptor: nothing else is executed before inputs_close(). posix_spawn(3)
// would need four system calls to pass each of some 40, and two of them before bwrap starts.
static void add_descriptor(struct inputs *inputs, int fd)
{
	fcntl(fd, F_SETFD, 0);
	vec_push(inputs->arena, &inputs->inherited, fd);
	add_argument(inputs, arena_printf(inputs->arena, "%d", fd));
}

bool file_changed_error(const char *path, struct error *error)
{
	error_set(error, "'%s' changed between the audit and the start",
		  quote_display(error->arena, path, 0));
	return error_hint(error,
			  "start again; if this error persists, a process is changing that path");
}

// Opens the source of a mount. Returns -1 with an error if it is not the file that the audit
// showed.
static int open_source(const struct plan_mount *mount, struct error *error)
{
	int fd = inputs_move_up(file_open(AT_FDCWD, mount->source, O_PATH));

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

// Returns an argument of the option; for a staged mount, the last one is the staging place.
static const char *option_argument(const struct bwrap_option *option, size_t i)
{
	bool last = i + 1 == ARRAY_SIZE(option->arguments) || !option->arguments[i + 1];

	return last && option->staged ? option->staged : option->arguments[i];
}

static bool add_host_path(struct inputs *inputs, const struct plan *plan,
			  const struct bwrap_option *option, struct error *error)
{
	int fd = open_source(option->mount, error);

	if (fd < 0)
		return false;
	if (plan->bind_descriptors) {
		add_argument(inputs, option->by_descriptor);
		add_descriptor(inputs, fd);
	} else {
		close(fd);
		add_argument(inputs, option->flag);
		add_argument(inputs, option->arguments[0]);
	}
	add_argument(inputs, option_argument(option, 1));
	return true;
}

// Adds the staged mount of the host's home that box_finish_mounts() binds parts of and removes.
static bool add_carrier(struct inputs *inputs, const struct plan *plan, struct error *error)
{
	struct plan_mount home = { .source = plan->home };
	struct bwrap_option option = { .flag = "--ro-bind",
				       .by_descriptor = "--ro-bind-fd",
				       .arguments = { plan->home,
						      mount_carrier_path(inputs->arena, plan) },
				       .mount = &home };

	vec_each(mount, &plan->mounts) {
		if (mount->bound)
			return add_host_path(inputs, plan, &option, error);
	}
	return true;
}

static bool add_seccomp_filter(struct inputs *inputs, const struct bwrap_option *option,
			       struct error *error)
{
	int fd = create_memfd("seccomp", option->filter->bytes, option->filter->size, false);

	if (fd < 0)
		return set_error(error, "create a memfd");
	add_argument(inputs, option->flag);
	add_descriptor(inputs, fd);
	return true;
}

// Adds a file of the box with the given content.
static bool add_file(struct inputs *inputs, const char *path, const void *content, size_t size,
		     struct error *error)
{
	int fd = create_memfd(path, content, size, false);

	if (fd < 0)
		return set_error(error, "create a memfd");
	add_argument(inputs, "--file");
	add_descriptor(inputs, fd);
	add_argument(inputs, path);
	return true;
}

static bool add_option(struct inputs *inputs, const struct plan *plan,
		       const struct bwrap_option *option, struct error *error)
{
	if (option->mode && option->operand != OPERAND_IN_HOME) {
		add_argument(inputs, "--perms");
		add_argument(inputs, option->mode);
	}
	switch (option->operand) {
	case OPERAND_VARIABLE: // init gets the environment, not bwrap
	case OPERAND_NO_INIT:
	case OPERAND_IN_HOME:
		// --die-with-parent would also kill bwrap during the setup and leave a child that
		// hangs.
		return true;
	case OPERAND_HOST_PATH:
	case OPERAND_HOME:
		return option->mount->bound || add_host_path(inputs, plan, option, error);
	case OPERAND_DATA:
		return add_file(inputs, option->mount->path, option->mount->source,
				option->mount->size ? option->mount->size
						    : strlen(option->mount->source),
				error);
	case OPERAND_PROGRAM:
		add_argument(inputs, "--perms");
		add_argument(inputs, "0555");
		return add_file(inputs, option->mount->path, git_program, git_program_size, error);
	case OPERAND_SECCOMP:
		return add_seccomp_filter(inputs, option, error);
	case OPERAND_TEXT:
		break;
	}
	add_argument(inputs, option->flag);
	for (size_t i = 0; i < ARRAY_SIZE(option->arguments) && option->arguments[i]; i++)
		add_argument(inputs, option_argument(option, i));
	return true;
}

// Adds --info-fd, by which bwrap reports the pid of the box's process 1. The descriptor of bwrap is
// open for reading too, so its write does not fail if claudebox is killed: bwrap would exit and
// leave a child that waits for it forever.
static bool add_info_fd(struct inputs *inputs, int *ret_info_fd, struct error *error)
{
	int info[2];
	int read_write;

	if (pipe2(info, O_CLOEXEC) < 0)
		return set_error(error, "create a pipe");
	read_write =
		open(arena_printf(inputs->arena, "/proc/self/fd/%d", info[1]), O_RDWR | O_CLOEXEC);
	close(info[1]);
	*ret_info_fd = inputs_move_up(info[0]);
	if (read_write < 0)
		return set_error(error, "open a pipe for reading and writing");
	add_argument(inputs, "--info-fd");
	add_descriptor(inputs, inputs_move_up(read_write));
	return true;
}

// Creates the descriptor that bwrap reads its options from. It is a pipe whose write end stays
// open, so that bwrap waits for claudebox (tether.c). If a pipe is too small for the options, or
// systemd starts bwrap, it is a memfd.
static void create_options(struct inputs *inputs, const struct plan *plan)
{
	const struct text *arguments = &inputs->arguments;
	int fds[2];

	if (plan->limits.method != LIMITS_SYSTEMD && pipe2(fds, O_CLOEXEC | O_NONBLOCK) == 0) {
		ssize_t done = write(fds[1], arguments->data, arguments->length);

		fcntl(fds[0], F_SETFL, 0);
		if (done == (ssize_t)arguments->length) {
			inputs->options = inputs_move_up(fds[0]);
			inputs->hold = inputs_move_up(fds[1]);
			return;
		}
		close(fds[0]);
		close(fds[1]);
	}
	inputs->options = create_memfd("options", arguments->data, arguments->length, false);
}

bool inputs_create(struct inputs *inputs, const struct plan *plan, struct arena *arena,
		   int *ret_info_fd, struct error *error)
{
	bwrap_options options = render_bwrap(plan, arena);
	struct text variables = { .arena = arena };

	*inputs = (struct inputs){ .arena = arena,
				   .arguments = { .arena = arena },
				   .init = -1,
				   .environment = -1,
				   .options = -1,
				   .hold = -1 };
	occupy_low(inputs);
	if (tier_table[plan->config->network].attached && !add_info_fd(inputs, ret_info_fd, error))
		return false;
	vec_each(option, &options) {
		if (!add_option(inputs, plan, option, error))
			return false;
	}
	if (!add_carrier(inputs, plan, error))
		return false;
	add_argument(inputs, "--as-pid-1");
	vec_each(variable, &plan->variables) {
		text_printf(&variables, "%s=%s", variable->name, variable->value);
		text_add_bytes(&variables, "", 1);
	}
	create_options(inputs, plan);
	inputs->environment = create_memfd("environment", variables.data, variables.length, false);
	inputs->init = init_memfd();
	if (inputs->options < 0 || inputs->environment < 0)
		return set_error(error, "create a memfd");
	if (inputs->init < 0) {
		bool limited = errno == EFBIG;

		set_error(error, "create an executable memfd");
		return error_hint(error, limited ? "the limit of the size of files (ulimit -f) is "
						   "too low"
						 : "sysctl vm.memfd_noexec must be 0 or 1");
	}
	return true;
}

void inputs_close(struct inputs *inputs)
{
	vec_each(fd, &inputs->inherited)
		close(*fd);
	vec_each(fd, &inputs->low)
		close(*fd);
	cleanup_close(&inputs->init);
	cleanup_close(&inputs->environment);
	cleanup_close(&inputs->options);
	cleanup_close(&inputs->hold);
}
