// SPDX-License-Identifier: MIT
// Parser for the part of XML that Maven's settings use.
#pragma once

#include "plan/registries/setting.h"

#include <stdbool.h>

// Parses <settings>…</settings>; the paths of the settings start below it.
bool maven_parse(struct parsed *parsed, const char *text);
