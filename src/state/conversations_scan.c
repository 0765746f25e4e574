// SPDX-License-Identifier: MIT
// Searches conversations of the host for secrets.
//
// Theory of operation: a conversation can have gigabytes, and a line of it megabytes (an image, the
// output of a program). A line up to LINE_LIMIT is searched as a whole. Of a longer one, parts of
// that size are searched, and each begins with the end of the one before, so that no secret is cut.
#include "state/conversations_scan.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "plan/claude/transcript.h"
#include "plan/facts.h"
#include "render/instances.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"
#include "sys/output.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { LINE_LIMIT = 4 * 1024 * 1024, OVERLAP = 64 * 1024, NOTICE_MS = 1000, INTERVAL_MS = 5000 };

struct progress {
	bool quiet;
	struct arena *arena;
	uint64_t total;
	uint64_t done;
	int64_t start_ms;
	int64_t next_ms; // after the start
};

struct search {
	struct conversation_scan *scan;
	struct progress *progress;
	char *buffer; // LINE_LIMIT bytes and a NUL
	size_t used;
	size_t line;
	bool in_long_line; // the buffer begins within a line
};

static void show_progress(struct progress *progress, size_t more)
{
	int64_t now = clock_monotonic_ms() - progress->start_ms;

	progress->done += more;
	if (progress->quiet || now < progress->next_ms)
		return;
	progress->next_ms = now + INTERVAL_MS;
	output_message("claudebox", "searching %s of conversations for secrets: %u%%",
		       render_size(progress->arena, progress->total),
		       (unsigned int)(progress->done * 100 / (progress->total + 1)));
}

static void add_hit(struct conversation_scan *scan, size_t line, const char *kind)
{
	if (!kind || scan->count == MOST_HITS ||
	    (scan->count && scan->hits[scan->count - 1].line == line))
		return;
	scan->hits[scan->count++] = (struct conversation_hit){ .line = line, .kind = kind };
}

// Searches a line, or a part of one. The byte behind it belongs to the buffer.
static void search_line(struct search *search, char *text, size_t length)
{
	char behind = text[length];

	for (size_t i = 0; i < length; i++)
		if (text[i] == '\0') // it would end the text
			text[i] = ' ';
	text[length] = '\0';
	add_hit(search->scan, search->line,
		search->in_long_line ? transcript_find_in_part(text)
				     : transcript_find_secret(text));
	text[length] = behind;
}

// Searches the complete lines in the buffer, and a part of a line that fills the buffer.
static void search_buffer(struct search *search)
{
	char *rest = search->buffer;
	char *end = search->buffer + search->used;
	char *newline;

	while ((newline = memchr(rest, '\n', (size_t)(end - rest)))) {
		search_line(search, rest, (size_t)(newline - rest));
		search->line++;
		search->in_long_line = false;
		rest = newline + 1;
	}
	if (end - rest == LINE_LIMIT) {
		search->in_long_line = true;
		search_line(search, rest, LINE_LIMIT);
		rest = end - OVERLAP;
	}
	search->used = (size_t)(end - rest);
	memmove(search->buffer, rest, search->used);
}

int conversation_open(int source, const struct host_conversation *conversation, struct error *error)
{
	CLEANUP_FD int fd = openat(source, conversation->name,
				   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat status;

	if (fd < 0) {
		write_fail(error, "read conversation", conversation->name);
		return -1;
	}
	if (!file_is_same(fd, &conversation->id) || fstat(fd, &status) < 0 ||
	    (uint64_t)status.st_size < conversation->size) {
		error_set(error, "conversation '%s' has changed meanwhile", conversation->name);
		error_hint(error, "start again");
		return -1;
	}
	return take_fd(&fd);
}

static bool search_file(struct search *search, int source, struct error *error)
{
	const struct host_conversation *conversation = search->scan->conversation;
	CLEANUP_FD int fd = conversation_open(source, conversation, error);
	uint64_t left = conversation->size;

	search->used = 0;
	search->line = 1;
	search->in_long_line = false;
	while (fd >= 0 && left && search->scan->count < MOST_HITS) {
		size_t room = LINE_LIMIT - search->used;
		ssize_t got = read(fd, search->buffer + search->used, left < room ? left : room);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			errno = got ? errno : EIO;
			return write_fail(error, "read conversation", conversation->name);
		}
		search->used += (size_t)got;
		left -= (uint64_t)got;
		search_buffer(search);
		show_progress(search->progress, (size_t)got);
	}
	if (search->used)
		search_line(search, search->buffer, search->used);
	return fd >= 0;
}

bool conversations_scan(const struct conversation_facts *found, struct arena *arena, bool quiet,
			conversation_scans *ret_scans, struct error *error)
{
	CLEANUP_FD int source = file_open(AT_FDCWD, found->source, O_RDONLY | O_DIRECTORY);
	struct progress progress = { .quiet = quiet,
				     .arena = arena,
				     .total = found->size,
				     .start_ms = clock_monotonic_ms(),
				     .next_ms = NOTICE_MS };
	struct arena scratch = { 0 };
	struct search search = { .progress = &progress,
				 .buffer = arena_alloc(&scratch, LINE_LIMIT + 1) };
	bool ok = true;

	if (source < 0)
		ok = write_fail(error, "open directory", found->source);
	vec_each(conversation, &found->list) {
		struct conversation_scan scan = { .conversation = conversation };

		search.scan = &scan;
		ok = ok && search_file(&search, source, error);
		vec_push(arena, ret_scans, scan);
	}
	arena_free(&scratch);
	return ok;
}
