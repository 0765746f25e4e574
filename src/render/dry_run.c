// SPDX-License-Identifier: MIT
// The plan as a script for sh, which starts the same box without claudebox.
//
// Theory of operation: each generated file is a here-document on a descriptor of its own. The
// seccomp filter is binary: base64 decodes it into a pipe. The pipe replaces the standard input,
// which is saved on another descriptor and restored. sh supports descriptors up to 9 only, so a
// plan with more files is a script for bash, itself in a here-document.
#include "render/dry_run.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "config/profile/schema.h"
#include "config/profile/settings.h"
#include "plan/command.h"
#include "plan/guard/facts.h"
#include "plan/limits.h"
#include "plan/network.h"
#include "plan/plan.h"
#include "plan/tables.h"
#include "render/bwrap.h"
#include "render/network.h"

#include <string.h>

#define NO_VALUES "set it: the script has no secret values"

enum {
	FIRST_DESCRIPTOR = 3,
	SAVED_INPUT = 8, // free for the last file after the input is restored
	SECCOMP_DESCRIPTOR = 9,
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

// Returns whether a variable is a reference in the script. Values of secrets and of requested
// variables are not printed.
static bool is_reference(const struct plan_variable *variable)
{
	return variable->secret || variable->origin.kind == ORIGIN_REQUESTED;
}

// Returns the variable of the script that stands for a word of the command, NULL: the word itself
// does, because it has no secret.
static const char *word_variable(struct script *script, const struct plan *plan, size_t number)
{
	const char *before = number ? plan->command.items[number - 1] : NULL;

	return command_word_is_secret(before, plan->command.items[number])
		       ? arena_printf(script->arena, "CLAUDEBOX_WORD_%zu", number + 1)
		       : NULL;
}

// Adds a check of each variable that is a reference: an empty secret would fail later, and
// elsewhere. The checks are in the same command as bwrap, which an interactive shell then discards.
static void add_checks(struct script *script, const struct plan *plan)
{
	vec_each(variable, &plan->variables) {
		if (is_reference(variable))
			text_printf(&script->command, ": \"${%s?%s}\"\n  ", variable->name,
				    variable->written ? "set it to its value in the profile"
						      : NO_VALUES);
	}
	for (size_t i = 0; i < plan->command.count; i++)
		if (word_variable(script, plan, i))
			text_printf(&script->command, ": \"${%s?" NO_VALUES "}\"\n  ",
				    word_variable(script, plan, i));
}

// Returns the end mark of a here-document, a word that the content does not contain.
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
	text_add(&script->documents, quote_here_document(script->arena, content));
	text_printf(&script->documents, "%s\n", end);
	script->descriptor += script->descriptor + 1 == SECCOMP_DESCRIPTOR ? 2 : 1;
}

// Returns the seccomp filter as a here-document, the first one of the command line.
static const char *seccomp_document(struct script *script, const bwrap_options *options)
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
	if (option->operand == OPERAND_HOME) {
		text_printf(&script->command, " \\\n  --perms 0700 \\\n  --tmpfs %s",
			    word(script, option->mount->path));
		return;
	}
	if (option->mode)
		text_printf(&script->command, " \\\n  --perms %s", option->mode);
	text_printf(&script->command, " \\\n  %s", option->flag);
	switch (option->operand) {
	case OPERAND_VARIABLE:
		text_printf(&script->command, " %s", option->variable->name);
		if (is_reference(option->variable))
			text_printf(&script->command, " \"$%s\"", option->variable->name);
		else
			text_printf(&script->command, " %s", word(script, option->arguments[1]));
		return;
	case OPERAND_DATA:
		add_document(script, option->mount->source);
		text_printf(&script->command, " %s", word(script, option->arguments[1]));
		return;
	case OPERAND_SECCOMP:
		text_printf(&script->command, " %d", SECCOMP_DESCRIPTOR);
		return;
	case OPERAND_TEXT:
	case OPERAND_PROGRAM:
	case OPERAND_NO_INIT:
	case OPERAND_HOST_PATH:
	case OPERAND_HOME:
	case OPERAND_IN_HOME:
		break;
	}
	for (size_t i = 0; i < ARRAY_SIZE(option->arguments) && option->arguments[i]; i++)
		text_printf(&script->command, " %s", word(script, option->arguments[i]));
}

// Returns whether an option mounts something that exists only during a launch.
static bool is_for_launch(const struct bwrap_option *option)
{
	return option->mount && option->mount->for_launch;
}

