// SPDX-License-Identifier: MIT
// Plants canaries on the host, looks at them afterwards, and takes them away.
#include "prove/plant.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "plan/plan.h"
#include "prove/canaries.h"
#include "prove/host_values.h"
#include "prove/listen.h"
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
	KEY_SECONDS = 60, // then they vanish by themselves, if we were killed
	SEMAPHORE_VALUE = 7,
	OBJECT_SIZE = 4096,
	FIRST_DESCRIPTOR = 40,
	MESSAGE_SIZE = 128,
};

struct sysv_message {
	long type;
	char text[MESSAGE_SIZE];
};

static const char *number(const struct prove *prove, long value)
{
	return arena_printf(prove->arena, "%ld", value);
}

// Only a new file in a directory that is there.
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
		// No such directory, or a file, or not ours: then there is nothing that may be opened.
		name = strrchr(canary->value, '/');
		canary->kind = canary->secret ? CANARY_ABSENT : CANARY_KIND_COUNT;
		canary->value =
			arena_strndup(prove->arena, canary->value, (size_t)(name - canary->value));
	}
}

// Made where it is ours for certain, so that its time can be limited; then it goes where it shall be.
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
						  .value = number(prove, serial) });
}

static void plant_keys(struct prove *prove)
{
	size_t count = prove->list.count;

	plant_key(prove, "session", KEY_SPEC_SESSION_KEYRING);
	// Somebody else's session, as under su: then one of our own.
	if (prove->list.count == count &&
	    syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0)
		plant_key(prove, "session", KEY_SPEC_SESSION_KEYRING);
	plant_key(prove, "user", KEY_SPEC_USER_KEYRING);
}

static void add_object(struct prove *prove, enum canary_kind kind, int id)
{
	if (id >= 0)
		prove_add(prove, (struct canary){ .kind = kind,
						  .value = number(prove, id),
						  .extra = number(prove, prove->key) });
}

// NULL: it cannot be had.
static char *attach(int id, int flags)
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
	char *bytes = attach(memory, 0);

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

// A shell that waits for its input to end, and that no signal leaves alive. In a group of its own, so that Ctrl+C means only the box.
static void plant_process(struct prove *prove)
{
	const char *variable = arena_printf(prove->arena, "CLAUDEBOX_CANARY=%s", prove->token);
	const char *const arguments[] = { "sh", "-c", "trap exit URG CONT; read canary",
					  prove->token, NULL };
	const char *const environment[] = { variable, NULL };
	pid_t parent = getpid();
	sigset_t none;
	int life[2];

	if (pipe2(life, O_CLOEXEC) < 0)
		return;
	prove->process = fork();
	if (prove->process == 0) {
		sigemptyset(&none);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpgid(0, 0);
		dup2(life[0], STDIN_FILENO);
		sigprocmask(SIG_SETMASK, &none, NULL);
		if (getppid() == parent)
			execve("/bin/sh", (char *const *)arguments, (char *const *)environment);
		_exit(EXIT_NOT_STARTED);
	}
	close(life[0]);
	prove->process_life = life[1];
	if (prove->process > 0)
		prove_add(prove, (struct canary){ .kind = CANARY_PROCESS,
						  .value = number(prove, prove->process) });
}

// In the order of the descriptors' numbers, from the first free one on.
static void leave_open(struct prove *prove, int fd)
{
	int kept = fd < 0 ? -1 : fcntl(fd, F_DUPFD, FIRST_DESCRIPTOR);

	cleanup_close(&fd);
	if (kept >= 0)
		prove_add(prove, (struct canary){ .kind = CANARY_DESCRIPTOR,
						  .value = number(prove, kept) });
}

static bool random_text(struct prove *prove, struct error *error)
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
	// Recognisable in ipcs, and never IPC_PRIVATE.
	prove->key =
		(int)(0x0cb00000 |
		      strtol(arena_strndup(prove->arena, hex.data + TOKEN_DIGITS + MARK_DIGITS, 5),
			     NULL, 16));
	return true;
}

