// SPDX-License-Identifier: MIT
// Says on the terminal how far an undo is.
#include "snapshot/undo/progress.h"

#include "sys/clock.h"
#include "sys/output.h"

#include <unistd.h>

enum { PERIOD_MS = 1000 };

struct progress progress_begin(size_t files, size_t steps)
{
	return (struct progress){
		.files = files,
		.steps = steps,
		.next_ms = isatty(STDERR_FILENO) ? clock_monotonic_ms() + PERIOD_MS : 0,
	};
}

void progress_count(struct progress *progress)
{
	int64_t now;

	progress->done++;
	if (!progress->next_ms || progress->done > progress->steps)
		return;
	now = clock_monotonic_ms();
	if (now < progress->next_ms)
		return;
	progress->next_ms = now + PERIOD_MS;
	output_message("undo", "%zu of %zu files",
		       progress->done * progress->files / progress->steps, progress->files);
}
