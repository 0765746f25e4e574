// SPDX-License-Identifier: MIT
// What an option must mount of an installation.
//
// Theory of operation: an option that the audit names must not bring what the table of managers
// keeps outside. An installation with such a name in it is mounted by its parts; any other as a
// whole, because its programs may need any of its files.
#include "probe/toolchains/installs.h"

#include "base/arena.h"
#include "base/path.h"
#include "plan/facts.h"
#include "plan/toolchains/facts.h"
#include "plan/toolchains/variables.h"
#include "probe/toolchains/recognise.h"
#include "sys/files.h"

#include <unistd.h>

// Names that may have secrets in them, beside the programs.
static const char *const settings[] = {
	"conda-meta", // variables of environments
	"etc",
	"conf/settings.xml", // of Maven
	"conf/management/jmxremote.password",
	"gradle.properties",
	"init.d", // of Gradle
	"pip.conf",
	".npmrc",
	".condarc",
	".env",
};

// What programs need.
static const char *const parts[] = { "bin",
				     "sbin",
				     "lib",
				     "lib64",
				     "libexec",
				     "boot",
				     "include",
				     "share",
				     "jmods",
				     "release",
				     "conf/logging",
				     "conf/logging.properties",
				     "conf/net.properties",
				     "conf/security",
				     "pyvenv.cfg" };

static bool has(struct arena *arena, const char *directory, const char *name)
{
	return access(path_join(arena, directory, name), F_OK) == 0;
}

static bool has_settings(struct arena *arena, const char *directory)
{
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		if (has(arena, directory, settings[i]))
			return true;
	return false;
}

struct install install_examine(struct arena *arena, const char *directory,
			       const struct manager_row *row)
{
	struct install install = { .row = row };

	if (!has_settings(arena, directory)) {
		vec_push(arena, &install.paths, directory);
		return install;
	}
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (has(arena, directory, parts[i]))
			vec_push(arena, &install.paths, path_join(arena, directory, parts[i]));
	return install;
}

// Returns whether a value is an absolute path that can be shown.
static bool is_path(const char *value)
{
	if (!value || *value != '/')
		return false;
	for (; *value; value++)
		if ((unsigned char)*value < ' ' || *value == 0x7f)
			return false;
	return true;
}

void install_read_variables(struct facts *facts, struct arena *arena)
{
	for (size_t i = 0; i < directory_variable_count; i++) {
		struct directory_variable variable = { .name = directory_variables[i].name,
						       .what = directory_variables[i].what };
		const char *value = facts_variable(facts, variable.name);

		if (!is_path(value))
			continue;
		variable.directory = file_follow(arena, path_clean(arena, value));
		if (variable.directory.kind == FILE_DIRECTORY)
			variable.install = install_examine(
				arena, variable.directory.real,
				toolchain_row_of(facts, arena, variable.directory.path, false));
		vec_push(arena, &facts->toolchains.variables, variable);
	}
}
