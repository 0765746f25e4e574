// SPDX-License-Identifier: MIT
// The tables of claude's options and sub-commands.
//
// The rows are the union of Claude Code 2.1.325 and 2.1.100, with the options that `claude --help`
// hides. A row has three uses: it tells a misspelled option of claudebox from an option of claude,
// it says which words are values, so that the sub-command is found, and it says which values are
// paths that the box needs.
#include "config/claude/options.h"

#include "base/arena.h"
#include "base/text.h"

#include <string.h>

static const struct claude_answer background = {
	"a session in the background ends with its box, and the box ends when claude returns",
	"leave it out, or start claudebox in another terminal, for example in tmux",
};
static const struct claude_answer sessions = {
	"a box has no sessions in the background",
	"for those of plain claude, run `claude` itself with the same words outside of a box",
};
static const struct claude_answer installation = {
	"claude is mounted read-only, and the box cannot change it",
	"run `claude` itself with the same words outside of a box; the next box has the new "
	"version. To ask Claude, write the request as one word in quotes",
};

const struct claude_option claude_option_table[] = {
	{ "add-dir", NULL, CLAUDE_VALUE_MANY, .path = CLAUDE_PATH_READ },
	{ "advisor", NULL, CLAUDE_VALUE_ONE },
	{ "agent", NULL, CLAUDE_VALUE_ONE },
	{ "agent-color", NULL, CLAUDE_VALUE_ONE },
	{ "agent-id", NULL, CLAUDE_VALUE_ONE },
	{ "agent-name", NULL, CLAUDE_VALUE_ONE },
	{ "agent-type", NULL, CLAUDE_VALUE_ONE },
	{ "agents", NULL, CLAUDE_VALUE_ONE, .path = CLAUDE_PATH_OR_JSON },
	{ "agents-view-if-allowed", NULL, CLAUDE_VALUE_NONE },
	{ "allow-dangerously-skip-permissions", NULL, CLAUDE_VALUE_NONE },
	{ "allow-other-models", NULL, CLAUDE_VALUE_NONE },
	{ "allowed-tools", NULL, CLAUDE_VALUE_MANY },
	{ "allowedTools", NULL, CLAUDE_VALUE_MANY },
	{ "append-subagent-system-prompt", NULL, CLAUDE_VALUE_ONE },
	{ "append-subagent-system-prompt-file", NULL, CLAUDE_VALUE_ONE, .path = CLAUDE_PATH_READ },
	{ "append-system-prompt", NULL, CLAUDE_VALUE_ONE },
	{ "append-system-prompt-file", NULL, CLAUDE_VALUE_ONE, .path = CLAUDE_PATH_READ },
	{ "attach-serve", NULL, CLAUDE_VALUE_ONE },
	{ "autocompact", NULL, CLAUDE_VALUE_ONE },
	{ "await-claim", NULL, CLAUDE_VALUE_NONE },
	{ "await-initialize", NULL, CLAUDE_VALUE_NONE },
	{ "ax-screen-reader", NULL, CLAUDE_VALUE_NONE },
	{ "bare", NULL, CLAUDE_VALUE_NONE },
	{ "betas", NULL, CLAUDE_VALUE_MANY },
	{ "brief", NULL, CLAUDE_VALUE_NONE },
	{ "channels", NULL, CLAUDE_VALUE_MANY },
	{ "chrome", NULL, CLAUDE_VALUE_NONE },
	{ "client-data-url", NULL, CLAUDE_VALUE_ONE },
	{ "cloud", NULL, CLAUDE_VALUE_OPTIONAL },
	{ "continue", "c", CLAUDE_VALUE_NONE },
	{ "correlation-id", NULL, CLAUDE_VALUE_ONE },
	{ "dangerously-load-development-channels", NULL, CLAUDE_VALUE_MANY },
	{ "dangerously-skip-permissions", NULL, CLAUDE_VALUE_NONE },
	{ "debug", "d", CLAUDE_VALUE_OPTIONAL },
	{ "debug-file", NULL, CLAUDE_VALUE_ONE, .path = CLAUDE_PATH_WRITTEN },
	{ "debug-to-stderr", "d2e", CLAUDE_VALUE_NONE },
	{ "deep-link-cwd-b64", NULL, CLAUDE_VALUE_ONE },
	{ "deep-link-last-fetch", NULL, CLAUDE_VALUE_ONE },
	{ "deep-link-origin", NULL, CLAUDE_VALUE_NONE },
	{ "deep-link-repo", NULL, CLAUDE_VALUE_ONE },
	{ "desktop", NULL, CLAUDE_VALUE_NONE },
	{ "disable-slash-commands", NULL, CLAUDE_VALUE_NONE },
	{ "disallowed-tools", NULL, CLAUDE_VALUE_MANY },
	{ "disallowedTools", NULL, CLAUDE_VALUE_MANY },
	{ "effort", NULL, CLAUDE_VALUE_ONE },
	{ "enable-auth-status", NULL, CLAUDE_VALUE_NONE },
	{ "enable-auto-mode", NULL, CLAUDE_VALUE_NONE },
	{ "environment", NULL, CLAUDE_VALUE_ONE },
	{ "exclude-dynamic-system-prompt-sections", NULL, CLAUDE_VALUE_NONE },
	{ "fallback-model", NULL, CLAUDE_VALUE_ONE },
	{ "fast-mode", NULL, CLAUDE_VALUE_ONE },
	{ "file", NULL, CLAUDE_VALUE_MANY },
	{ "fork-session", NULL, CLAUDE_VALUE_NONE },
	{ "forward-home-settings", NULL, CLAUDE_VALUE_ONE },
	{ "forward-subagent-text", NULL, CLAUDE_VALUE_NONE },
	{ "from-pr", NULL, CLAUDE_VALUE_OPTIONAL },
	{ "help", "h", CLAUDE_VALUE_NONE },
	{ "host-auth-is-org-sign-in", NULL, CLAUDE_VALUE_NONE },
	{ "ide", NULL, CLAUDE_VALUE_NONE },
	{ "include-hook-events", NULL, CLAUDE_VALUE_NONE },
	{ "include-partial-messages", NULL, CLAUDE_VALUE_NONE },
	{ "include-unsupported-models", NULL, CLAUDE_VALUE_NONE },
	{ "inherit-permission-mode", NULL, CLAUDE_VALUE_ONE },
	{ "init", NULL, CLAUDE_VALUE_NONE },
	{ "init-only", NULL, CLAUDE_VALUE_NONE },
	{ "input-format", NULL, CLAUDE_VALUE_ONE },
	{ "json-schema", NULL, CLAUDE_VALUE_ONE },
	{ "lead-verify-key", NULL, CLAUDE_VALUE_ONE },
	{ "maintenance", NULL, CLAUDE_VALUE_NONE },
	{ "managed-settings", NULL, CLAUDE_VALUE_ONE },
	{ "managed-settings-in-initialize", NULL, CLAUDE_VALUE_NONE },
	{ "max-budget-usd", NULL, CLAUDE_VALUE_ONE },
	{ "max-thinking-tokens", NULL, CLAUDE_VALUE_ONE },
	{ "max-turns", NULL, CLAUDE_VALUE_ONE },
	{ "mcp-config", NULL, CLAUDE_VALUE_MANY, .path = CLAUDE_PATH_OR_JSON },
	{ "mcp-debug", NULL, CLAUDE_VALUE_NONE },
	{ "messaging-socket-path", NULL, CLAUDE_VALUE_ONE },
	{ "model", NULL, CLAUDE_VALUE_ONE },
	{ "name", "n", CLAUDE_VALUE_ONE },
	{ "no-chrome", NULL, CLAUDE_VALUE_NONE },
	{ "no-session-persistence", NULL, CLAUDE_VALUE_NONE },
	{ "on-branch", NULL, CLAUDE_VALUE_ONE },
	{ "output-format", NULL, CLAUDE_VALUE_ONE },
	{ "parent-session-id", NULL, CLAUDE_VALUE_ONE },
	{ "permission-mode", NULL, CLAUDE_VALUE_ONE },
	{ "permission-prompt-tool", NULL, CLAUDE_VALUE_ONE },
	{ "permission-prompts", NULL, CLAUDE_VALUE_ONE },
	{ "plan-mode-instructions", NULL, CLAUDE_VALUE_ONE },
	{ "plan-mode-required", NULL, CLAUDE_VALUE_NONE },
	{ "plugin-dir", NULL, CLAUDE_VALUE_ONE, .path = CLAUDE_PATH_READ },
	{ "plugin-dir-no-mcp", NULL, CLAUDE_VALUE_ONE, .path = CLAUDE_PATH_READ },
	{ "plugin-url", NULL, CLAUDE_VALUE_ONE },
	{ "pool", NULL, CLAUDE_VALUE_ONE },
	{ "prefill", NULL, CLAUDE_VALUE_ONE },
	{ "prefill-b64", NULL, CLAUDE_VALUE_ONE },
	{ "print", "p", CLAUDE_VALUE_NONE },
	{ "proactivity", NULL, CLAUDE_VALUE_ONE },
	{ "project-config-root", NULL, CLAUDE_VALUE_ONE, .path = CLAUDE_PATH_READ },
	{ "prompt-suggestions", NULL, CLAUDE_VALUE_OPTIONAL },
	{ "rc", NULL, CLAUDE_VALUE_OPTIONAL },
	{ "ref", NULL, CLAUDE_VALUE_ONE },
	{ "remote", NULL, CLAUDE_VALUE_OPTIONAL },
	{ "remote-control", NULL, CLAUDE_VALUE_OPTIONAL },
	{ "remote-control-session-name-prefix", NULL, CLAUDE_VALUE_ONE },
	{ "replay-user-messages", NULL, CLAUDE_VALUE_NONE },
	{ "reply-on-resume", NULL, CLAUDE_VALUE_NONE },
	{ "restricted", NULL, CLAUDE_VALUE_NONE },
	{ "resume", "r", CLAUDE_VALUE_OPTIONAL },
	{ "resume-drops-turn", NULL, CLAUDE_VALUE_ONE },
	{ "resume-session-at", NULL, CLAUDE_VALUE_ONE },
	{ "rewind-files", NULL, CLAUDE_VALUE_ONE },
	{ "runner-declares", NULL, CLAUDE_VALUE_ONE },
	{ "safe-mode", NULL, CLAUDE_VALUE_NONE },
	{ "sdk-url", NULL, CLAUDE_VALUE_ONE },
	{ "session-began-as-copy", NULL, CLAUDE_VALUE_ONE },
	{ "session-id", NULL, CLAUDE_VALUE_ONE },
	{ "session-mirror", NULL, CLAUDE_VALUE_NONE },
	{ "setting-sources", NULL, CLAUDE_VALUE_ONE },
	{ "settings", NULL, CLAUDE_VALUE_ONE, .path = CLAUDE_PATH_OR_JSON },
	{ "strict-mcp-config", NULL, CLAUDE_VALUE_NONE },
	{ "system-prompt", NULL, CLAUDE_VALUE_ONE },
	{ "system-prompt-file", NULL, CLAUDE_VALUE_ONE, .path = CLAUDE_PATH_READ },
	{ "system-prompt-snapshot", NULL, CLAUDE_VALUE_ONE },
	{ "task-budget", NULL, CLAUDE_VALUE_ONE },
	{ "team-name", NULL, CLAUDE_VALUE_ONE },
	{ "teammate-mode", NULL, CLAUDE_VALUE_ONE },
	{ "teleport", NULL, CLAUDE_VALUE_OPTIONAL },
	{ "thinking", NULL, CLAUDE_VALUE_ONE },
	{ "thinking-display", NULL, CLAUDE_VALUE_ONE },
	{ "tmux", NULL, CLAUDE_VALUE_NONE },
	{ "tools", NULL, CLAUDE_VALUE_MANY },
	{ "verbose", NULL, CLAUDE_VALUE_NONE },
	{ "version", "v", CLAUDE_VALUE_NONE },
	{ "watch-artifact", NULL, CLAUDE_VALUE_ONE },
	{ "watch-artifact-no-autoreact", NULL, CLAUDE_VALUE_ONE },
	{ "workload", NULL, CLAUDE_VALUE_ONE },
	{ "worktree", "w", CLAUDE_VALUE_OPTIONAL },
	{ "background", NULL, CLAUDE_VALUE_NONE, .answer = &background },
	{ "bg", NULL, CLAUDE_VALUE_NONE, .answer = &background },
};
const size_t claude_option_count = ARRAY_SIZE(claude_option_table);

