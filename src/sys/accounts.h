// SPDX-License-Identifier: MIT
// Looks up users and groups.
#pragma once

#include <grp.h>
#include <pwd.h>
#include <sys/types.h>

// Both return NULL if there is no such account. The result is valid until the next call.
const struct passwd *account_by_uid(uid_t uid);
const struct group *group_by_name(const char *name);
