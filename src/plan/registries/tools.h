// SPDX-License-Identifier: MIT
// The package managers whose settings come along: the files on the host, and the file in the box.
#pragma once

#include "config/names.h"
#include "plan/registries/setting.h"

#include <stdbool.h>
#include <stddef.h>

enum registry_tool {
	TOOL_NPM,
	TOOL_YARN,
	TOOL_YARN_1,
	TOOL_PIP,
	TOOL_UV,
	TOOL_CARGO,
	TOOL_MAVEN,
	TOOL_GRADLE,
	TOOL_GO,
	TOOL_GEM,
	TOOL_BUNDLER,
	TOOL_CONDA,
	TOOL_COMPOSER,
	TOOL_BUN,
	TOOL_COUNT,
};

// A package manager in the box. Its file ranks below every file that the agent can write: it is the
// system's file, or a link in the home that a file of the agent's replaces.
struct tool_row {
	const char *name;
	setting_parser parse; // NULL: its files are not read
	const char *(*render)(struct arena *arena, const setting_list *list);
	const char *path; // of the generated file in the box
	const char *link; // in the home, which leads to it; NULL: the tool finds `path` itself
	const char *bait; // logins that --prove adds to the host's text; '$' stands for its token
	const char *why;  // it is there
};
extern const struct tool_row tool_table[TOOL_COUNT];

// A file of the host. Of one tool, later files rank above earlier ones.
struct source_row {
	enum registry_tool tool;
	bool directory;       // the variable names the directory of the file
	const char *path;     // "~/" stands for the home directory, "@/" for ~/.config
	const char *variable; // names the file instead, or the directory in place of the path's
	const char *unread;   // why this file is only named; NULL: it is read
};
extern const struct source_row source_table[];
extern const size_t source_table_count;

// Variables that name registries, with the tool that reads each.
extern const struct variable_row registry_variables[];
extern const size_t registry_variable_count;
