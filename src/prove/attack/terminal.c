// SPDX-License-Identifier: MIT
// Attacks on the user's terminal and on other terminals.
#include "prove/attack/call_32_bit.h"
#include "prove/attack/attack.h"

#include <asm/ioctls.h>
#include <linux/major.h>
#include <linux/stat.h>

enum { SETD_HDLC = 13, SETD_GSM = 21, TERMINALS = 128 };

// An ioctl on a terminal.
static long control(long file, unsigned long request, void *argument)
{
	return call(__NR_ioctl, file, request, argument, 0);
}

// The terminal of the user, if there is one.
static long user_terminal(void)
{
	char settings[128];
	long file = open_file("/dev/tty", O_RDWR);

	for (int i = 0; i < 3 && file < 0; i++)
		if (control(i, TCGETS, settings) == 0)
			file = i;
	return file;
}

// One of our own, which is not yet anybody's.
static long make_terminal(void)
{
	long file = open_file("/dev/ptmx", O_RDWR);
	int unlocked = 0;

	if (file < 0 || control(file, TIOCSPTLCK, &unlocked) < 0)
		return file < 0 ? file : -ENOTTY;
	return call(__NR_ioctl, file, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC, 0);
}

// Without a terminal of the user's, one of our own shows whether the call is stopped.
static long some_terminal(void)
{
	long file = user_terminal();

	if (file >= 0)
		return file;
	file = make_terminal();
	if (file >= 0) {
		call(__NR_setsid, 0, 0, 0, 0);
		call(__NR_ioctl, file, TIOCSCTTY, 0, 0);
	}
	return file;
}

static char space = ' ';

static enum verdict type_space(unsigned long request)
{
	long file = some_terminal();
	struct tries tries = { 0 };

	if (file < 0)
		return skipped("no terminal: %s", error_name(file));
	if (!failed(&tries, control(file, request, &space)))
		return leaked("a character was typed");
	return blocked_by(&tries);
}

enum verdict try_TERMINAL_TIOCSTI(void)
{
	return type_space(TIOCSTI);
}

enum verdict try_TERMINAL_TIOCSTI_WIDE(void)
{
	return type_space(0xdead00000000UL | TIOCSTI);
}

#define NOT_HERE(id)                                              \
	enum verdict try_##id(void)                               \
	{                                                         \
		return skipped("this machine has no such calls"); \
	}

#ifdef HAS_CALLS_OF_32_BIT
enum { IOCTL_32 = 54, GETPID_32 = 20 };

enum verdict try_TERMINAL_TIOCSTI_32(void)
{
	long file = some_terminal();
	struct tries tries = { 0 };
	long result;

	if (file < 0)
		return skipped("no terminal: %s", error_name(file));
	expect_crash(); // a kernel without 32-bit programs
	result = call_32_bit(IOCTL_32, file, TIOCSTI, SPACE_OF_32_BIT);
	if (result == -ENOEXEC)
		return skipped("this machine runs no such programs");
	if (!failed(&tries, result))
		return leaked("a character was typed");
	return blocked_by(&tries);
}

enum verdict try_KERNEL_32_BIT(void)
{
	struct tries tries = { 0 };
	long result;

	expect_crash();
	result = call_32_bit(GETPID_32, 0, 0, 0);
	if (result == -ENOEXEC)
		return skipped("this machine runs no such programs");
	if (!failed(&tries, result))
		return leaked("they work");
	return blocked_by(&tries);
}
#else
NOT_HERE(TERMINAL_TIOCSTI_32)
NOT_HERE(KERNEL_32_BIT)
#endif

#ifdef __x86_64__
enum { X32 = 0x40000000, IOCTL_X32 = X32 + 514 };

enum verdict try_TERMINAL_TIOCSTI_X32(void)
{
	long file = some_terminal();
	struct tries tries = { 0 };

	if (file < 0)
		return skipped("no terminal: %s", error_name(file));
	if (!failed(&tries, call(IOCTL_X32, file, TIOCSTI, &space, 0)))
		return leaked("a character was typed");
	return blocked_by(&tries);
}

enum verdict try_KERNEL_X32(void)
{
	struct tries tries = { 0 };

	if (!failed(&tries, call(X32 + __NR_getpid, 0, 0, 0, 0)))
		return leaked("they work");
	return blocked_by(&tries);
}
#else
NOT_HERE(TERMINAL_TIOCSTI_X32)
NOT_HERE(KERNEL_X32)
#endif