// Adds the protected places that exist. A launch mounts over them after bwrap has finished.
static void add_places(struct script *script, const struct plan *plan)
{
	vec_each(place, &plan->guard.places) {
		const char *path = word(script, place->path);

		text_printf(&script->command, " \\\n  %s %s %s",
			    place->mount == GUARD_PIN ? "--bind" : "--ro-bind", path, path);
	}
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

// Shows the commands that attach the network, which a script cannot do while bwrap runs.
static void add_network(struct script *script, struct text *out, const struct plan *plan)
{
	strings pasta = render_pasta(plan, script->arena, NETWORK_NAMESPACE_SHOWN);
	const char *rules = render_nft(plan, script->arena);
	const char *line;

	text_add(out,
		 "#\n# claudebox attaches the network of the tier inet while bwrap waits; the box "
		 "of this script has no network.\n# claudebox starts a DNS relay on " BOX_RESOLVER
		 ", and:\n#");
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

	text_add(&script->command, "{ ");
	add_checks(script, plan);
	text_add(&script->command, "base64 -d <<CLAUDEBOX_END | ");
	vec_each(part, &prefix)
		text_printf(&script->command, "%s ", word(script, *part));
	text_add(&script->command, word(script, plan->bwrap));
	vec_each(option, options) {
		if (!is_for_launch(option))
			add_option(script, option);
	}
	add_places(script, plan);
	text_add(&script->command, " \\\n  --");
	for (size_t i = 0; i < plan->command.count; i++) {
		const char *variable = word_variable(script, plan, i);

		text_printf(&script->command, " \\\n  %s",
			    variable ? arena_printf(script->arena, "\"$%s\"", variable)
				     : word(script, plan->command.items[i]));
	}
	text_printf(&script->command, " %d<&0 0<&%d%s%s; } %d<&0\n", SECCOMP_DESCRIPTOR,
		    SAVED_INPUT,
		    script->descriptor <= SAVED_INPUT
			    ? arena_printf(script->arena, " %d<&-", SAVED_INPUT)
			    : "",
		    text_get(&script->redirections), SAVED_INPUT);
}

// Shows the files of the cgroup, which the script does not create.
static void add_limits(struct script *script, struct text *out, const struct plan_limits *limits)
{
	limit_files files = limits_render_files(script->arena, limits);

	text_printf(
		out,
		"#\n# The box of this script has no limits. claudebox starts it in a cgroup of its "
		"own, one level below\n# one in %s with:\n",
		word(script, limits->parent));
	vec_each(file, &files)
		text_printf(out, "#   %s %s\n", file->name, file->value);
}

static bool has_staged(const struct plan *plan)
{
	bool found = false;

	vec_each(mount, &plan->mounts)
		found |= mount->staged && !mount->created && !mount->carried;
	return found;
}

// Adds the settings that the script does not show otherwise.
static void add_settings(struct text *out, struct arena *arena, const struct config *config)
{
	profile_settings settings = profile_settings_list(arena, config, SETTING_IN_DRY_RUN);

	if (settings.count)
		text_add(out, "#\n# Settings:\n");
	vec_each(setting, &settings)
		text_printf(out, "#   %s: %s (%s)\n", setting->row->key,
			    quote_display(arena, setting->text, 0), setting->origin->name);
}

// Says what happens with the Claude login.
static void add_login(struct script *script, struct text *out, const struct plan *plan)
{
	const struct plan_state *state = &plan->state;

	if (state->login && str_equal(state->login, state->host_credentials))
		text_printf(
			out,
			"#\n# claudebox copies the Claude login from %s into the directory that "
			"all boxes\n# share, and keeps both in sync; this script does neither.\n",
			word(script, state->login));
	else if (state->login)
		text_printf(out, "#\n# The box gets the Claude login that was made in a box, %s.\n",
			    word(script, state->login));
}

// Names the words of the command that are not in the script.
static void add_words(struct script *script, struct text *out, const struct plan *plan)
{
	bool title = false;

	for (size_t i = 0; i < plan->command.count; i++) {
		const char *variable = word_variable(script, plan, i);

		if (!variable)
			continue;
		if (!title)
			text_add(out, "#\n# These words of the command look like secrets. Export "
				      "them before:\n");
		title = true;
		text_printf(out, "#   %s: %s\n", variable,
			    command_describe_word(script->arena, plan->command.items, i));
	}
}

// Adds the comments at the head of the script.
static void add_head(struct script *script, struct text *out, const struct plan *plan)
{
	text_add(out,
		 "# The box as a script for sh. claudebox itself passes the options by "
		 "descriptor, and adds a small init\n# to the command, which handles signals and "
		 "exit codes and applies the restrictions that a process\n# can only apply to "
		 "itself (sockets of the host, resource limits). It also blocks later mounts,\n# "
		 "limits inotify, protects /proc/1, and answers the questions of Claude's "
		 "first run.\n");
	if (plan->state.upgrade.needed || plan->state.replaced)
		text_add(out, "#\n# Not done by this script:\n");
	if (plan->state.replaced)
		text_printf(out, "# %s\n", plan->state.replaced);
	vec_each(sentence, &plan->state.upgrade.notes)
		text_printf(out, "# %s\n", *sentence);
	add_login(script, out, plan);
	if (plan->config->terminal == TERMINAL_FILTERED)
		text_add(out, "#\n# claudebox gives the box a terminal of its own and filters its "
			      "output; the box of this script\n# has your terminal.\n");
	if (plan->state.home)
		text_add(out,
			 "#\n# claudebox gives the box a home that is kept; the box of this script "
			 "has an empty one, in memory.\n");
	if (has_staged(plan))
		text_add(out,
			 "#\n# claudebox moves a mount inside of another mount to its place after "
			 "bwrap has finished. Here bwrap\n# mounts it by path: a box that swaps "
			 "links there meanwhile can redirect it.\n");
	if (plan->guard.active)
		text_add(
			out,
			"#\n# claudebox watches the project, and moves files that programs outside "
			"would execute to quarantine;\n# this script does not. claudebox also "
			"protects such places in subdirectories, which it finds while\n# the box "
			"starts.");
	if (plan->guard.copies.count)
		text_add(out,
			 " It gives the box a copy of git's configuration to write, and one of "
			 "generated\n# hooks; here they are read-only.");
	if (plan->guard.active)
		text_add(out, "\n");
	if (plan->undo.active)
		text_add(out, "#\n# claudebox saves the project before the start, for --diff and "
			      "--undo; this script does not.\n");
	if (tier_table[plan->config->network].attached)
		add_network(script, out, plan);
	add_settings(out, script->arena, plan->config);
	add_words(script, out, plan);
	if (plan->limits.method == LIMITS_CGROUP)
		add_limits(script, out, &plan->limits);
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
	add_head(&script, &out, plan);
	if (script.uses_newline)
		text_add(&body, "CLAUDEBOX_NL='\n'\n");
	text_add(&body, text_get(&preparation));
	text_add(&body, text_get(&script.command));
	text_add(&body, seccomp_document(&script, &options));
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
