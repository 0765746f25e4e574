// SPDX-License-Identifier: MIT
// Attacks on the user's terminal and on other terminals.
#include "freestanding/process.h"
#include "freestanding/syscall.h"
#include "freestanding/text.h"
#include "prove/attack/attacks.h"
#include "prove/attack/call_32_bit.h"
#include "prove/attack/context.h"
#include "prove/attack/format.h"
#include "prove/attack/io.h"
#include "prove/attack/outcome.h"
#include "prove/protocol.h"

#include <asm/errno.h>
#include <asm/ioctls.h>
#include <linux/fcntl.h>
#include <linux/major.h>
#include <linux/stat.h>

enum { DISCIPLINE_HDLC = 13, DISCIPLINE_GSM = 21, MAX_TERMINALS = 128 };

static long terminal_control(long file, unsigned long request, void *argument)
{
	return call(__NR_ioctl, file, request, argument, 0);
}

// Opens the terminal of the user. Returns -errno if there is none.
static long open_user_terminal(void)
{
	char settings[128];
	long file = open_file("/dev/tty", O_RDWR);

	for (int i = 0; i < 3 && file < 0; i++)
		if (terminal_control(i, TCGETS, settings) == 0)
			file = i;
	return file;
}

// Opens a new pseudoterminal, which is no controlling terminal yet.
static long open_new_terminal(void)
{
	long file = open_file("/dev/ptmx", O_RDWR);
	int unlocked = 0;

	if (file < 0 || terminal_control(file, TIOCSPTLCK, &unlocked) < 0)
		return file < 0 ? file : -ENOTTY;
	return call(__NR_ioctl, file, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC, 0);
}

// Opens the terminal of the user, or a new one, which shows as well whether a call is refused.
static long open_terminal_to_attack(void)
{
	long file = open_user_terminal();

	if (file >= 0)
		return file;
	file = open_new_terminal();
	if (file >= 0) {
		call(__NR_setsid, 0, 0, 0, 0);
		call(__NR_ioctl, file, TIOCSCTTY, 0, 0);
	}
	return file;
}

static char space = ' ';

// Inserts a character into the input of the terminal.
static enum verdict insert_space(unsigned long request)
{
	long file = open_terminal_to_attack();
	struct tries tries = { 0 };

	if (file < 0)
		return skipped("no terminal: %s", error_name(file));
	if (!failed(&tries, terminal_control(file, request, &space)))
		return leaked("a character was inserted");
	return all_failed(&tries);
}

enum verdict try_TERMINAL_TIOCSTI(void)
{
	return insert_space(TIOCSTI);
}

enum verdict try_TERMINAL_TIOCSTI_WIDE(void)
{
	return insert_space(0xdead00000000UL | TIOCSTI);
}

#define SKIP_ATTACK(id)                                     \
	enum verdict try_##id(void)                         \
	{                                                   \
		return skipped("not on this architecture"); \
	}

#ifdef HAS_CALLS_OF_32_BIT
enum { IOCTL_32 = 54, GETPID_32 = 20 };

enum verdict try_TERMINAL_TIOCSTI_32(void)
{
	long file = open_terminal_to_attack();
	struct tries tries = { 0 };
	long result;

	if (file < 0)
		return skipped("no terminal: %s", error_name(file));
	expect_crash(); // on a kernel without 32-bit programs
	result = call_32_bit(IOCTL_32, file, TIOCSTI, SPACE_OF_32_BIT);
	if (result == -ENOEXEC)
		return skipped("the kernel runs no 32-bit programs");
	if (!failed(&tries, result))
		return leaked("a character was inserted");
	return all_failed(&tries);
}

enum verdict try_KERNEL_32_BIT(void)
{
	struct tries tries = { 0 };
	long result;

	expect_crash();
	result = call_32_bit(GETPID_32, 0, 0, 0);
	if (result == -ENOEXEC)
		return skipped("the kernel runs no 32-bit programs");
	if (!failed(&tries, result))
		return leaked("the calls succeed");
	return all_failed(&tries);
}
#else
SKIP_ATTACK(TERMINAL_TIOCSTI_32)
SKIP_ATTACK(KERNEL_32_BIT)
#endif

#ifdef __x86_64__
enum { X32 = 0x40000000, IOCTL_X32 = X32 + 514 };

enum verdict try_TERMINAL_TIOCSTI_X32(void)
{
	long file = open_terminal_to_attack();
	struct tries tries = { 0 };

	if (file < 0)
		return skipped("no terminal: %s", error_name(file));
	if (!failed(&tries, call(IOCTL_X32, file, TIOCSTI, &space, 0)))
		return leaked("a character was inserted");
	return all_failed(&tries);
}

enum verdict try_KERNEL_X32(void)
{
	struct tries tries = { 0 };

	if (!failed(&tries, call(X32 + __NR_getpid, 0, 0, 0, 0)))
		return leaked("the calls succeed");
	return all_failed(&tries);
}
#else
SKIP_ATTACK(TERMINAL_TIOCSTI_X32)
SKIP_ATTACK(KERNEL_X32)
#endif

// Subcode 6 reads the state of the shift keys, which is harmless.
enum verdict try_TERMINAL_TIOCLINUX(void)
{
	long file = open_terminal_to_attack();
	struct tries tries = { 0 };
	char subcode = 6;

