// SPDX-License-Identifier: MIT
// Attacks on inherited descriptors and on kernel keyrings.
#include "freestanding/syscall.h"
#include "freestanding/text.h"
#include "prove/attack/attacks.h"
#include "prove/attack/context.h"
#include "prove/attack/format.h"
#include "prove/attack/io.h"
#include "prove/attack/outcome.h"
#include "prove/protocol.h"

#include <asm/ioctls.h>
#include <linux/fcntl.h>
#include <linux/keyctl.h>
#include <linux/stat.h>

enum { MAX_DESCRIPTORS = 1024, MAX_KEYS = 64, INIT_DESCRIPTORS = 64 };

// Writes the target of a descriptor. Returns buffer.
static const char *read_descriptor(int descriptor, char *buffer, size_t size)
{
	char path[64];
	long length = call(__NR_readlinkat, AT_FDCWD,
			   text_format(path, sizeof(path), "/proc/self/fd/%d", descriptor), buffer,
			   size - 1);

	buffer[length > 0 ? length : 0] = 0;
	return buffer;
}

enum verdict try_DESCRIPTORS_INHERITED(void)
{
	int numbers[MAX_DESCRIPTORS];
	size_t count;
	char name[100];

	for (int number = 3; number < MAX_DESCRIPTORS; number++)
		if (call(__NR_fcntl, number, F_GETFD, 0, 0) >= 0)
			return leaked("descriptor %d is open: %s", number,
				      read_descriptor(number, name, sizeof(name)));
	// The directory itself is read through a descriptor.
	count = list_numbers("/proc/self/fd", numbers, MAX_DESCRIPTORS);
	for (size_t i = 0; i < count; i++)
		if (numbers[i] > 3)
			return leaked("descriptor %d is open", numbers[i]);
	return blocked("no descriptor is open");
}

// A file can be opened again with other rights, and a socket carries descriptors. Only a pipe, a
// terminal and /dev/null give bytes alone.
enum verdict try_DESCRIPTORS_STREAMS(void)
{
	enum { MEMORY_DEVICES = 1, NULL_DEVICE = 3 };
	char name[100];

	for (int number = 0; number < 3; number++) {
		struct statx status = { 0 };
		char settings[128];
		int kind;

		if (call6(__NR_statx, number, (long)"", AT_EMPTY_PATH, STATX_BASIC_STATS,
			  (long)&status, 0) < 0)
			continue;
		kind = status.stx_mode & S_IFMT;
		if (kind == S_IFIFO ||
		    (kind == S_IFCHR && status.stx_rdev_major == MEMORY_DEVICES &&
		     status.stx_rdev_minor == NULL_DEVICE))
			continue;
		if (kind == S_IFCHR && call(__NR_ioctl, number, TCGETS, settings, 0) == 0)
			continue;
		return leaked("descriptor %d is %s", number,
			      read_descriptor(number, name, sizeof(name)));
	}
	return blocked("pipes, terminals and /dev/null");
}

enum verdict try_DESCRIPTORS_DIRECTORY(void)
{
	struct tries tries = { 0 };
	char path[PATH_SIZE];

	for (int number = 0; number < MAX_DESCRIPTORS; number++) {
		if (call(__NR_fcntl, number, F_GETFD, 0, 0) < 0)
			continue;
		for (const struct canary *file = NULL; (file = next_canary(file, CANARY_FILE));) {
			long found =
				read_token(text_format(path, sizeof(path), "/proc/self/fd/%d/%s%s",
						       number, to_root, file->field[1]));

			if (!failed(&tries, found) && found)
				return leaked("%s can be read through descriptor %d",
					      file->field[1], number);
		}
	}
	return all_failed(&tries);
}

enum verdict try_DESCRIPTORS_INIT(void)
{
	struct tries tries = { 0 };
	char path[64];

	for (int number = 0; number < INIT_DESCRIPTORS; number++) {
		long file =
			open_file(text_format(path, sizeof(path), "/proc/1/fd/%d", number), O_PATH);

		if (!failed(&tries, file))
			return leaked("%s can be opened", path);
	}
	return all_failed(&tries);
}

