// SPDX-License-Identifier: MIT
// Parser for the part of YAML that settings of package managers use.
#pragma once

#include "plan/registries/setting.h"

#include <stdbool.h>

bool yaml_parse(struct parsed *parsed, const char *text);
