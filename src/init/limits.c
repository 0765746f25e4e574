// SPDX-License-Identifier: MIT
// Resource limits (setrlimit) of the box.
#include "init/limits.h"

#include "freestanding/syscall.h"

#include <linux/resource.h>
#include <stddef.h>

static const struct {
	int resource;
	unsigned int divisor; // of the hard limit; 0: the limit becomes 0
} limits[] = {
	// A core dump may contain secrets of the agent, and the host decides where it is written.
	{ RLIMIT_CORE, 0 },
	// No process of the box may have priority over init or over programs of the host.
	{ RLIMIT_RTPRIO, 0 },
	{ RLIMIT_NICE, 0 },
	// The kernel counts these together with those of the user's other programs.
	{ RLIMIT_SIGPENDING, 2 },
	{ RLIMIT_MSGQUEUE, 2 },
};

static long lower_limit(int resource, unsigned int divisor)
{
	struct rlimit64 limit = { 0 };
	long error = divisor ? call(__NR_prlimit64, 0, resource, NULL, &limit) : 0;

	if (error || limit.rlim_max == RLIM64_INFINITY)
		return error;
	limit.rlim_max = divisor ? limit.rlim_max / divisor : 0;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	return call(__NR_prlimit64, 0, resource, &limit, NULL);
}

long lower_limits(void)
{
	long error = 0;

	for (size_t i = 0; !error && i < sizeof(limits) / sizeof(limits[0]); i++)
		error = lower_limit(limits[i].resource, limits[i].divisor);
	return error;
}