static enum verdict copy_descriptor(int pid)
{
	long process = call(__NR_pidfd_open, pid, 0, 0, 0);
	struct tries tries = { 0 };

	if (failed(&tries, process))
		return all_failed(&tries);
	for (int number = 0; number < INIT_DESCRIPTORS; number++)
		if (!failed(&tries, call(__NR_pidfd_getfd, process, number, 0, 0)))
			return leaked("descriptor %d of process %d was copied", number, pid);
	return all_failed(&tries);
}

enum verdict try_DESCRIPTORS_PIDFD_INIT(void)
{
	return copy_descriptor(1);
}

enum verdict try_DESCRIPTORS_PIDFD_HOST(void)
{
	int pid = host_process();

	return pid ? copy_descriptor(pid) : skipped("no process was planted");
}

static long key_control(int operation, long a, const void *b, long c)
{
	return call6(__NR_keyctl, operation, a, (long)b, c, 0, 0);
}

static long read_key(int serial)
{
	char payload[256];
	long length = key_control(KEYCTL_READ, serial, payload, sizeof(payload));

	return length < 0 ? length : has_token(payload, length < 256 ? length : 256);
}

static enum verdict read_keys(const char *ring)
{
	struct tries tries = { 0 };

	for (const struct canary *key = NULL; (key = next_canary(key, CANARY_KEY));) {
		if (text_equal(key->field[0], ring) &&
		    !failed(&tries, read_key((int)text_number(key->field[1]))))
			return leaked("key %s can be read", key->field[1]);
	}
	return all_failed(&tries);
}

enum verdict try_KEYS_SESSION(void)
{
	return read_keys("session");
}

enum verdict try_KEYS_USER(void)
{
	return read_keys("user");
}

enum verdict try_KEYS_KEYRINGS(void)
{
	static const int rings[] = { KEY_SPEC_SESSION_KEYRING, KEY_SPEC_USER_KEYRING,
				     KEY_SPEC_USER_SESSION_KEYRING };
	struct tries tries = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rings); i++) {
		int serials[MAX_KEYS];
		long size = key_control(KEYCTL_READ, rings[i], serials, sizeof(serials));

		if (!failed(&tries, size) && size > 0)
			return leaked("%d keys are listed", (int)(size / (long)sizeof(int)));
	}
	return all_failed(&tries);
}

enum verdict try_KEYS_LINK(void)
{
	struct tries tries = { 0 };

	for (const struct canary *key = NULL; (key = next_canary(key, CANARY_KEY));) {
		int serial = (int)text_number(key->field[1]);

		// The keyring of this process ends with the process.
		if (!failed(&tries,
			    call(__NR_keyctl, KEYCTL_LINK, serial, KEY_SPEC_PROCESS_KEYRING, 0)))
			return leaked("key %d was linked", serial);
	}
	return all_failed(&tries);
}

enum verdict try_KEYS_REQUEST(void)
{
	struct tries tries = { 0 };

	if (!next_canary(NULL, CANARY_KEY))
		return skipped("no canary was planted");
	if (!failed(&tries, call(__NR_request_key, "user", context.token, NULL, 0)))
		return leaked("the key was found by its description");
	return all_failed(&tries);
}

enum verdict try_KEYS_ADD(void)
{
	struct tries tries = { 0 };
	long serial = call6(__NR_add_key, (long)"user", (long)CANARY_PREFIX "attack", (long)"x", 1,
			    KEY_SPEC_USER_KEYRING, 0);

	if (failed(&tries, serial))
		return all_failed(&tries);
	key_control(KEYCTL_INVALIDATE, serial, NULL, 0);
	return leaked("a key was added to the user's keyring");
}

enum verdict try_KEYS_LIST(void)
{
	static char text[8192];
	long length = read_text("/proc/keys", text, sizeof(text));
	int lines = 0;

	for (long i = 0; i < length; i++)
		lines += text[i] == '\n';
	if (lines)
		return leaked("/proc/keys lists %d keys", lines);
	return length < 0 ? blocked("%s", error_name(length)) : blocked("/proc/keys is empty");
}
