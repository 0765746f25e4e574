// SPDX-License-Identifier: MIT
// Everything that acts on a finished plan.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/screen.h"
#include "plan/plan.h"
#include "run/cgroup.h"
#include "run/terminal.h"

#include <stdbool.h>
#include <sys/types.h>

// Makes nothing depend on how the caller started us.
bool run_settle_in(struct error *error);

// What the caller left open is nobody's business further on.
bool run_close_on_execution(struct error *error);

struct reader run_find_reader(int fd);

// What was asked for, whole.
bool run_print(int fd, const char *text, struct error *error);
// A line for whoever reads stderr, "label: text"; more lines where the terminal is narrow.
void run_tell(const char *label, const char *format, ...) __attribute__((format(printf, 2, 3)));
void run_tell_error(const struct error *error);

// Asks on the terminal. False with an error when the answer is no or nobody can be asked.
bool run_confirm(struct error *error);
// A question that may be answered no. False with an error when nobody can be asked.
bool run_ask(const char *question, bool *ret_yes, struct error *error);

// What the repository asks for becomes part of the configuration when the user has said yes to it, now or before.
// `ret_record` gets an answer to keep.
bool run_settle_wishes(struct config *config, struct host *host, struct arena *arena,
		       const char **ret_record, struct error *error);

// Makes ~/.claudebox and the instance what the plan says. Returns a descriptor that holds it; -1 with an error.
int run_prepare_state(const struct plan *plan, struct error *error);

// The state of an earlier claudebox becomes one of today; whenever it is interrupted, the next one finishes it.
bool run_upgrade(const struct plan *plan, int root, struct error *error);

// Copies a file or directory, but no links and nothing special; what is there already stays. `part` is a directory for
// unfinished files, `left` grows by what was not copied. False with errno.
bool run_copy(int from, int to, const char *name, int part, size_t *left);

// Sets an error from errno, with a hint for it.
bool run_fail(struct error *error, const char *what, const char *path);

// --instances and --gc.
bool run_instances(const struct config *config, struct arena *arena, int *ret_status,
		   struct error *error);

// Removes a directory with everything in it, whatever that is; never what a link leads to. What is gone is no error.
bool run_remove_tree(int parent, const char *name, struct error *error);

// Writes all of it.
bool run_write(int fd, const void *bytes, size_t count);

// Makes a directory when it is missing and opens it, never through a link; -1 with an error.
int run_open_directory(int parent, const char *name, const char *shown, struct error *error);

// ~/.claudebox itself, made when it is missing; it must be ours alone.
int run_open_root(const char *path, struct error *error);

// Moves aside whatever has that name.
bool run_clear_way(int directory, const char *name, struct error *error);

// Puts a new file in place of whatever has that name.
bool run_replace_file(int directory, const char *name, const char *content, struct error *error);

// A started box, as the supervisor holds it.
struct box {
	pid_t bwrap;
	int control;  // to init
	int terminal; // -1: none
	bool foreground;
	struct terminal screen; // how it was, and what stands before it
	int info;               // bwrap says who process 1 is; -1: not asked
	struct cgroup cgroup;
};
// The caller has set the terminal; the rest is filled here.
bool run_start_box(struct box *box, const struct plan *plan, struct arena *arena,
		   struct error *error);

// The last that is done to the box's mounts before the agent starts.
bool run_finish_mounts(const struct plan *plan, pid_t init, struct error *error);

// Whether this is what the audit showed. Numbers are used again: a link may have that of the file that it replaced.
bool run_is_same(int fd, const struct file_id *id);
// Sets the error for what is not.
bool run_changed(const char *path, struct error *error);

// Stays until the box has ended. False with an error when the agent never ran. `network` may be NULL.
struct network;
bool run_supervise(struct box *box, const struct plan *plan, struct network *network,
		   int *ret_status, struct error *error);

// Blocks what the supervisor passes on, and reads it.
int run_open_signals(void);

// Prepare, start, supervise.
bool run_box(const struct plan *plan, struct arena *arena, int *ret_status, struct error *error);

// Sets up the plan's network for a box that does nothing.
bool run_try_network(const struct plan *plan, struct arena *arena, struct error *error);

// --check: prints what it finds.
bool run_check(const struct config *config, const struct host *host, struct arena *arena,
	       int *ret_status, struct error *error);

// The program that is process 1 of a box, in memory, close-on-exec; -1 with errno.
int run_make_init(void);
// Whether bwrap makes the smallest sandbox that has what a box needs, and what it said.
bool run_try_sandbox(struct arena *arena, const char *bwrap, const char **ret_output);
// Why it may not have, and the command that cures it; NULL when nothing is known to be wrong.
const char *run_userns_problem(struct arena *arena, const char **ret_cure);

// Runs a program with a fixed environment and returns its exit status, -1 when it did not end by itself.
int run_capture(struct arena *arena, const char *program, const char *const *arguments,
		const char **ret_output);
