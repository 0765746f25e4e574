// SPDX-License-Identifier: MIT
// Writes settings of package managers. Names and values come from the filter: they need no escapes.
#pragma once

#include "base/arena.h"
#include "plan/registries/setting.h"

// Return the text of a file: key=value, sections, yarn 1, YAML, TOML, and Maven's XML.
const char *settings_render_lines(struct arena *arena, const setting_list *list);
const char *settings_render_sections(struct arena *arena, const setting_list *list);
const char *settings_render_yarnrc(struct arena *arena, const setting_list *list);
const char *settings_render_yaml(struct arena *arena, const setting_list *list);
const char *settings_render_toml(struct arena *arena, const setting_list *list);
const char *settings_render_maven(struct arena *arena, const setting_list *list);