const struct claude_command claude_command_table[] = {
	{ .name = "agents" },
	{ .name = "auth" },
	{ .name = "auto-mode" },
	{ .name = "config" }, // of earlier versions
	{ .name = "design-login" },
	{ .name = "doctor" },
	{ .name = "edit-chrome-settings" },
	{ .name = "edit-hook" },
	{ .name = "edit-memory-settings" },
	{ .name = "edit-permission-rules" },
	{ .name = "edit-sandbox-settings" },
	{ .name = "edit-skill-overrides" },
	{ .name = "gateway" },
	{ .name = "import" },
	{ .name = "import-conversations" },
	{ .name = "mcp" },
	{ .name = "plugin" },
	{ .name = "plugins" },
	{ .name = "project" },
	{ .name = "purge" },
	{ .name = "sandbox" },
	{ .name = "setup-token" },
	{ .name = "ultrareview" },
	{ .name = "workspace-trust" },
	{ .name = "worktree-hook" },
	// Remote Control runs in the foreground, and its sessions are processes of the box.
	{ .name = "bridge", .first = true },
	{ .name = "rc", .first = true },
	{ .name = "remote", .first = true },
	{ .name = "remote-control", .first = true },
	{ .name = "self-hosted-runner", .first = true },
	{ .name = "sync", .first = true },
	{ .name = "attach", .first = true, .answer = &sessions },
	{ .name = "daemon", .first = true, .answer = &sessions },
	{ .name = "kill", .first = true, .answer = &sessions },
	{ .name = "logs", .first = true, .answer = &sessions },
	{ .name = "respawn", .first = true, .answer = &sessions },
	{ .name = "rm", .first = true, .answer = &sessions },
	{ .name = "stop", .first = true, .answer = &sessions },
	{ .name = "install", .answer = &installation },
	{ .name = "migrate-installer", .answer = &installation }, // of earlier versions
	{ .name = "update", .answer = &installation },
	{ .name = "upgrade", .answer = &installation },
};
const size_t claude_command_count = ARRAY_SIZE(claude_command_table);

static bool is_word(const char *word, size_t length, const char *known)
{
	return known && strlen(known) == length && strncmp(word, known, length) == 0;
}

const struct claude_option *claude_option_find(const char *name, size_t length)
{
	for (size_t i = 0; i < claude_option_count; i++)
		if (is_word(name, length, claude_option_table[i].name))
			return &claude_option_table[i];
	return NULL;
}

const struct claude_option *claude_option_find_letter(const char *letter, size_t length)
{
	for (size_t i = 0; i < claude_option_count; i++)
		if (is_word(letter, length, claude_option_table[i].letter))
			return &claude_option_table[i];
	return NULL;
}

const struct claude_command *claude_command_find(const char *word)
{
	for (size_t i = 0; i < claude_command_count; i++)
		if (str_equal(word, claude_command_table[i].name))
			return &claude_command_table[i];
	return NULL;
}
