// SPDX-License-Identifier: MIT
// Parsers of files with a setting in each line.
#pragma once

#include "plan/registries/setting.h"

#include <stdbool.h>

// Parses .npmrc: key=value, key[]=value, comments with ; and #.
bool npmrc_parse(struct parsed *parsed, const char *text);
// Parses pip.conf: sections, key = value and key: value, values over several indented lines.
bool pip_parse(struct parsed *parsed, const char *text);
// Parses Java properties: key=value, key: value, key value, lines continued with a backslash.
bool properties_parse(struct parsed *parsed, const char *text);
// Parses .yarnrc of yarn 1: key value, each perhaps in quotation marks.
bool yarnrc_parse(struct parsed *parsed, const char *text);
// Parses go's env file: NAME=value.
bool variables_parse(struct parsed *parsed, const char *text);
