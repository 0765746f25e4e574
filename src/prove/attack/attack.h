// SPDX-License-Identifier: MIT
// What the attacks of the probe share: canaries, verdicts, and a little text. The probe has no C library: it runs in any box.
#pragma once

#include "freestanding/system.h"

#include <asm/errno.h>
#include <linux/fcntl.h>
#include <stdbool.h>

enum verdict {
	HELD,
	LEAKED,
	OPEN,    // reachable, and the tier of the network means it
	SKIPPED, // nothing to attack
	FAILED,  // the attack itself went wrong: nothing is known
	VERDICT_COUNT,
};

enum attack {
#define ATTACK(id, group, tried, holds) ATTACK_##id,
#include "prove/attacks.def"
#undef ATTACK
	ATTACK_COUNT,
};

#define ATTACK(id, group, tried, holds) enum verdict try_##id(void);
#include "prove/attacks.def"
#undef ATTACK

enum { CANARIES = 512, PROCESSES = 512, PATH_SIZE = 4608 };

// A line of the list: its kind, and up to three fields; those that are not there are "".
struct canary {
	const char *kind;
	const char *field[3];
};

struct probe {
	struct canary canaries[CANARIES];
	size_t count;
	const char *token;
	const char *home;    // "" if unknown
	const char *project; // "." if unknown
	const char *mark;    // what our own files are called
	bool full, inet;     // the tier; none if neither
	char **environment;
	unsigned long page;
};
extern struct probe probe;

// In memory that the parent sees: what it says survives whatever becomes of the child.
struct outcome {
	int verdict;
	bool crash_expected;
	char why[160];
};
extern struct outcome *outcome;

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

// The verdict of the attack that runs, and why. Of printf there are %s, %d and %x (eight digits).
enum verdict conclude(enum verdict verdict, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
#define held(...)    conclude(HELD, __VA_ARGS__)
#define leaked(...)  conclude(LEAKED, __VA_ARGS__)
#define skipped(...) conclude(SKIPPED, __VA_ARGS__)
#define gave_up(...) conclude(FAILED, __VA_ARGS__)
// Reached something of the host's network: in the tier full that is what was asked for.
#define reached(...) conclude(probe.full ? OPEN : LEAKED, __VA_ARGS__)
// A crash from here on is an answer.
void expect_crash(void);

// Many ways to one end. The error that says most is the reason why none of them led there.
struct tries {
	int count;
	long error;
};
bool failed(struct tries *tries, long result);
enum verdict blocked_by(const struct tries *tries);
const char *error_name(long error);
// For a call with arguments that make no sense: any error but a refusal means that it got through.
bool is_refusal(long result);
enum verdict judge_refusal(struct tries *tries, long result, const char *what);

size_t text_length(const char *text);
bool text_equal(const char *a, const char *b);
bool text_starts(const char *text, const char *prefix);
const char *text_find(const char *text, size_t length, const char *wanted);
char *text_make(char *buffer, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
long text_number(const char *text);
// "~/x" and "%d" (the user's number) in a path of a table.
const char *expand(char *buffer, size_t size, const char *pattern);
bool has_token(const void *data, long length);

// The next canary of a kind, from the first one on with NULL.
const struct canary *next_canary(const struct canary *after, const char *kind);

long open_file(const char *path, int flags);
void close_file(long descriptor);
// 1: the token is in it, 0: it can be read, otherwise an error.
long read_token(const char *path);
long read_text(const char *path, char *buffer, size_t size); // ends with 0
// Whether one of the paths of a table can be opened.
enum verdict open_any(const char *const *paths, size_t count, int flags);
// Numbers of the processes in /proc, or of what else is called by a number.
size_t list_numbers(const char *directory, int *numbers, size_t size);
// Names in a directory, one after the other, each ended by 0; how many bytes.
long list_names(const char *directory, char *names, size_t size);
// A path in the project for a file of our own.
const char *scratch(char *buffer, size_t size, const char *name);
void remove_file(const char *path);
// A directory of the host's: a canary can be read in it.
bool is_hosts(const char *directory);
// "../" often enough to come to any root.
extern const char up[];

// The path of mount number `index` of this type; false: there are no more.
bool mounted_at(const char *type, size_t index, char path[PATH_SIZE]);

long fork_child(unsigned long flags);
void wait_child(long pid);
__attribute__((noreturn)) void leave(int status);

// A canary process that can be told from one of the box with the same number. 0: there is none.
int host_process(void);
