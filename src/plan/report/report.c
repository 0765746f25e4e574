// SPDX-License-Identifier: MIT
// Names of the report at the end of a session.
#include "plan/report/report.h"

const char *const operation_change_names[OPERATION_CHANGE_COUNT] = {
	[OPERATION_STARTED] = "started",
	[OPERATION_CONTINUED] = "continued",
	[OPERATION_ENDED] = "ended",
};

const char *const repository_change_names[REPOSITORY_CHANGE_COUNT] = {
	[REPOSITORY_REMOVED] = "removed",
	[REPOSITORY_CREATED] = "created",
	[REPOSITORY_CHANGED] = "changed",
};
