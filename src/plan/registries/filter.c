// SPDX-License-Identifier: MIT
// Separates the settings of package managers that pass into the box from credentials and others.
//
// Theory of operation: the table decides by the path of a setting, and every value is checked
// besides. Names and values that pass have a small set of characters, so that no syntax needs
// escapes and no value can add a setting. The login in a URL is removed and the URL passes: if the
// address itself were missing, the tool would fetch a private package's name from the public
// registry. A URL with a token in its path is replaced by an address that does not exist, for the
// same reason.
#include "plan/registries/filter.h"

#include "base/arena.h"
#include "base/text.h"
#include "config/origin.h"
#include "plan/plan.h"
#include "plan/registries/address.h"
#include "plan/registries/rules.h"
#include "plan/registries/setting.h"
#include "plan/registries/tools.h"
#include "plan/secrets/detect.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { LONGEST_VALUE = 2048, LONGEST_NAME = 200, LONGEST_SCHEME = 16 };

static bool has_only(const char *text, const char *others)
{
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr(others, *text))
			return false;
	return true;
}

// Returns whether a name can be shown and written: no blanks, no control characters, no secret.
static bool is_plain_name(const char *name)
{
	return *name && strlen(name) <= LONGEST_NAME && has_only(name, "_-.:@/*~") &&
	       !secret_text(NULL, name) && !secret_random_part(name);
}

// Returns whether a URL has a port that is none, or an '@' that neither starts a scope (/@org) nor
// follows the user of ssh. Both may be parts of a login in an unusual form.
static bool may_have_login(const char *value)
{
	const char *after_user = str_after(value, "ssh://");
	size_t user = after_user ? strspn(after_user, "abcdefghijklmnopqrstuvwxyz") : 0;
	const char *rest = user && after_user[user] == '@' ? after_user + user + 1 : value;

	for (const char *s = rest; (s = strchr(s, '@')); s++)
		if (s > value && !strchr("/,", s[-1]))
			return true;
	while ((rest = strstr(rest, "://"))) {
		size_t authority = strcspn(rest += 3, "/?#,|");
		const char *bracket = *rest == '[' ? memchr(rest, ']', authority) : NULL;
		const char *host = bracket ? bracket : rest;
		const char *colon = memchr(host, ':', authority - (size_t)(host - rest));

		if (memchr(rest, '%', authority) ||
		    (colon &&
		     strspn(colon + 1, "0123456789") != authority - (size_t)(colon + 1 - rest)))
			return true;
	}
	return false;
}

// Returns whether the address in a name, as in npm's //host/path/:_authToken, has a login or a
// token.
static bool names_secret(struct arena *arena, const char *name)
{
	const char *end = strrchr(name, ':');
	const char *address = name;

	if (str_starts(name, "//") && end)
		address = arena_printf(arena, "https:%.*s", (int)(end - name), name);
	return may_have_login(address) ||
	       (strchr(address, '/') && address_has_token(arena, address));
}

// Returns the same for a part of a path. Only bundler writes a whole address into a name: that of
// the mirrored source.
static bool is_plain_step(struct arena *arena, enum registry_tool tool, const char *name)
{
	return is_plain_name(name) && (tool == TOOL_BUNDLER || !strstr(name, "://")) &&
	       !names_secret(arena, name);
}

// Returns the name of a setting for the report, which has no secret.
static const char *show_name(struct arena *arena, enum registry_tool tool,
			     const struct rule_row *row, const struct setting *setting)
{
	for (size_t i = 0; i < setting->depth; i++)
		if (!is_plain_step(arena, tool, setting->steps[i].name))
			return arena_printf(arena, "line %zu", setting->line);
	return rule_show(arena, row, setting);
}

static void report_name(struct arena *arena, strings *list, const char *name)
{
	vec_each(known, list) {
		if (str_equal(*known, name))
			return;
	}
	vec_push(arena, list, name);
}

static bool is_harmless(struct arena *arena, const char *name, const char *value)
{
	return strlen(value) <= LONGEST_VALUE && has_only(value, "-._~:/?@!$&()*+,=%{}[]|^") &&
	       !secret_text(name, value) && !secret_random_part(value) &&
	       !(strchr(value, '/') && address_has_token(arena, value)) && !may_have_login(value);
}

