// SPDX-License-Identifier: MIT
// Asks about the conversations of plain claude on the host. Neither --yes nor "confirm" answers
// these questions.
#include "state/conversations.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/state/conversations.h"
#include "render/instances.h"
#include "state/conversations_scan.h"
#include "sys/ask.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/output.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define ANSWER_COPIED   "copied\n"
#define ANSWER_DECLINED "declined\n"

enum { LISTED_CONVERSATIONS = 10, HEAD_SIZE = 256 * 1024, ENTRIES_MAX = 100 * 1000 };

static const char *render_offer(struct arena *arena, const struct conversation_facts *found)
{
	bool one = found->list.count == 1;

	return arena_printf(arena,
			    "Plain claude has %zu conversation%s for this directory (%s). Copy %s "
			    "into the box, where the agent can read %s? claudebox asks this once; "
			    "later: --import-conversations.",
			    found->list.count, one ? "" : "s", render_size(arena, found->size),
			    one ? "it" : "them", one ? "it" : "them");
}

static size_t count_hits(const conversation_scans *scans)
{
	size_t count = 0;

	vec_each(scan, scans)
		count += scan->count > 0;
	return count;
}

// Names the conversations with secrets; never a value.
static void show_hits(struct arena *arena, const conversation_scans *scans)
{
	size_t shown = 0;
	size_t count = count_hits(scans);

	vec_each(scan, scans) {
		struct text places = { .arena = arena };

		if (!scan->count || shown++ >= LISTED_CONVERSATIONS)
			continue;
		for (size_t i = 0; i < scan->count; i++)
			text_printf(&places, "%sline %zu: %s", i ? ", " : "", scan->hits[i].line,
				    scan->hits[i].kind);
		output_message("secret", "%s, %s%s", scan->conversation->name, text_get(&places),
			       scan->count == MOST_HITS ? ", and perhaps more" : "");
	}
	if (count > LISTED_CONVERSATIONS)
		output_message("secret", "and in %zu more conversations",
			       count - LISTED_CONVERSATIONS);
}

// Decides about the conversations with secrets.
static bool accept_hits(const struct plan *plan, const struct conversation_facts *found,
			struct arena *arena, const conversation_scans *scans, bool *ret_accepted,
			struct error *error)
{
	const struct config *config = plan->config;
	size_t count = count_hits(scans);
	bool asks = found->can_ask && !config->yes && config->confirm != CONFIRM_NEVER &&
		    !conversation_is_printed(config);

	*ret_accepted = false;
	if (!count || (!asks && config->audit == AUDIT_QUIET))
		return true;
	show_hits(arena, scans);
	if (!asks) {
		output_message("claudebox",
			       "%zu conversation%s with something like a secret %s not copied; to "
			       "be asked about %s, start on a terminal without --yes and -p",
			       count, count == 1 ? "" : "s", count == 1 ? "is" : "are",
			       count == 1 ? "it" : "them");
		return true;
	}
	return ask_yes_no(
		arena_printf(arena,
			     "Copy %s with something like a secret too? The agent can "
			     "then read the secret.",
			     count == 1 ? "the conversation"
					: arena_printf(arena, "the %zu conversations", count)),
		ret_accepted, error);
}

// Refuses to start claude with a conversation that is not copied: claude would not find it.
static bool check_resumed(const struct plan *plan, const conversation_scans *scans, bool accepted,
			  struct error *error)
{
	const char *id = conversation_resumed(plan->config);

	vec_each(scan, scans) {
		if (!id || !scan->count || accepted || !str_starts(scan->conversation->name, id))
			continue;
		error_set(error,
			  "conversation '%s' is not copied: it contains something like a secret",
			  id);
		return error_hint(error, "accept it at the question, or start without --resume");
	}
	return true;
}

static bool choose(const struct facts *facts, struct plan *plan, struct arena *arena,
		   struct error *error)
{
	const struct conversation_facts *found = &facts->conversations;
	struct plan_import *import = &plan->state.import;
	conversation_scans scans = { 0 };
	bool accepted;

	if (!conversations_scan(found, arena, plan->config->audit == AUDIT_QUIET, &scans, error) ||
	    !accept_hits(plan, found, arena, &scans, &accepted, error) ||
	    !check_resumed(plan, &scans, accepted, error))
		return false;
	import->source = found->source;
	import->slug = found->slug;
	import->answer = ANSWER_COPIED;
	vec_each(scan, &scans) {
		if (!scan->count || accepted)
			vec_push(arena, &import->list, *scan->conversation);
	}
	if (plan->config->audit != AUDIT_QUIET)
		output_message("claudebox", "copying %zu of %zu conversations", import->list.count,
			       found->list.count);
	return true;
}

bool resolve_conversations(const struct facts *facts, struct plan *plan, struct arena *arena,
			   struct error *error)
{
	const struct conversation_facts *found = &facts->conversations;
	bool wanted = plan->config->import_conversations;

	if (wanted && !found->list.count && plan->config->audit != AUDIT_QUIET)
		output_message("claudebox", "plain claude has no conversation for this directory "
					    "that the box lacks");
	if (!found->list.count)
		return true;
	if (conversation_offer(plan->config, found)) {
		if (!ask_yes_no(render_offer(arena, found), &wanted, error))
			return false;
		if (!wanted)
			plan->state.import.answer = ANSWER_DECLINED;
	}
	return !wanted || choose(facts, plan, arena, error);
}

// Returns whether a file of the box is a conversation: a directory is named near its start. Claude
// also writes files without a message.
static bool is_conversation(int directory, const char *name, struct arena *arena)
{
	CLEANUP_FD int fd =
		openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char *head = arena_alloc(arena, HEAD_SIZE);
	ssize_t length = fd < 0 ? -1 : read(fd, head, HEAD_SIZE);

	return length > 0 && memmem(head, (size_t)length, "\"cwd\":\"", strlen("\"cwd\":\""));
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec >= b->tv_nsec;
}

// Finds the conversation that was written last, but not before *time. A box can create any file
// there: only a regular file with a UUID as its name counts.
static const char *find_last(struct arena *arena, int directory, struct timespec *time)
{
	CLEANUP_DIR DIR *stream = open_directory_stream(directory, ".");
	const struct dirent *entry;
	const char *last = NULL;

	for (int i = 0; stream && i < ENTRIES_MAX && (entry = readdir(stream)); i++) {
		struct stat status;

		if (!conversation_name_valid(entry->d_name) ||
		    fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(status.st_mode) || !is_later(&status.st_mtim, time))
			continue;
		*time = status.st_mtim;
		last = arena_strdup(arena, entry->d_name);
	}
	return last && is_conversation(directory, last, arena) ? last : NULL;
}

const char *conversation_last(const struct plan *plan, struct arena *arena, struct timespec start)
{
	const char *slug = conversation_slug(arena, plan->project);
	CLEANUP_FD int directory = -1;
	const char *name;

	if (plan->config->payload != PAYLOAD_CLAUDE || conversation_is_printed(plan->config) ||
	    !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !isatty(STDERR_FILENO))
		return NULL;
	directory = file_open(AT_FDCWD,
			      arena_printf(arena, "%s/" CONVERSATIONS_DIRECTORY "/%s",
					   plan->state.claude, slug),
			      O_RDONLY | O_DIRECTORY);
	name = directory < 0 ? NULL : find_last(arena, directory, &start);
	return name ? arena_strndup(arena, name, strcspn(name, ".")) : NULL;
}
