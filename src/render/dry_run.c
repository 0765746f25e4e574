// SPDX-License-Identifier: MIT
// The plan as a script for sh (UX-04): paste it and get the same box, without claudebox.
//
// Theory of operation: made files are here-documents on descriptors of their own. The filter is no text: it comes from
// base64 through a pipe, and the standard input that the pipe takes away is kept beside it and put back. sh knows the
// descriptors up to 9 only; a plan with more files goes to bash, as a here-document too.
#include "render/dry_run.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "config/documents.h"
#include "plan/limits.h"
#include "plan/network.h"
#include "plan/plan.h"
#include "plan/tables.h"
#include "render/bwrap.h"
#include "render/network.h"

#include <string.h>

enum {
	FIRST_DESCRIPTOR = 3,
	KEPT_INPUT = 8, // free again, and the last file's, once the input is put back
	FILTER_DESCRIPTOR = 9,
	LAST_OF_SH = 9,
	BASE64_COLUMNS = 76,
};

struct script {
	struct arena *arena;
	struct text command;
	struct text documents;
	struct text redirections;
	bool uses_newline;
	int descriptor; // of the next document
};

static const char *word(struct script *script, const char *value)
{
	return quote_shell(script->arena, value, &script->uses_newline);
}

// A secret, or whatever was asked for by name, stands as a reference: the value is not ours to print.
static bool stands_by_name(const struct plan_variable *variable)
{
	return variable->secret || variable->origin == ORIGIN_ASKED;
}

static const char *delimiter(struct script *script, const char *content)
{
	const char *word = "CLAUDEBOX_END";

	while (strstr(content, word))
		word = arena_printf(script->arena, "%s_", word);
	return word;
}

static void add_document(struct script *script, const char *content)
{
	const char *end = delimiter(script, content);

	text_printf(&script->command, " %d", script->descriptor);
	text_printf(&script->redirections, " %d<<%s", script->descriptor, end);
	text_printf(&script->documents, "%s%s\n", quote_here_document(script->arena, content), end);
	script->descriptor += script->descriptor + 1 == FILTER_DESCRIPTOR ? 2 : 1;
}

// The filter as text, before all other documents: it is the first on the line.
static const char *filter_document(struct script *script, const bwrap_options *options)
{
	struct text out = { .arena = script->arena };

	vec_each(option, options) {
		if (option->operand == OPERAND_SECCOMP)
			text_add_base64(&out, option->filter->bytes, option->filter->size,
					BASE64_COLUMNS);
	}
	text_add(&out, "CLAUDEBOX_END\n");
	return text_get(&out);
}

static void add_option(struct script *script, const struct bwrap_option *option)
{
	if (option->mode)
		text_printf(&script->command, " \\\n  --perms %s", option->mode);
	text_printf(&script->command, " \\\n  %s", option->flag);
	switch (option->operand) {
	case OPERAND_VARIABLE:
		text_printf(&script->command, " %s", option->variable->name);
		if (stands_by_name(option->variable))
			text_printf(&script->command, " \"$%s\"", option->variable->name);
		else
			text_printf(&script->command, " %s", word(script, option->arguments[1]));
		return;
	case OPERAND_DATA:
		add_document(script, option->mount->source);
		text_printf(&script->command, " %s", word(script, option->arguments[1]));
		return;
	case OPERAND_SECCOMP:
		text_printf(&script->command, " %d", FILTER_DESCRIPTOR);
		return;
	case OPERAND_TEXT:
	case OPERAND_NO_INIT:
	case OPERAND_HOST_PATH:
		break;
	}
	for (size_t i = 0; i < ARRAY_SIZE(option->arguments) && option->arguments[i]; i++)
		text_printf(&script->command, " %s", word(script, option->arguments[i]));
}

static void add_preparation(struct script *script, struct text *out, const struct plan *plan)
{
	text_printf(out, "mkdir -p -m 700 %s\n", word(script, plan->state.root));
	text_printf(out, "mkdir -p %s %s\n", word(script, plan->state.claude),
		    word(script,
			 path_join(script->arena, plan->state.credentials, CREDENTIALS_STORE)));
	vec_each(link, &plan->state.links) {
		const char *path = path_join(script->arena, plan->state.claude, link->name);

		text_printf(out, "ln -sfn %s %s\n", word(script, link->target), word(script, path));
	}
}