// Returns the value without the logins of its URLs; stores whether there was one. The user of
// ssh://git@host is part of the address.
static const char *without_logins(struct arena *arena, const char *value, bool *ret_removed)
{
	struct text out = { .arena = arena };
	const char *scheme;

	while ((scheme = strstr(value, "://"))) {
		const char *host = scheme + 3;
		size_t authority = strcspn(host, "/?#,| ");
		const char *at = memrchr(host, '@', authority);
		bool ssh = scheme - value >= 3 && strncasecmp(scheme - 3, "ssh", 3) == 0;

		text_add_bytes(&out, value, (size_t)(host - value));
		if (at && !(ssh && !memchr(host, ':', (size_t)(at - host)))) {
			*ret_removed = true;
			host = at + 1;
		}
		value = host;
	}
	text_add(&out, value);
	return text_get(&out);
}

// Returns whether a value is an address: a URL, a reference to a variable, or a word of go's
// GOPROXY.
static bool is_address(const char *value)
{
	// The digit is that of s3://.
	size_t scheme = strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+3");
	size_t word = strcspn(value, ",|");

	return (scheme && scheme <= LONGEST_SCHEME && str_starts(value + scheme, "://")) ||
	       str_starts(value, "${") || (word == 6 && str_starts(value, "direct")) ||
	       (word == 3 && str_starts(value, "off"));
}

// Returns whether the values are files of the box. Certificates are no secrets, and a file of the
// box is none either.
static bool names_files(const struct plan *plan, const struct setting *setting)
{
	vec_each(value, &setting->values) {
		if (**value != '/' || !plan_provides(plan, *value))
			return false;
	}
	return true;
}

// Returns whether a value passes as it is. The name of a file that the box has is no secret.
static bool is_allowed(struct arena *arena, enum rule_kind kind, const char *key, const char *value)
{
	if (kind == RULE_BUNDLE)
		return strlen(value) <= LONGEST_VALUE && has_only(value, "-._~/+@");
	return is_harmless(arena, kind == RULE_ADDRESS ? NULL : key, value);
}

// Stores the values that pass. Returns false if the setting does not pass.
static bool clean_values(struct plan_registry *report, struct arena *arena, enum rule_kind kind,
			 struct setting *setting, const char *shown)
{
	const char *key = setting->steps[setting->depth - 1].name;
	strings clean = { 0 };

	vec_each(value, &setting->values) {
		bool removed = false;
		const char *kept = without_logins(arena, *value, &removed);

		if (kind == RULE_ADDRESS && !is_address(kept))
			return false;
		if (!is_allowed(arena, kind, key, kept)) {
			if (!is_address(kept) && kind != RULE_CHANNEL)
				return false;
			report_name(arena, &report->replaced, shown);
			kept = ADDRESS_LEFT_OUT;
		} else if (removed) {
			report_name(arena, &report->without_login, shown);
		}
		vec_push(arena, &clean, kept);
	}
	setting->values = clean;
	return clean.count > 0;
}

// Returns whether the user passes this variable to the box. One that every box has, such as HOME,
// is no login.
static bool is_passed(const struct plan *plan, const char *name)
{
	vec_each(variable, &plan->variables) {
		if (str_equal(variable->name, name))
			return variable->origin.kind == ORIGIN_REQUESTED;
	}
	return false;
}

// Returns the tools that replace "${NAME}" in their settings by the variable, and the prefix of
// its name; NULL: the tool does not.
static const char *variable_prefix(enum registry_tool tool)
{
	switch (tool) {
	case TOOL_NPM:
	case TOOL_YARN:
	case TOOL_YARN_1:
	case TOOL_CONDA:
		return "${";
	case TOOL_MAVEN:
		return "${env.";
	default:
		return NULL;
	}
}

// Returns the name of the first variable that a text refers to, NULL: none; stores the rest.
static const char *next_variable(struct arena *arena, enum registry_tool tool, const char *text,
				 const char **ret_rest)
{
	const char *prefix = variable_prefix(tool);

	for (const char *s = text; prefix && (s = strstr(s, prefix));) {
		size_t length = strcspn(s += strlen(prefix), "}:?-");

		if (!s[length] || !env_name_valid(s, length))
			continue;
		*ret_rest = s + length;
		return arena_strndup(arena, s, length);
	}
	return NULL;
}

