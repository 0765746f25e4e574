// SPDX-License-Identifier: MIT
// Which mounts of the plan are the user's own files of the host.
#pragma once

#include "plan/plan.h"

// Marks the mounts that were not requested by name and have the user's own files of the host, or
// copies of them, as taken from the host. Toolchains have a part of the audit of their own.
void plan_mark_own_files(struct plan *plan);
