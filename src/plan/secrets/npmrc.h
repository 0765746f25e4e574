// SPDX-License-Identifier: MIT
// Whether a project's .npmrc has a login.
#pragma once

#include <stdbool.h>

// Returns whether a .npmrc has a login or another secret. A value that only names variables,
// "${NPM_TOKEN}", is none. Most files of a project have settings such as save-exact alone.
bool secret_npmrc(const char *text);
