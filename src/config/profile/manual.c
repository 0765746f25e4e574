// SPDX-License-Identifier: MIT
// claudebox-profile(5), generated from the schema.
#include "config/profile/manual.h"

#include "base/arena.h"
#include "base/text.h"
#include "config/profile/profile.h"
#include "config/profile/schema.h"

static void add_row(struct text *out, const struct profile_row *row, const char *indent)
{
	text_printf(out, "%s*%s*: %s", indent, row->key,
		    row->choice_count ? "one of" : profile_kind_names[row->kind]);
	for (size_t i = 0; i < row->choice_count; i++)
		text_printf(out, "%s *%s*", i ? "," : "", row->choices[i]);
	if (row->required)
		text_add(out, ", required");
	if (row->most)
		text_printf(out, ", at most %zu", row->most);
	if (row->range)
		text_printf(out, " from %llu to %llu", row->range->least, row->range->most);
	text_printf(out, "\n%s\t%s\n\n", indent, row->help);
}

static void add_keys(struct text *out)
{
	text_add(out,
		 "# KEYS\n\nEvery key is optional. A key that is not listed here is an error.\n\n");
	for (size_t i = 0; i < profile_table_count; i++) {
		const struct profile_row *row = &profile_table[i];

		add_row(out, row, "");
		for (size_t k = 0; k < row->entry_count; k++)
			add_row(out, &row->entry[k], "\t");
		text_printf(out, "\t```\n\t\"%s\": %s\n\t```\n\n", row->key, row->example);
	}
}

static void add_merging(struct text *out)
{
	text_printf(
		out,
		"# EXTENDING A PROFILE\n\n"
		"A profile with *extends* starts from another one, its base, which may extend a "
		"third, up to %d levels. A key that both have is merged by its rule:\n\n",
		MOST_EXTENDED);
	for (int merge = MERGE_REPLACE; merge < MERGE_COUNT; merge++) {
		const char *before = "-";

		for (size_t i = 0; i < profile_table_count; i++) {
			if (profile_table[i].merge != (enum profile_merge_rule)merge)
				continue;
			text_printf(out, "%s *%s*", before, profile_table[i].key);
			before = ",";
		}
		text_printf(out, ": %s.\n", profile_merge_names[merge]);
	}
	text_add(out, "\nThe command line overrides the profile, and the profile overrides the "
		      "built-in defaults. Ports of a profile are dropped if the command line, or a "
		      "profile that extends it, chooses another network than *inet*.\n\n");
}

static void add_directories(struct text *out)
{
	text_add(
		out,
		"# PROFILES BY DIRECTORY\n\n"
		"A profile with *directories* is chosen in the directories that a pattern of it "
		"matches. The audit, *--dry-run=json* and *--check* name the pattern. Only the files "
		"in _~/.claudebox/profiles_ decide: no file of a project can choose a profile.\n\n"
		"A pattern begins with _/_ or _~/_. It is compared with the real path of the "
		"directory that claudebox starts in, byte by byte. _\\*_ stands for any part of one "
		"name, _\\*\\*_ for any number of names: _~/work_ is that directory alone, "
		"_~/work/\\*_ each directory in it, and _~/work/\\*\\*_ that directory and all "
		"below. Other characters stand for themselves. A slash at the end has no meaning; "
		"_._ and _.._ are errors. Links in a pattern that begins with _~/_ are resolved up "
		"to the first wildcard.\n\n"
		"If several patterns match, the longest wins: the one with the most characters that "
		"are no wildcards, and between equals the one without _\\*\\*_. If two profiles are "
		"still equal, nothing starts, and the error names both. The *directories* of a base "
		"do not count for the profile that extends it.\n\n"
		"A mistake in the chosen profile is an error. A mistake in another one stops "
		"nothing. If its *directories* cannot be read, a warning says that it may be meant "
		"for this directory.\n\n");
}

const char *profile_render_manual(struct arena *arena)
{
	struct text out = { .arena = arena };

	text_add(
		&out,
		"claudebox-profile(5)\n\n"
		"# NAME\n\n"
		"claudebox-profile - settings of a box, kept under a name\n\n"
		"# SYNOPSIS\n\n"
		"_~/.claudebox/profiles/NAME.json_\n\n"
		"# DESCRIPTION\n\n"
		"A profile is a JSON object with the keys below. The option *--profile* _NAME_ "
		"chooses it, or else the variable *CLAUDEBOX_PROFILE*, or else the directory "
		"(*directories*). Without any, _default.json_ is used if it exists. An empty "
		"*CLAUDEBOX_PROFILE* chooses no profile at all.\n\n"
		"A name consists of letters, digits, '.', '\\_' and '-'. It begins with a letter or "
		"a digit and has at most 64 characters. The file may be a symbolic link, but not "
		"into a project in which claudebox has started a box. The file "
		"and its directory must belong to you or to root and must not be writable by "
		"others. A project cannot choose or change a profile. To create the directory:\n\n"
		"```\ninstall -d -m 700 ~/.claudebox ~/.claudebox/profiles\n```\n\n"
		"Before the box starts, its variables, mounts, ports and limits are shown with the "
		"name of the profile. Errors give the line, the column and the key, and nothing starts.\n\n");
	add_keys(&out);
	add_directories(&out);
	add_merging(&out);
	text_add(&out,
		 "# EXAMPLES\n\n"
		 "A review: Claude can read the project and the internet, and cannot change the "
		 "project.\n\n"
		 "```\n"
		 "{\n"
		 "  \"name\": \"review\",\n"
		 "  \"network\": \"inet\",\n"
		 "  \"project\": \"read-only\"\n"
		 "}\n"
		 "```\n\n"
		 "Work for a customer, extending _base.json_.\n\n"
		 "```\n"
		 "{\n"
		 "  \"name\": \"work\",\n"
		 "  \"extends\": \"base\",\n"
		 "  \"env\": { \"AWS_PROFILE\": \"work\" },\n"
		 "  \"extra_env_passthrough\": [\"MY_ORG_TOKEN\"],\n"
		 "  \"mounts\": [{ \"host\": \"~/.aws/credentials\" }],\n"
		 "  \"packages\": [\"awscli2\", \"kubectl\"]\n"
		 "}\n"
		 "```\n\n"
		 "# SEE ALSO\n\n"
		 "*claudebox*(1), *claudebox-security*(7)\n");
	return text_get(&out);
}
