// SPDX-License-Identifier: MIT
// Protected places that a program of the host replaced while a box runs.
#pragma once

#include "guard/watcher.h"

#include <stdbool.h>
#include <stdint.h>

// Notes an event at a protected place, in the order of the kernel.
void replaced_note(struct watcher *watcher, const char *path, uint32_t mask);
// Notes that a place was protected again just now.
void replaced_protected(struct watcher *watcher, const struct guard_place *place);
// Keeps the text of a configuration of git that was protected again. If no event shows that the box
// may have written it, its settings are the user's.
void replaced_keep_text(struct watcher *watcher, const char *path, const char *text);
// Returns whether the content of a place may be that of the box, so it is not protected any more.
bool replaced_is_lost(const struct watcher *watcher, const char *path);
