// SPDX-License-Identifier: MIT
// Which changes of a box's copy of a git configuration are applied to the file of the host.
#pragma once

#include "base/arena.h"
#include "plan/guard/config_edit.h"
#include "plan/guard/keys.h"

#include <stdbool.h>

// The texts of one configuration.
struct git_config_texts {
	const char *base; // at the start of the box
	const char *copy; // what the box has left
	const char *host; // now
};

struct git_division {
	git_config_changes harmless; // that are applied
	strings refused;             // names of settings that are not applied
	strings kept;                // names of settings that the box has removed, and that stay
	strings conflict;            // names of settings that the host has changed too
};

// git_key_refusal(), or a function that looks at the file system too.
typedef const char *git_entry_judge(struct arena *arena, const char *name, const char *value,
				    const struct git_key_place *place);

// Divides the changes of a box. Returns false if a text cannot be parsed. Settings that git finds
// by trials (KEY_PROBED) are in no list: the trial in the box says nothing about the host.
bool git_changes_divide(struct arena *arena, const struct git_config_texts *texts,
			const struct git_key_place *place, git_entry_judge *judge,
			struct git_division *ret);
