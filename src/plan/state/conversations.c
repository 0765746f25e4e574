// SPDX-License-Identifier: MIT
// Conversations of plain claude on the host, which the box does not see unless they are copied.
#include "plan/state/conversations.h"

#include "base/arena.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/text.h"
#include "base/width.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/secrets/bytes.h"
#include "plan/state/instances.h"

#include <stdint.h>
#include <string.h>

enum { SLUG_LONGEST = 200, UUID_LENGTH = 36, BASE36_DIGITS = 8 };

// Stores the code units of UTF-16 of the character at `text`: JavaScript counts in them. Bytes that
// are no UTF-8 are U+FFFD, one for each. Returns the length of the character in bytes.
static size_t next_units(const char *text, uint16_t ret_units[2], size_t *ret_count)
{
	uint32_t character = 0xfffd;
	size_t length = utf8_decode(text, &character);

	*ret_count = 1;
	ret_units[0] = (uint16_t)character;
	if (character >= 0x10000) {
		*ret_count = 2;
		ret_units[0] = (uint16_t)(0xd800 + ((character - 0x10000) >> 10));
		ret_units[1] = (uint16_t)(0xdc00 + (character & 0x3ff));
	}
	return length ? length : 1;
}

// Adds Claude's hash of a long path, in base 36.
static void add_hash(struct text *out, int32_t hash)
{
	uint32_t rest = hash < 0 ? -(uint32_t)hash : (uint32_t)hash;
	char digits[BASE36_DIGITS];
	size_t at = sizeof(digits);

	do {
		digits[--at] = "0123456789abcdefghijklmnopqrstuvwxyz"[rest % 36];
		rest /= 36;
	} while (rest && at);
	text_add_bytes(out, digits + at, sizeof(digits) - at);
}

const char *conversation_slug(struct arena *arena, const char *path)
{
	struct text out = { .arena = arena };
	size_t units = 0;
	uint32_t hash = 0;

	while (*path) {
		uint16_t unit[2] = { 0 };
		size_t count;
		size_t length = next_units(path, unit, &count);

		for (size_t i = 0; i < count; i++) {
			const char *c = byte_is_alnum(*path) ? path : "-";

			hash = hash * 31 + unit[i];
			if (units++ < SLUG_LONGEST)
				text_add_bytes(&out, c, 1);
		}
		path += length;
	}
	if (units > SLUG_LONGEST) {
		text_add(&out, "-");
		add_hash(&out, (int32_t)hash);
	}
	return text_get(&out);
}

// Returns whether a text begins with a UUID.
static bool starts_with_id(const char *text)
{
	for (size_t i = 0; i < UUID_LENGTH; i++)
		if (i == 8 || i == 13 || i == 18 || i == 23 ? text[i] != '-'
							    : !byte_is_hex(text[i]))
			return false;
	return true;
}

bool conversation_id_valid(const char *id)
{
	return starts_with_id(id) && !id[UUID_LENGTH];
}

bool conversation_name_valid(const char *name)
{
	return starts_with_id(name) && str_equal(name + UUID_LENGTH, ".jsonl");
}

const char *conversation_resumed(const struct config *config)
{
	static const char *const glued[] = { "--resume=", "-r" };
	const strings *words = &config->arguments;

	for (size_t i = 0; i < words->count && !str_equal(words->items[i], "--"); i++) {
		const char *word = words->items[i];
		const char *next = i + 1 < words->count ? words->items[i + 1] : "";

		if ((str_equal(word, "--resume") || str_equal(word, "-r")) &&
		    conversation_id_valid(next))
			return next;
		for (size_t k = 0; k < ARRAY_SIZE(glued); k++) {
			const char *value = str_after(word, glued[k]);

			if (value && conversation_id_valid(value))
				return value;
		}
	}
	return NULL;
}

bool conversation_continued(const struct config *config)
{
	const strings *words = &config->arguments;

	for (size_t i = 0; i < words->count && !str_equal(words->items[i], "--"); i++)
		if (str_equal(words->items[i], "--continue") || str_equal(words->items[i], "-c"))
			return true;
	return false;
}

// Returns whether a word is -p, --print, or letters of options with -p among them.
static bool is_print(const char *word)
{
	size_t letters = 0;

	if (str_equal(word, "--print"))
		return true;
	if (word[0] != '-' || word[1] == '-')
		return false;
	while (byte_is_lower(word[1 + letters]))
		letters++;
	return letters <= 3 && !word[1 + letters] && memchr(word + 1, 'p', letters);
}

bool conversation_is_printed(const struct config *config)
{
	const strings *words = &config->arguments;

	for (size_t i = 0; i < words->count && !str_equal(words->items[i], "--"); i++)
		if (is_print(words->items[i]))
			return true;
	return false;
}

bool conversation_offer(const struct config *config, const struct conversation_facts *found)
{
	return config->action == ACTION_LAUNCH && config->payload == PAYLOAD_CLAUDE &&
	       found->list.count && !found->answered && found->can_ask && !config->yes &&
	       config->confirm != CONFIRM_NEVER && !config->import_conversations &&
	       !conversation_is_printed(config);
}

const char *plan_conversations_name(struct arena *arena, const struct facts *facts)
{
	return arena_printf(arena, "conversations-%s",
			    digest_hex(arena, facts->project, INSTANCE_DIGITS));
}

static const char *count_conversations(struct arena *arena, size_t count)
{
	return count == 1
		       ? "1 conversation of plain claude in this directory"
		       : arena_printf(arena, "%zu conversations of plain claude in this directory",
				      count);
}

// Returns whether the host has this conversation and the box does not.
static bool is_only_on_host(const struct conversation_facts *found, const char *id)
{
	vec_each(conversation, &found->list) {
		if (strncmp(conversation->name, id, UUID_LENGTH) == 0)
			return true;
	}
	return false;
}

bool plan_build_conversations(struct plan *plan, struct arena *arena, const struct facts *facts,
			      struct error *error)
{
	const struct config *config = plan->config;
	const struct conversation_facts *found = &facts->conversations;
	const char *resumed = conversation_resumed(config);

	plan->state.conversations_name = plan_conversations_name(arena, facts);
	if (config->import_conversations && found->list.count)
		plan_warn(plan, arena,
			  "%s: copied into the box, unless a secret is found in it "
			  "(--import-conversations)",
			  count_conversations(arena, found->list.count));
	if (config->payload != PAYLOAD_CLAUDE || config->import_conversations)
		return true;
	if (resumed && is_only_on_host(found, resumed)) {
		error_set(error,
			  "conversation '%s' is not in the box: only plain claude on this machine "
			  "has it",
			  resumed);
		return error_hint(error,
				  "copy the conversations of this directory and resume it: "
				  "`claudebox --import-conversations --resume %s`",
				  resumed);
	}
	if (conversation_continued(config) && found->list.count && !found->has_own &&
	    !conversation_offer(config, found)) {
		error_set(error, "the box has no conversation to continue: only plain claude on "
				 "this machine has one");
		return error_hint(error, "copy the conversations of this directory and continue: "
					 "`claudebox --import-conversations --continue`");
	}
	if (found->list.count && !found->answered && !conversation_offer(config, found))
		vec_push(arena, &plan->left_out,
			 (struct plan_left_out){
				 .what = count_conversations(arena, found->list.count),
				 .why = "the box has conversations of its own",
				 .option = "--import-conversations" });
	return true;
}