// Subcode 6 asks for the state of the shift keys: as good as any, and harmless.
enum verdict try_TERMINAL_TIOCLINUX(void)
{
	long file = some_terminal();
	struct tries tries = { 0 };
	char subcode = 6;

	if (file < 0)
		return skipped("no terminal: %s", error_name(file));
	if (!failed(&tries, control(file, TIOCLINUX, &subcode)))
		return leaked("the console answers");
	return blocked_by(&tries);
}

// Without force: who has the right to use force has shown it elsewhere.
enum verdict try_TERMINAL_STEAL(void)
{
	long file = user_terminal();
	struct tries tries = { 0 };

	if (file < 0)
		return skipped("no terminal");
	call(__NR_setsid, 0, 0, 0, 0);
	if (!failed(&tries, call(__NR_ioctl, file, TIOCSCTTY, 0, 0)))
		return leaked("the terminal was taken");
	return blocked_by(&tries);
}

enum verdict try_TERMINAL_DISCIPLINE(void)
{
	static const int disciplines[] = { SETD_HDLC, SETD_GSM };
	long file = make_terminal();
	struct tries tries = { 0 };

	if (file < 0)
		return skipped("no terminal: %s", error_name(file));
	for (size_t i = 0; i < ARRAY_SIZE(disciplines); i++) {
		int discipline = disciplines[i];

		if (!failed(&tries, control(file, TIOCSETD, &discipline)))
			return leaked("number %d was set", discipline);
	}
	return blocked_by(&tries);
}

// Which device a path or descriptor is, 0 if none.
static unsigned long device_of(int file, const char *path)
{
	struct statx status = { 0 };

	if (call6(__NR_statx, file, (long)path, AT_EMPTY_PATH, STATX_BASIC_STATS, (long)&status,
		  0) < 0 ||
	    (status.stx_mode & S_IFMT) != S_IFCHR)
		return 0;
	return (unsigned long)status.stx_rdev_major << 32 | status.stx_rdev_minor;
}

static bool is_ours(unsigned long device)
{
	long file = open_file("/dev/tty", O_RDWR);
	int number = 0;
	unsigned long ours = 0;

	if (file >= 0 && control(file, TIOCGPTN, &number) == 0)
		ours = (unsigned long)UNIX98_PTY_SLAVE_MAJOR << 32 | (unsigned long)number;
	close_file(file);
	for (int i = 0; i < 3; i++)
		if (device_of(i, "") == device)
			return true;
	return device && device == ours;
}

static bool open_terminal(struct tries *tries, const char *path)
{
	long file = open_file(path, O_RDWR);

	if (failed(tries, file))
		return false;
	close_file(file);
	return !is_ours(device_of(AT_FDCWD, path));
}

enum verdict try_TERMINAL_OTHERS(void)
{
	int numbers[TERMINALS];
	size_t count = list_numbers("/dev/pts", numbers, TERMINALS);
	struct tries tries = { .count = 1 };
	char path[64];

	for (size_t i = 0; i < count; i++)
		if (open_terminal(&tries, text_make(path, sizeof(path), "/dev/pts/%d", numbers[i])))
			return leaked("%s can be opened", path);
	return blocked_by(&tries);
}

enum verdict try_TERMINAL_CONSOLES(void)
{
	static const char *const paths[] = {
		"/dev/console", "/dev/tty0",    "/dev/tty1",  "/dev/tty2",  "/dev/tty3",
		"/dev/tty7",    "/dev/vcs",     "/dev/vcs1",  "/dev/vcsa",  "/dev/vcsa1",
		"/dev/vcsu",    "/dev/vcsu1",   "/dev/ttyS0", "/dev/ttyS1", "/dev/hvc0",
		"/dev/ttyACM0", "/dev/ttyUSB0",
	};
	struct tries tries = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (open_terminal(&tries, paths[i]))
			return leaked("%s can be opened", paths[i]);
	return blocked_by(&tries);
}

enum verdict try_TERMINAL_INPUT(void)
{
	static const char *const paths[] = {
		"/dev/input/event0", "/dev/input/event1",  "/dev/input/event2",
		"/dev/input/mice",   "/dev/uinput",        "/dev/uhid",
		"/dev/hidraw0",      "/dev/hidraw1",       "/dev/fb0",
		"/dev/dri/card0",    "/dev/dri/card1",     "/dev/dri/renderD128",
		"/dev/snd/seq",      "/dev/snd/controlC0", "/dev/video0",
		"/dev/video1",
	};

	return open_any(paths, ARRAY_SIZE(paths), O_RDONLY);
}