bool prove_begin(struct prove *prove, struct arena *arena, struct error *error)
{
	// What passes by name in many a profile, if it is free; and one that nobody else has.
	static const char *const names[] = { "CLAUDEBOX_CANARY", "AWS_SECRET_ACCESS_KEY",
					     "GITHUB_TOKEN", "NPM_TOKEN" };
	int ends[2];

	prove->arena = arena;
	if (!random_text(prove, error))
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
	prove_add_facts(prove, plan);
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
		return "it is gone";
	if (read(fd, text, sizeof(text) - 1) < 0 || !str_equal(text, prove->token))
		return "it was changed";
	return NULL;
}

static const char *harm_to_process(const struct prove *prove)
{
	siginfo_t info = { 0 };

	// It stays to be waited for.
	waitid(P_PID, (id_t)prove->process, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT);
	return info.si_pid ? "it was signalled" : NULL;
}

static const char *harm_to_memory(const struct prove *prove, int id)
{
	char *bytes = attach(id, SHM_RDONLY);
	bool same = bytes && strncmp(bytes, prove->token, OBJECT_SIZE) == 0;

	if (bytes)
		shmdt(bytes);
	return same ? NULL : "it was changed";
}

static const char *harm_to_messages(int id)
{
	struct msqid_ds state;

	return msgctl(id, IPC_STAT, &state) == 0 && state.msg_qnum == 1 ? NULL : "it was changed";
}

static const char *harm_to_queue(const struct prove *prove)
{
	CLEANUP_FD int queue = open_queue(prove, O_RDONLY);
	struct mq_attr state = { 0 };

	return queue >= 0 && syscall(SYS_mq_getsetattr, queue, NULL, &state) == 0 &&
			       state.mq_curmsgs == 1
		       ? NULL
		       : "it was changed";
}

static const char *harm_to(const struct prove *prove, const struct canary *canary)
{
	const int id = (int)strtol(canary->value, NULL, 10);
	struct stat status;

	switch (canary->kind) {
	case CANARY_FILE:
		return harm_to_file(prove, canary->value);
	case CANARY_WRITE:
	case CANARY_MADE:
		return lstat(canary->value, &status) == 0 ? "it came into being" : NULL;
	case CANARY_PROCESS:
		return harm_to_process(prove);
	case CANARY_SHARED_MEMORY:
		return harm_to_memory(prove, id);
	case CANARY_SEMAPHORE:
		return semctl(id, 0, GETVAL) == SEMAPHORE_VALUE ? NULL : "it was changed";
	case CANARY_MESSAGES:
		return harm_to_messages(id);
	case CANARY_QUEUE:
		return harm_to_queue(prove);
	case CANARY_ABSTRACT:
	case CANARY_ABSTRACT_DATAGRAM:
	case CANARY_UNIX:
	case CANARY_TCP:
	case CANARY_UDP:
		return prove->arrivals && prove->arrivals[canary - prove->list.items]
			       ? "the host was reached"
			       : NULL;
	default:
		return NULL;
	}
}

void prove_look_after(struct prove *prove)
{
	vec_each(canary, &prove->list) {
		if (!canary->granted)
			canary->harm = harm_to(prove, canary);
	}
}

void prove_uproot(struct prove *prove)
{
	vec_each(canary, &prove->list) {
		bool session = str_equal(canary->group, "session");

		if (canary->kind == CANARY_KEY)
			syscall(SYS_keyctl, KEYCTL_UNLINK, strtol(canary->value, NULL, 10),
				session ? KEY_SPEC_SESSION_KEYRING : KEY_SPEC_USER_KEYRING);
	}
	if (prove->process > 0) {
		process_kill(prove->process);
		close(prove->process_life);
	}
	prove_stop_listening(prove);
}
