// SPDX-License-Identifier: MIT
// The preferences in the user's .claude.json that come along: how Claude looks and reacts.
//
// Newer versions of Claude keep some of these names in settings.json, which comes along as well,
// and read them in .claude.json as a fallback. The names are those that `claude config` knew
// (2.1.100, 2.1.325). No row: env and apiKeyHelper (credentials), installMethod and autoUpdates
// (claude is read-only in the box), autoConnectIde and claudeInChrome* (the IDE and the browser are
// outside), remoteControl*, agentPushNotifEnabled and autoUploadSessions (they send the session
// elsewhere), and everything about accounts, projects and history.
#include "plan/claude/preferences.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/text.h"
#include "plan/secrets/detect.h"

#include <string.h>

enum { LONGEST_WORD = 40 };

const struct preference_row preference_table[] = {
	{ "theme", PREFERENCE_WORD, "colours" },
	{ "editorMode", PREFERENCE_WORD, "keys of the prompt" },
	{ "shiftEnterKeyBindingInstalled", PREFERENCE_SWITCH, "keys of the prompt" },
	{ "hasUsedBackslashReturn", PREFERENCE_SWITCH, "a hint that was understood" },
	{ "leftArrowOpensAgents", PREFERENCE_SWITCH, "keys of the prompt" },
	{ "externalEditorContext", PREFERENCE_SWITCH, "what an editor for the prompt shows" },
	{ "verbose", PREFERENCE_SWITCH, "how much of a result is shown" },
	{ "briefTranscript", PREFERENCE_SWITCH, "how much of a result is shown" },
	{ "showTurnDuration", PREFERENCE_SWITCH, "what the screen shows" },
	{ "showMessageTimestamps", PREFERENCE_SWITCH, "what the screen shows" },
	{ "showExpandedTodos", PREFERENCE_SWITCH, "what the screen shows" },
	{ "diffSidebarOpen", PREFERENCE_SWITCH, "what the screen shows" },
	{ "prStatusFooterEnabled", PREFERENCE_SWITCH, "what the screen shows" },
	{ "permissionExplainerEnabled", PREFERENCE_SWITCH, "what the screen shows" },
	{ "autoScrollEnabled", PREFERENCE_SWITCH, "what the screen shows" },
	{ "diffTool", PREFERENCE_WORD, "where differences are shown" },
	{ "terminalProgressBarEnabled", PREFERENCE_SWITCH, "sequences for the terminal" },
	{ "showStatusInTerminalTab", PREFERENCE_SWITCH, "sequences for the terminal" },
	{ "copyOnSelect", PREFERENCE_SWITCH, "what is copied" },
	{ "copyFullResponse", PREFERENCE_SWITCH, "what is copied" },
	{ "preferredNotifChannel", PREFERENCE_WORD, "notifications of the terminal" },
	{ "messageIdleNotifThresholdMs", PREFERENCE_NUMBER, "notifications of the terminal" },
	{ "taskCompleteNotifEnabled", PREFERENCE_SWITCH, "notifications of the terminal" },
	{ "inputNeededNotifEnabled", PREFERENCE_SWITCH, "notifications of the terminal" },
	{ "autoCompactEnabled", PREFERENCE_SWITCH, "when a conversation is summarised" },
	{ "todoFeatureEnabled", PREFERENCE_SWITCH, "the list of tasks" },
	{ "respectGitignore", PREFERENCE_SWITCH, "which files the prompt suggests" },
	{ "fileCheckpointingEnabled", PREFERENCE_SWITCH, "copies of files for /rewind" },
	{ "lspRecommendationDisabled", PREFERENCE_SWITCH, "an advice that is not wanted" },
};
const size_t preference_count = ARRAY_SIZE(preference_table);

static bool is_word(const json_t *value)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_:";
	const char *text = json_string_value(value);

	return text && *text && strlen(text) <= LONGEST_WORD && !text[strspn(text, letters)] &&
	       !secret_value(text) && !secret_random_part(text);
}

bool preference_passes(const char *name, const json_t *value)
{
	for (size_t i = 0; i < preference_count; i++) {
		const struct preference_row *row = &preference_table[i];

		if (str_equal(row->name, name))
			return row->kind == PREFERENCE_SWITCH ? json_is_boolean(value)
			       : row->kind == PREFERENCE_WORD ? is_word(value)
							      : json_is_integer(value);
	}
	return false;
}