// What no script for sh can do beside a running bwrap is at least shown.
static void add_network(struct script *script, struct text *out, const struct plan *plan)
{
	strings pasta = render_pasta(plan, script->arena, NETWORK_NAMESPACE_SHOWN);
	const char *rules = render_nft(plan, script->arena);
	const char *line;

	text_add(
		out,
		"#\n# The network of the tier inet is attached from outside while bwrap waits: this "
		"script gives the same\n# box without any. What claudebox does, with a relay for "
		"names on " BOX_RESOLVER ":\n#");
	vec_each(word, &pasta)
		text_printf(out, " %s", *word);
	text_add(out, "\n# nft -f - in the box's network namespace:\n");
	while ((line = str_next_line(script->arena, &rules)))
		text_printf(out, "#   %s\n", line);
}

static void add_command(struct script *script, const struct plan *plan,
			const bwrap_options *options)
{
	strings prefix = limits_render_prefix(script->arena, &plan->limits);

	text_add(&script->command, "{ base64 -d <<CLAUDEBOX_END | ");
	vec_each(part, &prefix)
		text_printf(&script->command, "%s ", word(script, *part));
	text_add(&script->command, word(script, plan->bwrap));
	vec_each(option, options)
		add_option(script, option);
	text_add(&script->command, " \\\n  --");
	vec_each(argument, &plan->command)
		text_printf(&script->command, " \\\n  %s", word(script, *argument));
	text_printf(&script->command, " %d<&0 0<&%d%s%s; } %d<&0\n", FILTER_DESCRIPTOR, KEPT_INPUT,
		    script->descriptor <= KEPT_INPUT
			    ? arena_printf(script->arena, " %d<&-", KEPT_INPUT)
			    : "",
		    text_get(&script->redirections), KEPT_INPUT);
}

// What takes more than a command before bwrap is shown.
static void add_limits(struct script *script, struct text *out, const struct plan_limits *limits)
{
	limit_files files = limits_render_files(script->arena, limits);

	text_printf(out,
		    "#\n# This script's box has no limits. claudebox starts it in a cgroup of its "
		    "own, one level below\n# one in %s with:\n",
		    word(script, limits->parent));
	vec_each(file, &files)
		text_printf(out, "#   %s %s\n", file->name, file->value);
}

static bool has_staged(const struct plan *plan)
{
	bool found = false;

	vec_each(mount, &plan->mounts)
		found |= mount->staged != NULL;
	return found;
}

const char *render_dry_run(const struct plan *plan, struct arena *arena)
{
	struct script script = { .arena = arena,
				 .command = { .arena = arena },
				 .documents = { .arena = arena },
				 .redirections = { .arena = arena },
				 .descriptor = FIRST_DESCRIPTOR };
	bwrap_options options = render_bwrap(plan, arena);
	struct text preparation = { .arena = arena };
	struct text body = { .arena = arena };
	struct text out = { .arena = arena };

	add_preparation(&script, &preparation, plan);
	add_command(&script, plan, &options);
	text_add(&out,
		 "# The box as a script for sh. claudebox itself hands the options over by "
		 "descriptor, puts a small\n# init before the command for signals, exit "
		 "codes and what a process can only close for itself (abstract\n# sockets, core "
		 "dumps), keeps later mounts out, and answers Claude's first-run questions.\n");
	if (plan->state.upgrade.needed)
		text_add(&out, "#\n# Not done by this script:\n");
	vec_each(sentence, &plan->state.upgrade.notes)
		text_printf(&out, "# %s\n", *sentence);
	if (plan->terminal == TERMINAL_FILTERED)
		text_add(&out,
			 "#\n# The terminal is filtered by claudebox while the box runs: this "
			 "script gives the same box yours as it is.\n");
	if (has_staged(plan))
		text_add(&out,
			 "#\n# What is mounted inside of another mount is moved there by claudebox "
			 "once bwrap is done. Here bwrap\n# mounts it by path: a box that swaps "
			 "links there meanwhile can lead it elsewhere.\n");
	if (tier_table[plan->network].attached)
		add_network(&script, &out, plan);
	if (plan->limits.way == LIMITS_CGROUP)
		add_limits(&script, &out, &plan->limits);
	if (script.uses_newline)
		text_add(&body, "CLAUDEBOX_NL='\n'\n");
	text_add(&body, text_get(&preparation));
	text_add(&body, text_get(&script.command));
	text_add(&body, filter_document(&script, &options));
	text_add(&body, text_get(&script.documents));
	if (script.descriptor > LAST_OF_SH + 1) {
		const char *end = delimiter(&script, text_get(&body));

		text_printf(&out, "bash /proc/self/fd/%d %d<<\\%s\nexec %d<&-\n%s%s\n", LAST_OF_SH,
			    LAST_OF_SH, end, LAST_OF_SH, text_get(&body), end);
	} else {
		text_add(&out, text_get(&body));
	}
	return text_get(&out);
}
