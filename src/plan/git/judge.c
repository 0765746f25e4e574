// SPDX-License-Identifier: MIT
// Judges the values of git settings that a row of the table lets in.
#include "base/arena.h"
#include "base/text.h"
#include "plan/git/alias.h"
#include "plan/git/facts.h"
#include "plan/git/rules.h"
#include "plan/git/settings.h"
#include "plan/registries/address.h"
#include "plan/secrets/detect.h"

#include <string.h>

enum { WORD_LIMIT = 256 };

// The values that `git lfs install` writes, with and without --skip-smudge.
static const struct git_setting lfs_values[] = {
	{ "filter.lfs.clean", "git-lfs clean -- %f" },
	{ "filter.lfs.smudge", "git-lfs smudge -- %f" },
	{ "filter.lfs.smudge", "git-lfs smudge --skip -- %f" },
	{ "filter.lfs.process", "git-lfs filter-process" },
	{ "filter.lfs.process", "git-lfs filter-process --skip" },
	{ "filter.lfs.required", "true" },
	{ "filter.lfs.required", "false" },
};

// Returns whether a value is one word or a list. A path outside of the project is none.
static bool is_word(const char *value)
{
	return git_value_is_text(value) && !strpbrk(value, "\n\t\"'\\`$|&<>") &&
	       !(*value && strchr("/~!", *value)) && !strstr(value, "..") &&
	       strlen(value) <= WORD_LIMIT;
}

static bool has_secret(const char *text)
{
	size_t start;
	size_t length;

	return text && secret_find(text, &start, &length);
}

// Returns whether an address has a user. Programs read odd spellings in different ways, so an '@'
// passes in one form alone: ssh://ACCOUNT@host, ACCOUNT@host:path. A port consists of digits.
static bool has_user(const char *address)
{
	const char *ssh = str_after(address, "ssh://");
	const char *rest = ssh ? ssh : address;
	size_t account = strspn(rest, "abcdefghijklmnopqrstuvwxyz0123456789_.-");
	size_t scheme;
	const char *colon;

	if (account && rest[account] == '@' && (ssh || !strstr(rest, "://")))
		rest += account + 1;
	if (strchr(rest, '@') || strcasestr(rest, "%40"))
		return true;
	scheme = strspn(address, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+");
	if (!ssh && !str_starts(address + scheme, ":/"))
		return false;
	rest = ssh ? rest : address + scheme + 1 + strspn(address + scheme + 1, "/");
	colon = *rest == '[' ? strstr(rest, "]:") : memchr(rest, ':', strcspn(rest, "/?#"));
	if (!colon)
		return false;
	colon += *colon == ']' ? 2 : 1;
	return strspn(colon, "0123456789") != strcspn(colon, "/?#");
}

static bool is_web(const char *address)
{
	return str_starts(address, "https://") || str_starts(address, "http://") ||
	       str_starts(address, "git://");
}

// The name of an account on an SSH server is no secret. Before a web address it may be a token.
static bool has_login(struct arena *arena, const char *address)
{
	return has_secret(address) || has_user(address) ||
	       (is_web(address) && address_has_token(arena, address));
}

// Returns whether a word of an alias is an address with a login, in any spelling.
static bool alias_has_login(struct arena *arena, const char *value)
{
	strings words = git_alias_words(arena, value);

	vec_each(word, &words) {
		if (*word && (has_secret(*word) || (strstr(*word, ":/") && has_user(*word))))
			return true;
	}
	return false;
}

// Judges [url "BASE"] insteadOf = PREFIX.
static enum git_rule judge_address(struct arena *arena, const struct git_setting *setting)
{
	struct git_name name = git_name_split(arena, setting->name);
	const char *base = name.subsection;
	const char *prefix = setting->value ? setting->value : "";
	bool web = is_web(base);
	bool ssh = !web && (str_starts(base, "ssh://") ||
			    (!strstr(base, "://") && strcspn(base, ":") < strcspn(base, "/")));

	if (!git_value_is_text(base) || !git_value_is_text(prefix))
		return GIT_FORM;
	if (has_login(arena, base) || has_login(arena, prefix))
		return GIT_SECRET;
	// "name::address" runs the program git-remote-name.
	if (strstr(base, "::") || *base == '-' || (!web && !ssh))
		return GIT_LOCAL_ADDRESS;
	// Without a key, an address that every user can read would no longer work.
	if (ssh && is_web(prefix) && str_equal(name.key, "insteadof"))
		return GIT_SSH;
	return GIT_WORD;
}

static enum git_rule judge_lfs(struct arena *arena, const struct git_setting *setting, bool lfs)
{
	struct git_name name = git_name_split(arena, setting->name);

	if (!str_equal(name.subsection, "lfs"))
		return str_equal(name.key, "required") ? GIT_QUIET : GIT_FILTERS;
	for (size_t i = 0; i < ARRAY_SIZE(lfs_values); i++)
		if (str_equal(lfs_values[i].name, setting->name) &&
		    str_equal(lfs_values[i].value, setting->value ? setting->value : "true"))
			return lfs ? GIT_WORD : GIT_QUIET;
	return GIT_FILTERS;
}

const char *git_identity_value(const struct git_setting *setting, const char *fallback)
{
	return setting && setting->value && !has_secret(setting->value) ? setting->value : fallback;
}

enum git_rule git_judge(struct arena *arena, const struct git_setting *setting, bool lfs)
{
	const struct git_rule_row *row = git_rule_find(arena, setting->name);
	const char *value = setting->value ? setting->value : "true";
	const char *subsection = git_name_split(arena, setting->name).subsection;
	bool passes = true;

	switch (row ? row->rule : GIT_QUIET) {
	case GIT_WORD:
		passes = is_word(value);
		break;
	case GIT_TEXT:
		passes = git_value_is_text(value);
		break;
	case GIT_FILE: // a file of the project, or none at all; others are copied
		if (!is_word(value))
			return GIT_QUIET;
		break;
	case GIT_ALIAS:
		if (!setting->value || !git_value_is_text(value))
			return GIT_FORM;
		if (!git_alias_is_plain(arena, value))
			return GIT_ALIAS_PROGRAM;
		if (alias_has_login(arena, value))
			return GIT_SECRET;
		break;
	case GIT_IDENTITY:
		return has_secret(value) ? GIT_SECRET : GIT_QUIET;
	case GIT_ADDRESS:
		return judge_address(arena, setting);
	case GIT_LFS:
		return judge_lfs(arena, setting, lfs);
	case GIT_CONNECTION: // sslVerify = false matters too
		return GIT_CONNECTION;
	default: // an empty or false value changes nothing
		return row && git_setting_is_true(setting) ? row->rule : GIT_QUIET;
	}
	if (!passes || (subsection && !git_value_is_text(subsection)) ||
	    (subsection && strchr(subsection, '\n')))
		return GIT_FORM;
	return has_secret(value) || has_secret(subsection) ? GIT_SECRET : GIT_WORD;
}
