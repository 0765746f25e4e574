// SPDX-License-Identifier: MIT
// Looks users and groups up: where the system says (NSS), or in /etc alone when the program is static. NSS loads
// libraries, and those of another C library than its own would bring a static program down.
#pragma once

#include <grp.h>
#include <pwd.h>
#include <sys/types.h>

// Until the next call; NULL: nobody.
const struct passwd *account_by_uid(uid_t uid);
const struct group *group_by_name(const char *name);
