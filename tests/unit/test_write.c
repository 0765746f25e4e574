// SPDX-License-Identifier: MIT
// Temporary files: a process that is killed while it replaces a file leaves one, and the next start
// removes it.
#include "base/arena.h"
#include "check.h"
#include "sys/cleanup.h"
#include "sys/list.h"
#include "sys/write.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

static struct arena arena;

// Replaces a file in a child that the kernel kills during write(2), at a size of four bytes.
// Returns the signal that killed it.
static int replace_and_be_killed(int directory)
{
	const struct rlimit four_bytes = { .rlim_cur = 4, .rlim_max = 4 };
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		struct error error = { .arena = &arena };
		const struct rlimit none = { 0 };

		signal(SIGXFSZ, SIG_DFL);
		setrlimit(RLIMIT_CORE, &none);
		setrlimit(RLIMIT_FSIZE, &four_bytes);
		replace_file(directory, "version", "longer than four bytes", &error);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static size_t count_entries(int directory)
{
	return list_directory(&arena, directory, ".").count;
}

int main(void)
{
	char path[] = "/tmp/claudebox-test-write-XXXXXX";
	CLEANUP_FD int directory = mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY) : -1;
	struct error error = { .arena = &arena };

	CHECK(replace_file(directory, "version", "1\n", &error));
	CHECK(count_entries(directory) == 1);
	CHECK(replace_and_be_killed(directory) == SIGXFSZ);
	CHECK_CASE(count_entries(directory) == 2, "a killed process leaves its temporary file");
	remove_temporaries(directory);
	CHECK_CASE(count_entries(directory) == 1, "the temporary file is removed");
	CHECK(list_directory(&arena, directory, ".").count &&
	      str_equal(list_directory(&arena, directory, ".").items[0], "version"));
	unlinkat(directory, "version", 0);
	rmdir(path);
	arena_free(&arena);
	return check_done();
}
