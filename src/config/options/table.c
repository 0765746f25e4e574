// SPDX-License-Identifier: MIT
#include "config/options/table.h"

#include "base/text.h"
#include "config/config.h"

const struct option_row option_table[] = {
	{ OPTION_YES, 'y', "yes", ARGUMENT_NONE, NULL, "start without asking for confirmation" },
	{ OPTION_DRY_RUN, 0, "dry-run", ARGUMENT_JSON, NULL,
	  "print the bwrap command (or the plan as JSON) and change nothing" },
	{ OPTION_CHECK, 0, "check", ARGUMENT_JSON, NULL,
	  "check that this machine has everything that a box needs" },
	{ OPTION_PROVE, 0, "prove", ARGUMENT_JSON, NULL,
	  "attack this project's box from inside and show what was blocked" },
	{ OPTION_PROFILE, 0, "profile", ARGUMENT_REQUIRED, "NAME",
	  "use the settings of ~/.claudebox/profiles/NAME.json" },
	{ OPTION_NETWORK, 0, "network", ARGUMENT_REQUIRED, "TIER",
	  "full (the host's network), inet (the internet only) or none" },
	{ OPTION_HOST_PORT, 0, "host-port", ARGUMENT_REQUIRED, "PORT",
	  "inet: let the box reach this TCP port of the host's loopback" },
	{ OPTION_PUBLISH, 0, "publish", ARGUMENT_REQUIRED, "PORT",
	  "inet: let every user of this machine reach this TCP port of the box" },
	{ OPTION_MOUNT_RO, 0, "mount-ro", ARGUMENT_REQUIRED, "PATH[:DEST]",
	  "mount one more file or directory, read-only" },
	{ OPTION_MOUNT_RW, 0, "mount-rw", ARGUMENT_REQUIRED, "PATH[:DEST]",
	  "mount one more file or directory, read-write" },
	{ OPTION_PATH, 0, "path", ARGUMENT_REQUIRED, "DIR",
	  "mount a directory of programs, read-only, first in PATH" },
	{ OPTION_UNPROTECT, 0, "unprotect", ARGUMENT_REQUIRED, "PATH",
	  "let the box write a protected place; **/NAME: in every directory" },
	{ OPTION_REPORT, 0, "report-fd", ARGUMENT_REQUIRED, "N",
	  "write exit status and refused connections as JSON to descriptor N" },
	{ OPTION_AUDIT, 0, "audit", ARGUMENT_FULL, NULL,
	  "show every variable and mount before the start; with or without =full" },
	{ OPTION_QUIET, 0, "quiet", ARGUMENT_NONE, NULL,
	  "show errors and the number of moved files; a question shows its audit" },
	{ OPTION_SHELL, 0, "shell", ARGUMENT_NONE, NULL,
	  "run a shell in the box instead of claude" },
	{ OPTION_EXEC, 0, "exec", ARGUMENT_REST, "CMD [ARG...]",
	  "run CMD in the box instead of claude; the rest are its arguments" },
	{ OPTION_INSTANCES, 0, "instances", ARGUMENT_JSON, NULL,
	  "list the state of each project, the last used first" },
	{ OPTION_GC, 0, "gc", ARGUMENT_GC, "WORD",
	  "remove the state of deleted projects, or =home, =snapshots; asks" },
	{ OPTION_INSTANCE, 0, "instance", ARGUMENT_REQUIRED, "ID",
	  "limit --instances or --gc to one project: its id or directory" },
	{ OPTION_QUARANTINE, 0, "quarantine", ARGUMENT_WORD, "WORD",
	  "list what the guard moved away; =N puts one back, =clear removes all" },
	{ OPTION_DIFF, 0, "diff", ARGUMENT_STAT, NULL,
	  "show what the last session changed; =stat: the number of lines" },
	{ OPTION_UNDO, 0, "undo", ARGUMENT_COMMITS, NULL,
	  "take back what the last session changed; =commits: branches too" },
	{ OPTION_LAST_REPORT, 0, "report", ARGUMENT_JSON, NULL,
	  "show the report of the last session again" },
	{ OPTION_IMPORT_CONVERSATIONS, 0, "import-conversations", ARGUMENT_NONE, NULL,
	  "copy this directory's conversations of plain claude, then start" },
	{ OPTION_HELP, 'h', "help", ARGUMENT_NONE, NULL,
	  "show this help (help of claude: claudebox -- --help)" },
	{ OPTION_VERSION, 'v', "version", ARGUMENT_NONE, NULL,
	  "show the version of claudebox (of claude: claudebox -- --version)" },
};
const size_t option_table_count = ARRAY_SIZE(option_table);

const char *const network_tier_names[NETWORK_TIER_COUNT] = {
	[NETWORK_FULL] = "full",
	[NETWORK_INET] = "inet",
	[NETWORK_NONE] = "none",
};

const char *option_word(const struct option_row *row)
{
	return row->argument == ARGUMENT_JSON      ? "json"
	       : row->argument == ARGUMENT_GC      ? "home snapshots"
	       : row->argument == ARGUMENT_FULL    ? "full"
	       : row->argument == ARGUMENT_STAT    ? "stat"
	       : row->argument == ARGUMENT_COMMITS ? "commits"
	       : row->argument == ARGUMENT_WORD    ? QUARANTINE_JSON " " QUARANTINE_CLEAR
						   : NULL;
}

const struct option_row *option_find(const char *word, const char **ret_value)
{
	*ret_value = NULL;
	for (size_t i = 0; i < option_table_count; i++) {
		const struct option_row *row = &option_table[i];
		const char *rest = str_starts(word, "--") ? str_after(word + 2, row->name) : NULL;

		if (rest && (*rest == '\0' || *rest == '=')) {
			*ret_value = *rest ? rest + 1 : NULL;
			return row;
		}
		if (row->letter && word[0] == '-' && word[1] == row->letter && word[2] == '\0')
			return row;
	}
	return NULL;
}
