// SPDX-License-Identifier: MIT
// Attacks on descriptors that somebody left open, and on kernel keyrings.
#include "prove/attack/attack.h"

#include <linux/keyctl.h>

enum { DESCRIPTORS = 1024, SERIALS = 64 };

static const char *name_of(int descriptor, char *buffer, size_t size)
{
	char path[64];
	long length = call(__NR_readlinkat, AT_FDCWD,
			   text_make(path, sizeof(path), "/proc/self/fd/%d", descriptor), buffer,
			   size - 1);

	buffer[length > 0 ? length : 0] = 0;
	return buffer;
}

enum verdict try_DESCRIPTORS_INHERITED(void)
{
	int numbers[DESCRIPTORS];
	size_t count;
	char name[100];

	for (int number = 3; number < DESCRIPTORS; number++)
		if (call(__NR_fcntl, number, F_GETFD, 0, 0) >= 0)
			return leaked("%d is open: %s", number,
				      name_of(number, name, sizeof(name)));
	// The list itself is read through a descriptor.
	count = list_numbers("/proc/self/fd", numbers, DESCRIPTORS);
	for (size_t i = 0; i < count; i++)
		if (numbers[i] > 3)
			return leaked("%d is open", numbers[i]);
	return held("none is open");
}

enum verdict try_DESCRIPTORS_DIRECTORY(void)
{
	struct tries tries = { 0 };
	char path[PATH_SIZE];

	for (int number = 0; number < DESCRIPTORS; number++) {
		if (call(__NR_fcntl, number, F_GETFD, 0, 0) < 0)
			continue;
		for (const struct canary *file = NULL; (file = next_canary(file, "file"));) {
			long found =
				read_token(text_make(path, sizeof(path), "/proc/self/fd/%d/%s%s",
						     number, up, file->field[1]));

			if (!failed(&tries, found) && found)
				return leaked("%s can be read through %d", file->field[1], number);
		}
	}
	return blocked_by(&tries);
}

enum verdict try_DESCRIPTORS_INIT(void)
{
	struct tries tries = { 0 };
	char path[64];

	for (int number = 0; number < 64; number++) {
		long file =
			open_file(text_make(path, sizeof(path), "/proc/1/fd/%d", number), O_PATH);

		if (!failed(&tries, file))
			return leaked("%s can be opened", path);
	}
	return blocked_by(&tries);
}

static enum verdict take_descriptor(int pid)
{
	long process = call(__NR_pidfd_open, pid, 0, 0, 0);
	struct tries tries = { 0 };

	if (failed(&tries, process))
		return blocked_by(&tries);
	for (int number = 0; number < 64; number++)
		if (!failed(&tries, call(__NR_pidfd_getfd, process, number, 0, 0)))
			return leaked("descriptor %d of process %d was taken", number, pid);
	return blocked_by(&tries);
}

enum verdict try_DESCRIPTORS_PIDFD_INIT(void)
{
	return take_descriptor(1);
}

enum verdict try_DESCRIPTORS_PIDFD_HOST(void)
{
	int pid = host_process();

	return pid ? take_descriptor(pid) : skipped("no process to try");
}

static long control_key(int operation, long a, const void *b, long c)
{
	return call6(__NR_keyctl, operation, a, (long)b, c, 0, 0);
}

static long read_key(int serial)
{
	char payload[256];
	long length = control_key(KEYCTL_READ, serial, payload, sizeof(payload));

	return length < 0 ? length : has_token(payload, length < 256 ? length : 256);
}

static enum verdict read_keys(const char *ring)
{
	struct tries tries = { 0 };

	for (const struct canary *key = NULL; (key = next_canary(key, "key"));) {
		if (text_equal(key->field[0], ring) &&
		    !failed(&tries, read_key((int)text_number(key->field[1]))))
			return leaked("key %s can be read", key->field[1]);
	}
	return blocked_by(&tries);
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
		int serials[SERIALS];
		long size = control_key(KEYCTL_READ, rings[i], serials, sizeof(serials));

		if (!failed(&tries, size) && size > 0)
			return leaked("%d keys are listed", (int)(size / (long)sizeof(int)));
	}
	return blocked_by(&tries);
}

enum verdict try_KEYS_LINK(void)
{
	struct tries tries = { 0 };

	for (const struct canary *key = NULL; (key = next_canary(key, "key"));) {
		int serial = (int)text_number(key->field[1]);

		// The keyring of this process: nothing is left when it ends.
		if (!failed(&tries,
			    call(__NR_keyctl, KEYCTL_LINK, serial, KEY_SPEC_PROCESS_KEYRING, 0)))
			return leaked("key %d was linked", serial);
	}
	return blocked_by(&tries);
}

enum verdict try_KEYS_REQUEST(void)
{
	struct tries tries = { 0 };

	if (!next_canary(NULL, "key"))
		return skipped("nothing was planted");
	if (!failed(&tries, call(__NR_request_key, "user", probe.token, NULL, 0)))
		return leaked("found by its description");
	return blocked_by(&tries);
}

enum verdict try_KEYS_ADD(void)
{
	struct tries tries = { 0 };
	long serial = call6(__NR_add_key, (long)"user", (long)"claudebox-canary-probe", (long)"x",
			    1, KEY_SPEC_USER_KEYRING, 0);

	if (failed(&tries, serial))
		return blocked_by(&tries);
	control_key(KEYCTL_INVALIDATE, serial, NULL, 0);
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
	return length < 0 ? held("%s", error_name(length)) : held("empty");
}
