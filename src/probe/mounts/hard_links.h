// SPDX-License-Identifier: MIT
// Finds files that have another name (hard link) outside of the box.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Stores files that the box could change under a name outside: objects of a repository that was
// cloned by path, and packages that are linked to a store.
void probe_hard_links(struct facts *facts, struct arena *arena);
// Adds to the secret places each file that is passed in by path and is another name of a secret.
void probe_linked_secrets(struct facts *facts, struct arena *arena);
