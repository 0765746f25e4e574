// SPDX-License-Identifier: MIT
// The tables of the plan: each row has a reason, no two rows contradict each other, every
// enumeration has names.
#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "check.h"
#include "config/config.h"
#include "config/names.h"
#include "config/options/table.h"
#include "fixture.h"
#include "plan/plan.h"
#include "plan/secrets/detect.h"
#include "plan/secrets/places.h"
#include "plan/tables.h"
#include "render/audit/parts.h"
#include "render/json.h"

#include <string.h>

#define HOME "/home/user"

static struct arena arena;

static bool is_reason(const char *text)
{
	return text && *text && strlen(text) < 60 && text[strlen(text) - 1] != '.';
}

static const char *expand(const char *path)
{
	return path_expand_home(&arena, path, HOME);
}

static bool is_place(const char *path)
{
	const char *expanded = expand(path);

	return expanded[0] == '/' && str_equal(path_clean(&arena, expanded), expanded);
}

static void test_system(void)
{
	for (size_t i = 0; i < system_table_count; i++) {
		const char *path = system_table[i].path;

		CHECK_CASE(is_place(path) && is_reason(system_table[i].why), path);
		CHECK_CASE(!path_within(HOME, path) && !path_within(path, HOME), path);
		for (size_t k = 0; k < secret_table_count; k++) {
			const char *secret = expand(secret_table[k].path);

			if (path_within(secret, path) || path_within(path, secret))
				CHECK_CASE(false,
					   arena_printf(&arena, "%s and secret %s", path, secret));
		}
		for (size_t k = 0; k < i; k++)
			if (path_within(path, system_table[k].path))
				CHECK_CASE(false, arena_printf(&arena, "%s is in %s already", path,
							       system_table[k].path));
	}
}

static void test_secrets(void)
{
	// Places that the requirements name.
	static const char *const promised[] = {
		"~/.ssh",
		"~/.gnupg",
		"~/.aws",
		"~/.azure",
		"~/.config/gcloud",
		"~/.kube",
		"~/.docker",
		"~/.netrc",
		"~/.npmrc",
		"~/.pypirc",
		"~/.git-credentials",
		"~/.config/gh",
		"~/.password-store",
		"~/.config/sops",
		"~/.config/age",
		"~/.local/share/keyrings",
		"~/.mozilla",
		"~/.config/google-chrome",
		"~/.config/chromium",
		"~/.bash_history",
		"~/.zsh_history",
		"/var/lib/tailscale",
	};

	for (size_t i = 0; i < secret_table_count; i++) {
		CHECK_CASE(is_place(secret_table[i].path) && is_reason(secret_table[i].what),
			   secret_table[i].path);
		for (size_t k = 0; k < i; k++)
			if (str_equal(secret_table[i].path, secret_table[k].path))
				CHECK_CASE(false, secret_table[i].path);
	}
	for (size_t i = 0; i < ARRAY_SIZE(promised); i++) {
		bool found = false;

		for (size_t k = 0; k < secret_table_count; k++)
			found |= str_equal(secret_table[k].path, promised[i]);
		CHECK_CASE(found, promised[i]);
	}
}

static void test_projects(void)
{
	for (size_t i = 0; i < refused_project_count; i++)
		CHECK_CASE(is_place(refused_projects[i].path) &&
				   is_reason(refused_projects[i].what),
			   refused_projects[i].path);
}

static bool matches(const struct variable_row *rows, size_t count, const char *name)
{
	return variable_row_find(rows, count, name) != NULL;
}

static void test_variables(void)
{
	static const char *const allowed[] = { "TERM",   "COLORTERM", "EDITOR", "VISUAL",  "LANG",
					       "LC_ALL", "LC_TIME",   "TZ",     "NO_COLOR" };
	static const char *const not_allowed[] = { "HOME",
						   "PATH",
						   "TERMINAL",
						   "LANGUAGE",
						   "LC",
						   "SSH_AUTH_SOCK",
						   "DBUS_SESSION_BUS_ADDRESS",
						   "DISPLAY",
						   "WAYLAND_DISPLAY",
						   "AWS_PROFILE",
						   "ANTHROPIC_API_KEY2",
						   "",
						   "LD_PRELOAD" };
	static const char *const reserved[] = { "HOME",
						"USER",
						"LOGNAME",
						"SHELL",
						"PATH",
						"TMPDIR",
						"XDG_RUNTIME_DIR",
						"LD_PRELOAD",
						"BASH_ENV",
						"CLAUDEBOX_EXTRA_ENV",
						"CLAUDE_CONFIG_DIR" };

	for (size_t i = 0; i < allowed_variable_count; i++) {
		CHECK_CASE(is_reason(allowed_variables[i].why), allowed_variables[i].name);
		CHECK_CASE(!matches(reserved_variables, reserved_variable_count,
				    allowed_variables[i].name),
			   "no variable is both allowed and reserved");
	}
	for (size_t i = 0; i < reserved_variable_count; i++)
		CHECK_CASE(is_reason(reserved_variables[i].why), reserved_variables[i].name);
	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++)
		CHECK_CASE(matches(allowed_variables, allowed_variable_count, allowed[i]),
			   allowed[i]);
	for (size_t i = 0; i < ARRAY_SIZE(not_allowed); i++)
		CHECK_CASE(!matches(allowed_variables, allowed_variable_count, not_allowed[i]),
			   arena_printf(&arena, "not allowed: '%s'", not_allowed[i]));
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++)
		CHECK_CASE(matches(reserved_variables, reserved_variable_count, reserved[i]),
			   reserved[i]);
}

static void test_user_files(void)
{
	for (size_t i = 0; i < user_claude_table_count; i++) {
		const char *name = user_claude_table[i].name;

		CHECK_CASE(is_reason(user_claude_table[i].why) && !strchr(name, '/') &&
				   name[0] != '.' && !secret_file_name(name),
			   name);
	}
}

static void test_paths(void)
{
	for (size_t i = 0; i < ca_bundle_count; i++)
		CHECK_CASE(is_place(ca_bundles[i]), ca_bundles[i]);
	for (size_t i = 0; i < system_path_count; i++) {
		bool provided = false;

		for (size_t k = 0; k < system_table_count; k++)
			provided |= path_within(system_path[i], system_table[k].path);
		CHECK_CASE(is_place(system_path[i]) && provided, system_path[i]);
	}
}

static void test_names(const char *const *names, size_t count, const char *what)
{
	for (size_t i = 0; i < count; i++) {
		CHECK_CASE(names[i] && *names[i],
			   arena_printf(&arena, "%s %zu has a name", what, i));
		for (size_t k = 0; k < i; k++)
			CHECK_CASE(!str_equal(names[i], names[k]),
				   arena_printf(&arena, "%s %zu and %zu differ", what, i, k));
	}
}

int main(void)
{
	test_system();
	test_secrets();
	test_projects();
	test_variables();
	test_user_files();
	test_paths();
	test_names(mount_kind_names, MOUNT_KIND_COUNT, "mount kind");
	test_names(origin_marks, ORIGIN_KIND_COUNT, "origin");
	test_names(network_tier_names, NETWORK_TIER_COUNT, "network tier");
	arena_free(&arena);
	return check_done();
}
