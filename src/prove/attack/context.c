// SPDX-License-Identifier: MIT
// The context of the attacks: the list of canaries, the environment, and paths derived from them.
#include "prove/attack/context.h"

#include "freestanding/memory.h"
#include "freestanding/syscall.h"
#include "freestanding/text.h"
#include "prove/attack/format.h"
#include "prove/attack/io.h"

#include <linux/auxvec.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/mman.h>

const char to_root[] = "../../../../../../../../../../../../../../../../../../../../../../../../";

struct context context; // without initialiser, because zeros would enlarge the program

// Adds a canary, or sets the field of the context that the line describes.
static bool add_canary(const struct canary *canary)
{
	const char *value = canary->field[0];

	switch (canary->kind) {
	case CANARY_KIND_COUNT:
		return false;
	case CANARY_TOKEN:
		context.token = value;
		return true;
	case CANARY_HOME:
		context.home = value;
		return true;
	case CANARY_PROJECT:
		context.project = value;
		return true;
	case CANARY_MARK:
		context.mark = value;
		return true;
	case CANARY_TIER:
		context.full = text_equal(value, "full");
		context.inet = text_equal(value, "inet");
		return true;
	case CANARY_FILE:
	case CANARY_ABSENT:
		if (attack_by_name(value) == ATTACK_COUNT)
			return false;
		break;
	default:
		break;
	}
	if (context.count < MAX_CANARIES)
		context.canaries[context.count++] = *canary;
	return true;
}

// Splits a line into its fields, in place.
static bool add_line(char *line)
{
	struct canary canary = { .field = { "", "", "" } };
	size_t field = 0;

	for (char *s = line; *s && field < CANARY_FIELDS; s++) {
		if (*s != '\t')
			continue;
		*s = 0;
		canary.field[field++] = s + 1;
	}
	canary.kind = canary_kind_by_name(line);
	return add_canary(&canary);
}

static bool read_canaries(const char *path)
{
	long file = open_file(path, O_RDONLY);
	long size = call(__NR_lseek, file, 0, SEEK_END, 0);
	char *text = size > 0 ? map_memory(size + 1, MAP_PRIVATE, file) : NULL;

	close_file(file);
	if (!text)
		return false;
	for (char *line = text, *s = text; s < text + size; s++) {
		if (*s != '\n')
			continue;
		*s = 0;
		if (!add_line(line))
			return false;
		line = s + 1;
	}
	return context.token[0] != 0;
}

bool read_context(const long *stack, const char *path)
{
	const long *auxiliary;

	context.token = context.home = "";
	context.project = ".";
	context.mark = CANARY_PREFIX "attack";
	context.page_size = 4096;
	context.environment = (char **)(stack + stack[0] + 2);
	auxiliary = (const long *)context.environment;
	while (*auxiliary++)
		;
	for (; auxiliary[0] != AT_NULL; auxiliary += 2)
		if (auxiliary[0] == AT_PAGESZ)
			context.page_size = (unsigned long)auxiliary[1];
	return read_canaries(path);
}

const struct canary *next_canary(const struct canary *after, enum canary_kind kind)
{
	const struct canary *end = context.canaries + context.count;

	for (after = after ? after + 1 : context.canaries; after < end; after++)
		if (after->kind == kind)
			return after;
	return NULL;
}

bool has_token(const void *data, long length)
{
	return length > 0 && text_find(data, (size_t)length, context.token);
}

int host_process(void)
{
	const struct canary *canary = next_canary(NULL, CANARY_PROCESS);
	int pid = canary ? (int)text_number(canary->field[0]) : 0;
	char path[64];

	if (pid <= 1)
		return 0;
	// A command line that can be read and lacks the token is that of a process of the box.
	return read_token(text_format(path, sizeof(path), "/proc/%d/cmdline", pid)) == 0 ? 0 : pid;
}

bool is_host_directory(const char *directory)
{
	size_t length = text_length(directory);

	for (const struct canary *file = NULL; (file = next_canary(file, CANARY_FILE));) {
		const char *path = file->field[1];

		if (!text_starts(path, directory) || path[length] != '/')
			continue;
		if (!text_find(path + length + 1, text_length(path + length + 1), "/") &&
		    read_token(path) == 1)
			return true;
	}
	return false;
}

const char *expand_path(char *buffer, size_t size, const char *pattern)
{
	int user = (int)call(__NR_geteuid, 0, 0, 0, 0);
	const char *tail = pattern + (*pattern == '~');
	char number[16];
	size_t used = 0;

	text_format(number, sizeof(number), "%d", user);
	text_format(buffer, size, "%s", *pattern == '~' ? context.home : "");
	used = text_length(buffer);
	for (; *tail && used + 1 < size; tail++) {
		bool is_user = tail[0] == '%' && tail[1] == 'd';
		char letter[2] = { *tail, 0 };

		text_format(buffer + used, size - used, "%s", is_user ? number : letter);
		used += text_length(buffer + used);
		tail += is_user;
	}
	return buffer;
}

const char *scratch_path(char *buffer, size_t size, const char *name)
{
	return text_format(buffer, size, "%s/%s.%s", context.project, context.mark, name);
}
