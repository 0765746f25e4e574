// SPDX-License-Identifier: MIT
// Answers Claude's first-run questions in the instance's .claude.json.
#include "plan/claude/first_run.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/text.h"
#include "plan/mcp/account.h"

#include <string.h>

// The number of characters by which Claude recognises a key. They must not be most of the key.
enum { API_KEY_TAIL = 20, API_KEY_SHORTEST = 2 * API_KEY_TAIL };

bool first_run_approves(const char *api_key)
{
	return strlen(api_key) >= API_KEY_SHORTEST;
}

// Removes the approvals of all API keys but the present one, so that the end of a key stays on the
// disk only as long as it is passed in. `tail`: the end of the present key, NULL: none.
static void forget_keys(json_t *account, const char *tail)
{
	json_t *approved =
		json_object_get(json_object_get(account, "customApiKeyResponses"), "approved");

	for (size_t i = json_array_size(approved); i-- > 0;)
		if (!tail || !str_equal(json_string_value(json_array_get(approved, i)), tail))
			json_array_remove(approved, i);
}

// Approves an API key. Claude asks before it uses a key from the environment unless the key's last
// characters are in this list.
static void approve_key(json_t *account, const char *tail)
{
	json_t *responses = json_get_or_add_object(account, "customApiKeyResponses");
	json_t *approved = json_object_get(responses, "approved");
	json_t *known;
	size_t i;

	if (!json_is_array(approved)) {
		approved = json_array();
		json_object_set_new(responses, "approved", approved);
	}
	json_array_foreach(approved, i, known)
		if (str_equal(json_string_value(known), tail))
			return;
	json_array_append_new(approved, json_string(tail));
}

// Merges the user's preferences and MCP servers.
static void merge_user(json_t *account, const struct first_run_account *user)
{
	JSON_OWNED *base = json_read_object(user->base, 0);
	JSON_OWNED *host = json_read_object(user->host, 0);

	account_merge(user->mode, account, base, host, user->root);
}

const char *first_run_render(struct arena *arena, const char *existing,
			     const struct first_run_account *user, const char *project,
			     const char *api_key, bool approve)
{
	size_t length = api_key ? strlen(api_key) : 0;
	const char *tail = length > API_KEY_TAIL ? api_key + length - API_KEY_TAIL : api_key;
	JSON_OWNED *before = json_read_object(existing, 0);
	JSON_OWNED *account = before ? json_deep_copy(before) : json_object();
	json_t *here;

	if (user)
		merge_user(account, user);
	json_object_set_new(account, "hasCompletedOnboarding", json_true());
	json_object_set_new(account, "bypassPermissionsModeAccepted", json_true());
	here = json_get_or_add_object(json_get_or_add_object(account, "projects"), project);
	json_object_set_new(here, "hasTrustDialogAccepted", json_true());
	json_object_set_new(here, "hasCompletedProjectOnboarding", json_true());
	// A file outside the project that CLAUDE.md imports is either mounted on purpose or not in
	// the box at all, so the import needs no question.
	json_object_set_new(here, "hasClaudeMdExternalIncludesWarningShown", json_true());
	json_object_set_new(here, "hasClaudeMdExternalIncludesApproved", json_true());
	if (!user || user->mode == MERGE_ALL)
		forget_keys(account, tail);
	if (approve && api_key && first_run_approves(api_key))
		approve_key(account, tail);
	return before && json_equal(before, account) ? NULL
						     : json_write(arena, account, JSON_INDENT(2));
}
