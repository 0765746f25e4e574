// SPDX-License-Identifier: MIT
// Plants canaries on the host, checks them after the attacks, and removes them.
#include "prove/plant.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/plan.h"
#include "plan/state/layout.h"
#include "prove/canaries.h"
#include "prove/host_values.h"
#include "prove/listen.h"
#include "prove/protocol.h"
#include "prove/prove.h"
#include "sys/cleanup.h"
#include "sys/process.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
	KEY_SECONDS = 60, // timeout of the keys, for the case that claudebox is killed
	SEMAPHORE_VALUE = 7,
	OBJECT_SIZE = 4096,
	FIRST_DESCRIPTOR = 40,
	MESSAGE_SIZE = 128,
};

struct sysv_message {
	long type;
	char text[MESSAGE_SIZE];
};

static const char *format_number(const struct prove *prove, long value)
{
	return arena_printf(prove->arena, "%ld", value);
}

// Creates a file in a directory that exists. Returns false if the file exists or the directory does
// not.
static bool plant_file(const struct prove *prove, const char *path)
{
	CLEANUP_FD int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd >= 0 && write_all(fd, prove->token, strlen(prove->token));
}

static void plant_files(struct prove *prove)
{
	vec_each(canary, &prove->list) {
		char *name;

		if (canary->kind != CANARY_FILE || canary->granted ||
		    plant_file(prove, canary->value))
			continue;
		// The place does not exist, is a file or belongs to another user. Then the attack
		// program must not be able to open it at all.
		name = strrchr(canary->value, '/');
		canary->kind = canary->secret ? CANARY_ABSENT : CANARY_NOT_PLANTED;
		canary->value =
			arena_strndup(prove->arena, canary->value, (size_t)(name - canary->value));
	}
}

// Creates a key in the process keyring, where its timeout can be set in any case, and moves it to
// the given keyring.
static void plant_key(struct prove *prove, const char *group, int keyring)
{
	long serial = syscall(SYS_add_key, "user", prove->token, prove->token, strlen(prove->token),
			      KEY_SPEC_PROCESS_KEYRING);
	bool linked;

	if (serial < 0)
		return;
	linked = syscall(SYS_keyctl, KEYCTL_SET_TIMEOUT, serial, KEY_SECONDS) >= 0 &&
		 syscall(SYS_keyctl, KEYCTL_LINK, serial, keyring) >= 0;
	syscall(SYS_keyctl, KEYCTL_UNLINK, serial, KEY_SPEC_PROCESS_KEYRING);
	if (linked)
		prove_add(prove, (struct canary){ .kind = CANARY_KEY,
						  .group = group,
						  .value = format_number(prove, serial) });
}

static void plant_keys(struct prove *prove)
{
	size_t count = prove->list.count;

	plant_key(prove, "session", KEY_SPEC_SESSION_KEYRING);
	// The session keyring may belong to another user, as under su: join a new one.
	if (prove->list.count == count &&
	    syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0)
		plant_key(prove, "session", KEY_SPEC_SESSION_KEYRING);
	plant_key(prove, "user", KEY_SPEC_USER_KEYRING);
}

static void add_object(struct prove *prove, enum canary_kind kind, int id)
{
	if (id >= 0)
		prove_add(prove, (struct canary){ .kind = kind,
						  .value = format_number(prove, id),
						  .extra = format_number(prove, prove->key) });
}

// Attaches a shared memory segment. Returns NULL on failure.
static char *attach_memory(int id, int flags)
{
	void *bytes = id < 0 ? NULL : shmat(id, NULL, flags);

	return (intptr_t)bytes == -1 ? NULL : bytes;
}

static void plant_objects(struct prove *prove)
{
	const int flags = IPC_CREAT | IPC_EXCL | 0600;
	int memory = shmget(prove->key, OBJECT_SIZE, flags);
	int semaphore = semget(prove->key, 1, flags);
	int messages = msgget(prove->key, flags);
	struct sysv_message message = { .type = 1 };
	char *bytes = attach_memory(memory, 0);

	if (bytes) {
		memcpy(bytes, prove->token, strlen(prove->token) + 1);
		shmdt(bytes);
	}
	if (semaphore >= 0)
		semctl(semaphore, 0, SETVAL, SEMAPHORE_VALUE);
	strncpy(message.text, prove->token, sizeof(message.text) - 1);
	if (messages >= 0)
		msgsnd(messages, &message, sizeof(message.text), IPC_NOWAIT);
	add_object(prove, CANARY_SHARED_MEMORY, memory);
	add_object(prove, CANARY_SEMAPHORE, semaphore);
	add_object(prove, CANARY_MESSAGES, messages);
}

