// SPDX-License-Identifier: MIT
// The outcome of an attack: its verdict and the reason.
#include "prove/attack/outcome.h"

#include "prove/attack/format.h"

#include <asm/errno.h>
#include <stdarg.h>

struct outcome *outcome;

enum verdict conclude(enum verdict verdict, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	text_format_list(outcome->why, sizeof(outcome->why), format, values);
	va_end(values);
	// Tabs and newlines separate fields and lines of the protocol.
	for (char *s = outcome->why; *s; s++)
		if (*s < ' ' || *s == 0x7f)
			*s = '?';
	outcome->verdict = (int)verdict;
	return verdict;
}

void expect_crash(void)
{
	outcome->crash_expected = true;
}

static const struct {
	int number;
	const char *name;
} error_names[] = {
#define NAME(error)           \
	{                     \
		error, #error \
	}
	NAME(EPERM),        NAME(ENOENT),       NAME(ESRCH),         NAME(EINTR),
	NAME(EIO),          NAME(ENXIO),        NAME(EBADF),         NAME(EAGAIN),
	NAME(ENOMEM),       NAME(EACCES),       NAME(EFAULT),        NAME(EBUSY),
	NAME(EEXIST),       NAME(EXDEV),        NAME(ENODEV),        NAME(ENOTDIR),
	NAME(EISDIR),       NAME(EINVAL),       NAME(EMFILE),        NAME(ENOTTY),
	NAME(ETXTBSY),      NAME(ENOSPC),       NAME(EROFS),         NAME(ENAMETOOLONG),
	NAME(ENOSYS),       NAME(ELOOP),        NAME(ENODATA),       NAME(EPROTOTYPE),
	NAME(EOPNOTSUPP),   NAME(EAFNOSUPPORT), NAME(EADDRNOTAVAIL), NAME(EPROTONOSUPPORT),
	NAME(ENETUNREACH),  NAME(ECONNRESET),   NAME(ETIMEDOUT),     NAME(ESOCKTNOSUPPORT),
	NAME(ECONNREFUSED), NAME(EHOSTUNREACH), NAME(EINPROGRESS),   NAME(ENOKEY),
	NAME(EKEYREVOKED),  NAME(EDQUOT),       NAME(ENETDOWN),
#undef NAME
};

const char *error_name(long error)
{
	static char other[24];

	for (size_t i = 0; i < ARRAY_SIZE(error_names); i++)
		if (error_names[i].number == -error)
			return error_names[i].name;
	return text_format(other, sizeof(other), "error %d", (int)-error);
}

bool failed(struct tries *tries, long result)
{
	tries->count++;
	if (result >= 0)
		return false;
	if (!tries->error || tries->error == -ENOENT)
		tries->error = result;
	return true;
}

enum verdict all_failed(const struct tries *tries)
{
	if (!tries->count)
		return skipped("no canary was planted");
	if (tries->error == -ENOENT)
		return blocked("does not exist");
	return blocked("%s", tries->error ? error_name(tries->error) : "nothing found");
}

bool is_refusal(long result)
{
	return result == -EPERM || result == -ENOSYS || result == -EACCES;
}

enum verdict judge_refusal(struct tries *tries, long result, const char *what)
{
	failed(tries, result);
	if (is_refusal(result))
		return all_failed(tries);
	return leaked("%s is not refused: %s", what,
		      result < 0 ? error_name(result) : "it succeeds");
}