	if (file < 0)
		return skipped("no terminal: %s", error_name(file));
	if (!failed(&tries, terminal_control(file, TIOCLINUX, &subcode)))
		return leaked("the console replies");
	return all_failed(&tries);
}

// Does not use force, which needs a capability that other attacks check.
enum verdict try_TERMINAL_STEAL(void)
{
	long file = open_user_terminal();
	struct tries tries = { 0 };

	if (file < 0)
		return skipped("no terminal");
	call(__NR_setsid, 0, 0, 0, 0);
	if (!failed(&tries, call(__NR_ioctl, file, TIOCSCTTY, 0, 0)))
		return leaked("the terminal is the controlling terminal now");
	return all_failed(&tries);
}

// Finds the terminal that claudebox was started on among /dev/tty and the standard streams. Returns
// its descriptor, -ENOTTY if the box has another terminal or none, and -ENODEV if there is none to
// attack.
static long find_terminal_of_host(void)
{
	const struct canary *canary = next_canary(NULL, CANARY_TERMINAL);
	unsigned int wanted = canary ? (unsigned int)text_number(canary->field[0]) : 0;
	long files[] = { open_file("/dev/tty", O_RDWR), 0, 1, 2 };

	if (!wanted)
		return -ENODEV;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		unsigned int device = 0;

		if (files[i] >= 0 && terminal_control(files[i], TIOCGDEV, &device) == 0 &&
		    device == wanted)
			return files[i];
	}
	return -ENOTTY;
}

// Attacks the terminal of the host by one call.
static enum verdict attack_terminal_of_host(long (*attack)(long file), const char *what)
{
	long file = find_terminal_of_host();
	struct tries tries = { 0 };

	if (file == -ENODEV)
		return skipped("no terminal");
	if (failed(&tries, file) || failed(&tries, attack(file)))
		return all_failed(&tries);
	return leaked("%s", what);
}

static long use_terminal(long file)
{
	return file;
}

// Sets the group that has the foreground already, so nothing changes.
static long set_foreground(long file)
{
	int group = 0;
	long result = terminal_control(file, TIOCGPGRP, &group);

	return result < 0 ? result : terminal_control(file, TIOCSPGRP, &group);
}

static long set_exclusive(long file)
{
	long result = terminal_control(file, TIOCEXCL, NULL);

	terminal_control(file, TIOCNXCL, NULL);
	return result;
}

enum verdict try_TERMINAL_USER(void)
{
	return attack_terminal_of_host(use_terminal, "the user's terminal is open");
}

enum verdict try_TERMINAL_FOREGROUND(void)
{
	return attack_terminal_of_host(set_foreground, "the foreground can be taken");
}

enum verdict try_TERMINAL_EXCLUSIVE(void)
{
	return attack_terminal_of_host(set_exclusive, "no other process could open the terminal");
}

enum verdict try_TERMINAL_DISCIPLINE(void)
{
	static const int disciplines[] = { DISCIPLINE_HDLC, DISCIPLINE_GSM };
	long file = open_new_terminal();
	struct tries tries = { 0 };

	if (file < 0)
		return skipped("no terminal: %s", error_name(file));
	for (size_t i = 0; i < ARRAY_SIZE(disciplines); i++) {
		int discipline = disciplines[i];

		if (!failed(&tries, terminal_control(file, TIOCSETD, &discipline)))
			return leaked("line discipline %d was set", discipline);
	}
	return all_failed(&tries);
}

// Returns the device number of a path or descriptor, 0 if it is no character device.
static unsigned long read_device(int file, const char *path)
{
	struct statx status = { 0 };

	if (call6(__NR_statx, file, (long)path, AT_EMPTY_PATH, STATX_BASIC_STATS, (long)&status,
		  0) < 0 ||
	    (status.stx_mode & S_IFMT) != S_IFCHR)
		return 0;
	return (unsigned long)status.stx_rdev_major << 32 | status.stx_rdev_minor;
}

// Returns whether a device is the terminal that the box was given.
static bool is_own_terminal(unsigned long device)
{
	long file = open_file("/dev/tty", O_RDWR);
	int number = 0;
	unsigned long own = 0;

	if (file >= 0 && terminal_control(file, TIOCGPTN, &number) == 0)
		own = (unsigned long)UNIX98_PTY_SLAVE_MAJOR << 32 | (unsigned long)number;
	close_file(file);
	for (int i = 0; i < 3; i++)
		if (read_device(i, "") == device)
			return true;
	return device && device == own;
}

// Returns whether a terminal can be opened that is not that of the box.
static bool open_other_terminal(struct tries *tries, const char *path)
{
	long file = open_file(path, O_RDWR);

	if (failed(tries, file))
		return false;
	close_file(file);
	return !is_own_terminal(read_device(AT_FDCWD, path));
}

enum verdict try_TERMINAL_OTHERS(void)
{
	int numbers[MAX_TERMINALS];
	size_t count = list_numbers("/dev/pts", numbers, MAX_TERMINALS);
	struct tries tries = { .count = 1 };
	char path[64];

	for (size_t i = 0; i < count; i++)
		if (open_other_terminal(&tries,
					text_format(path, sizeof(path), "/dev/pts/%d", numbers[i])))
			return leaked("%s can be opened", path);
	return all_failed(&tries);
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
		if (open_other_terminal(&tries, paths[i]))
			return leaked("%s can be opened", paths[i]);
	return all_failed(&tries);
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