// Returns the variable that is all of a setting's value, as in "${NAME}"; NULL: none is.
static const char *login_variable(struct arena *arena, enum registry_tool tool,
				  const struct setting *setting)
{
	const char *value = setting->values.count == 1 ? setting->values.items[0] : "";
	const char *prefix = variable_prefix(tool);
	const char *rest = "";
	const char *name = prefix && str_starts(value, prefix)
				   ? next_variable(arena, tool, value, &rest)
				   : NULL;

	return str_equal(rest, "}") ? name : NULL;
}

// Returns whether a login of this setting passes: it is a variable that the user passes.
static bool is_passed_login(struct arena *arena, const struct plan *plan, enum registry_tool tool,
			    const struct setting *setting)
{
	const char *name = login_variable(arena, tool, setting);

	return name && is_passed(plan, name);
}

// Returns whether a setting is the id or the user of a server of Maven whose password is a variable
// that the user passes. The password has no effect without them.
static bool belongs_to_login(struct arena *arena, const struct plan *plan, const setting_list *list,
			     const struct setting *setting)
{
	const char *key = setting->steps[setting->depth - 1].name;

	if (setting->depth != 3 || !str_equal(setting->steps[0].name, "servers") ||
	    (!str_equal(key, "id") && !str_equal(key, "username")) || setting->values.count != 1 ||
	    !is_harmless(arena, NULL, setting->values.items[0]))
		return false;
	vec_each(other, list) {
		if (other->depth == 3 && setting_same_path(other, setting, 2) &&
		    str_equal(other->steps[2].name, "password") &&
		    is_passed_login(arena, plan, TOOL_MAVEN, other))
			return true;
	}
	return false;
}

// Records the variables that the values of a setting refer to and that the box lacks.
static void report_variables(struct plan_registry *report, struct arena *arena,
			     const struct plan *plan, enum registry_tool tool,
			     const struct setting *setting)
{
	vec_each(value, &setting->values) {
		const char *rest = *value;
		const char *name;

		while ((name = next_variable(arena, tool, rest, &rest)))
			if (!plan_variable(plan, name))
				report_name(arena, &report->variables, name);
	}
}

static void keep(struct arena *arena, setting_list *kept, const struct setting *setting)
{
	vec_each(before, kept) {
		if (before->depth == setting->depth && !before->list &&
		    setting_same_path(before, setting, setting->depth)) {
			*before = *setting;
			return;
		}
	}
	vec_push(arena, kept, *setting);
}

// What a file is filtered with.
struct filtering {
	struct plan_registry *report;
	struct arena *arena;
	const struct plan *plan;
	enum registry_tool tool;
	const setting_list *list; // all of its settings
};

static void filter_setting(const struct filtering *by, struct setting setting, setting_list *kept)
{
	struct plan_registry *report = by->report;
	struct arena *arena = by->arena;
	const struct rule_row *row = rule_find(by->tool, &setting);
	enum rule_kind kind = row ? row->kind : RULE_LEFT_OUT;
	const char *shown = show_name(arena, by->tool, row, &setting);
	bool login = kind == RULE_CREDENTIAL && is_plain_name(shown);
	bool passes = (kind == RULE_ADDRESS || kind == RULE_WORD || kind == RULE_CHANNEL ||
		       (kind == RULE_BUNDLE && names_files(by->plan, &setting))) &&
		      !setting.unreadable;

	if (!setting.unreadable && (!setting.values.count || !*setting.values.items[0]))
		return; // a key with others below it, or without a value
	for (size_t i = 0; i < setting.depth; i++)
		if (!is_plain_step(arena, by->tool, setting.steps[i].name))
			passes = login = false;
	passes = passes && clean_values(report, arena, kind, &setting, shown);
	if (passes || (login && login_variable(arena, by->tool, &setting)))
		report_variables(report, arena, by->plan, by->tool, &setting);
	if (passes || (login && (is_passed_login(arena, by->plan, by->tool, &setting) ||
				 (by->tool == TOOL_MAVEN &&
				  belongs_to_login(arena, by->plan, by->list, &setting)))))
		keep(arena, kept, &setting);
	else if (kind == RULE_CREDENTIAL)
		report_name(arena, &report->credentials, shown);
	else
		report_name(arena, kind == RULE_QUIET ? &report->unused : &report->left_out, shown);
}

void registries_filter(struct plan_registry *report, struct arena *arena, const struct plan *plan,
		       enum registry_tool tool, const setting_list *list, setting_list *kept)
{
	struct filtering by = {
		.report = report, .arena = arena, .plan = plan, .tool = tool, .list = list
	};

	vec_each(setting, list)
		filter_setting(&by, *setting, kept);
}
