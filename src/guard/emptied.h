// SPDX-License-Identifier: MIT
// Directories of the box that are empty because the guard has moved their files.
#pragma once

struct watcher;

// Notes that an entry was moved out of the project.
void emptied_note(struct watcher *watcher, const char *path);
// Removes the directories around the moved entries that the session has created and that are empty,
// after the box has ended.
void emptied_remove(struct watcher *watcher);
