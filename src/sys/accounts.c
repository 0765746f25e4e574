// SPDX-License-Identifier: MIT
// Looks up users and groups.
//
// A static program reads /etc/passwd and /etc/group only. NSS would load shared libraries, and
// those of another C library crash a static program.
#include "sys/accounts.h"

#ifdef STATIC_PROGRAM
#include "base/text.h"
#include "sys/cleanup.h"

const struct passwd *account_by_uid(uid_t uid)
{
	CLEANUP_FILE FILE *file = fopen("/etc/passwd", "re");
	const struct passwd *account = NULL;

	while (file && (account = fgetpwent(file)) && account->pw_uid != uid)
		;
	return account;
}

const struct group *group_by_name(const char *name)
{
	CLEANUP_FILE FILE *file = fopen("/etc/group", "re");
	const struct group *group = NULL;

	while (file && (group = fgetgrent(file)) && !str_equal(group->gr_name, name))
		;
	return group;
}
#else
const struct passwd *account_by_uid(uid_t uid)
{
	return getpwuid(uid);
}

const struct group *group_by_name(const char *name)
{
	return getgrnam(name);
}
#endif
