// SPDX-License-Identifier: MIT
// Conversations: where Claude keeps those of a project, which one the arguments resume, and those
// of plain claude on the host that the box lacks.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"

#include <stdbool.h>

struct plan;

// The directory of conversations in a Claude directory, one directory for each project in it.
#define CONVERSATIONS_DIRECTORY "projects"

// Returns the name that Claude gives to the directory of a project's conversations: the path with
// '-' in place of everything but letters and digits. Other paths can have the same name.
const char *conversation_slug(struct arena *arena, const char *path);
// Returns whether a text is the id of a conversation, a UUID. It is then safe on a command line.
bool conversation_id_valid(const char *id);
// Returns whether the name of a file is that of a conversation: ID.jsonl.
bool conversation_name_valid(const char *name);

// Returns the id of the conversation that claude's arguments resume, NULL: none is named by its id.
const char *conversation_resumed(const struct config *config);
// Returns whether claude continues the last conversation: --continue or -c.
bool conversation_continued(const struct config *config);
// Returns whether claude's arguments request no screen: -p.
bool conversation_is_printed(const struct config *config);
// Returns whether the start asks about the conversations of the host.
bool conversation_offer(const struct config *config, const struct conversation_facts *found);

// Returns the name of the instance's file with the answer about the conversations of the host.
const char *plan_conversations_name(struct arena *arena, const struct facts *facts);
// Adds the conversations of the host to what the box lacks. Returns false with an error if the
// arguments resume one that only the host has.
bool plan_build_conversations(struct plan *plan, struct arena *arena, const struct facts *facts,
			      struct error *error);