static int open_queue(const struct prove *prove, int flags)
{
	struct mq_attr attributes = { .mq_maxmsg = 1, .mq_msgsize = MESSAGE_SIZE };

	return (int)syscall(SYS_mq_open, prove->mark, flags | O_CLOEXEC | O_NONBLOCK, 0600,
			    &attributes);
}

static void plant_queue(struct prove *prove)
{
	CLEANUP_FD int queue = open_queue(prove, O_RDWR | O_CREAT | O_EXCL);

	if (queue >= 0 &&
	    syscall(SYS_mq_timedsend, queue, prove->token, strlen(prove->token), 0, NULL) == 0)
		prove_add(prove, (struct canary){ .kind = CANARY_QUEUE, .value = prove->mark });
}

// Starts a shell that waits for the end of its input and exits on any signal. Its own process group
// keeps Ctrl+C away from it.
static void plant_process(struct prove *prove)
{
	const char *variable = arena_printf(prove->arena, "CLAUDEBOX_CANARY=%s", prove->token);
	const char *const arguments[] = { "sh", "-c", "trap exit URG CONT; read canary",
					  prove->token, NULL };
	const char *const environment[] = { variable, NULL };
	pid_t parent = getpid();
	sigset_t none;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	prove->process = fork();
	if (prove->process == 0) {
		sigemptyset(&none);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpgid(0, 0);
		dup2(ends[0], STDIN_FILENO);
		sigprocmask(SIG_SETMASK, &none, NULL);
		if (getppid() == parent)
			execve("/bin/sh", (char *const *)arguments, (char *const *)environment);
		_exit(EXIT_NOT_STARTED);
	}
	close(ends[0]);
	prove->process_pipe = ends[1];
	if (prove->process > 0)
		prove_add(prove, (struct canary){ .kind = CANARY_PROCESS,
						  .value = format_number(prove, prove->process) });
}

// Keeps a copy of fd open without close-on-exec, at the first free number from FIRST_DESCRIPTOR on,
// and closes fd.
static void leave_open(struct prove *prove, int fd)
{
	int kept = fd < 0 ? -1 : fcntl(fd, F_DUPFD, FIRST_DESCRIPTOR);

	cleanup_close(&fd);
	if (kept >= 0)
		prove_add(prove, (struct canary){ .kind = CANARY_DESCRIPTOR,
						  .value = format_number(prove, kept) });
}

// Sets the token, the mark and the key of this run.
static bool generate_names(struct prove *prove, struct error *error)
{
	unsigned char bytes[25];
	struct text hex = { .arena = prove->arena };

	if (getentropy(bytes, sizeof(bytes)) < 0)
		return error_set(error, "cannot get random bytes: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(bytes); i++)
		text_printf(&hex, "%02x", bytes[i]);
	prove->token = arena_printf(prove->arena, CANARY_PREFIX "%.*s", TOKEN_DIGITS, hex.data);
	prove->mark = arena_printf(prove->arena, CANARY_PREFIX "%.*s", MARK_DIGITS,
				   hex.data + TOKEN_DIGITS);
	// The prefix makes the objects recognisable in ipcs, and the key is never IPC_PRIVATE.
	prove->key =
		(int)(0x0cb00000 |
		      strtol(arena_strndup(prove->arena, hex.data + TOKEN_DIGITS + MARK_DIGITS, 5),
			     NULL, 16));
	return true;
}

bool prove_begin(struct prove *prove, struct arena *arena, struct error *error)
{
	// Names that profiles often pass, unless the user has set them, and one of claudebox.
	static const char *const names[] = { "CLAUDEBOX_CANARY", "AWS_SECRET_ACCESS_KEY",
					     "GITHUB_TOKEN", "NPM_TOKEN" };
	int ends[2];

	prove->arena = arena;
	if (!generate_names(prove, error))
		return false;
	prove_add(prove, (struct canary){ .kind = CANARY_TOKEN, .value = prove->token });
	prove_add(prove, (struct canary){ .kind = CANARY_MARK, .value = prove->mark });
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (getenv(names[i]) || setenv(names[i], prove->token, 1) < 0)
			continue;
		prove_add(prove, (struct canary){ .kind = CANARY_VARIABLE, .value = names[i] });
	}
	leave_open(prove, open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (pipe2(ends, O_CLOEXEC) == 0) {
		write_all(ends[1], prove->token, strlen(prove->token));
		leave_open(prove, ends[0]);
		leave_open(prove, ends[1]);
	}
	return true;
}

void prove_plant(struct prove *prove, const struct plan *plan)
{
	const char *instance = prove_other_instance(prove->arena, plan, prove->mark);

	prove_add_host_values(prove, plan);
	mkdir(instance, 0700);
	mkdir(path_join(prove->arena, instance, STATE_HOME), 0700);
	plant_files(prove);
	plant_keys(prove);
	plant_objects(prove);
	plant_queue(prove);
	plant_process(prove);
	prove_listen(prove, plan);
}

static const char *harm_to_file(const struct prove *prove, const char *path)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[128] = "";

	if (fd < 0)
		return "was removed";
	if (read(fd, text, sizeof(text) - 1) < 0 || !str_equal(text, prove->token))
		return "was changed";
	return NULL;
}

static const char *harm_to_process(const struct prove *prove)
{
	siginfo_t info = { 0 };

	// WNOWAIT leaves the process for prove_remove_canaries to reap.
	waitid(P_PID, (id_t)prove->process, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT);
	return info.si_pid ? "was signalled" : NULL;
}

static const char *harm_to_memory(const struct prove *prove, int id)
{
	char *bytes = attach_memory(id, SHM_RDONLY);
	bool same = bytes && strncmp(bytes, prove->token, OBJECT_SIZE) == 0;

	if (bytes)
		shmdt(bytes);
	return same ? NULL : "was changed";
}

static const char *harm_to_messages(int id)
{
	struct msqid_ds state;

	return msgctl(id, IPC_STAT, &state) == 0 && state.msg_qnum == 1 ? NULL : "was changed";
}

static const char *harm_to_queue(const struct prove *prove)
{
	CLEANUP_FD int queue = open_queue(prove, O_RDONLY);
	struct mq_attr state = { 0 };

	return queue >= 0 && syscall(SYS_mq_getsetattr, queue, NULL, &state) == 0 &&
			       state.mq_curmsgs == 1
		       ? NULL
		       : "was changed";
}

// Returns the change to a canary that the host observes, or NULL.
static const char *find_harm(const struct prove *prove, const struct canary *canary)
{
	const int id = (int)strtol(canary->value, NULL, 10);
	struct stat status;

	switch (canary->kind) {
	case CANARY_FILE:
		return harm_to_file(prove, canary->value);
	case CANARY_WRITE:
	case CANARY_WRITE_BY_ATTACK:
		return lstat(canary->value, &status) == 0 ? "was created" : NULL;
	case CANARY_PROCESS:
		return harm_to_process(prove);
	case CANARY_SHARED_MEMORY:
		return harm_to_memory(prove, id);
	case CANARY_SEMAPHORE:
		return semctl(id, 0, GETVAL) == SEMAPHORE_VALUE ? NULL : "was changed";
	case CANARY_MESSAGES:
		return harm_to_messages(id);
	case CANARY_QUEUE:
		return harm_to_queue(prove);
	case CANARY_ABSTRACT:
	case CANARY_ABSTRACT_DATAGRAM:
	case CANARY_UNIX:
	case CANARY_MOUNTED_SOCKET:
	case CANARY_TCP:
	case CANARY_UDP:
		return prove->connections && prove->connections[canary - prove->list.items]
			       ? "was reached"
			       : NULL;
	default:
		return NULL;
	}
}

void prove_check_canaries(struct prove *prove)
{
	vec_each(canary, &prove->list) {
		if (!canary->granted)
			canary->harm = find_harm(prove, canary);
	}
}

void prove_remove_canaries(struct prove *prove)
{
	vec_each(canary, &prove->list) {
		bool session = str_equal(canary->group, "session");

		if (canary->kind == CANARY_KEY)
			syscall(SYS_keyctl, KEYCTL_UNLINK, strtol(canary->value, NULL, 10),
				session ? KEY_SPEC_SESSION_KEYRING : KEY_SPEC_USER_KEYRING);
	}
	if (prove->process > 0) {
		process_kill(prove->process);
		close(prove->process_pipe);
	}
	prove_stop_listening(prove);
}
