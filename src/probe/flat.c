// SPDX-License-Identifier: MIT
// Looks at a ~/.claudebox that was once the .claude directory of every project.
//
// Theory of operation: boxes of all projects wrote it, so no link in it is followed. A conversation belongs to the
// directory that its own file names, if that fits the name of the directory that it lies in: the latter alone is
// ambiguous (/a/b-c and /a/b/c are both -a-b-c). Which project that is today, is found as at a start there.
#include "probe/flat.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/check.h"
#include "plan/claude/settings.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/state/instances.h"
#include "plan/state/upgrade.h"
#include "probe/file_system.h"
#include "probe/git/enclosing.h"
#include "probe/git/repository.h"
#include "probe/instances.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define CONVERSATION_END ".jsonl"

enum { TEXT_LIMIT = 1024 * 1024, SESSION_LENGTH = 36 };
// The place stands in one of the first lines, but a line may hold a picture.
static const size_t head_sizes[] = { (size_t)256 << 10, (size_t)16 << 20 };

// Where a directory that was worked in leads today.
struct place {
	const char *path;
	const char *root; // NULL: no box can be there
	struct file_system on;
};

struct reading {
	struct facts *facts;
	struct arena *arena;
	int root;
	VEC(struct place) places;
	strings hangers; // paths of what may hang on a conversation
};

static strings list(struct arena *arena, int root, const char *path)
{
	CLEANUP_FD int fd = file_open(root, path, O_RDONLY | O_DIRECTORY);
	CLEANUP_DIR DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	strings names = { 0 };

	if (directory)
		take_fd(&fd);
	while (directory && (entry = readdir(directory)))
		if (!str_equal(entry->d_name, ".") && !str_equal(entry->d_name, ".."))
			vec_push(arena, &names, arena_strdup(arena, entry->d_name));
	return names;
}

static const char *read_head(struct arena *arena, int root, const char *path, size_t size)
{
	CLEANUP_FD int fd = file_open(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	size_t length = 0;
	ssize_t got;
	char *text;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return "";
	if ((size_t)status.st_size < size)
		size = (size_t)status.st_size;
	text = arena_alloc(arena, size + 1);
	while (length < size && (got = read(fd, text + length, size - length)) > 0)
		length += (size_t)got;
	return text;
}

// On a server that is gone, only the look through another process ever ends.
static bool is_there(struct arena *arena, const char *path)
{
	instance_records records = { 0 };
	project_sights sights;

	vec_push(arena, &records, (struct instance_record){ .root = path });
	sights = probe_projects(arena, &records);
	return sights.items[0].seen == SIGHT_THERE;
}

// As at a start in this directory.
static struct place find_place(const struct reading *reading, const char *path)
{
	struct arena *arena = reading->arena;
	struct error error = { .arena = arena };
	struct facts there = *reading->facts;
	struct place place = { .path = path };
	struct followed followed;

	if (!is_there(arena, path))
		return place;
	followed = file_follow(arena, path);
	if (followed.kind != FILE_DIRECTORY || !str_equal(followed.real, path))
		return place;
	there.project = path;
	there.project_problem = NULL;
	there.project_id = followed.id;
	there.git = (struct git_facts){ 0 };
	probe_repository(&there.git, arena, path);
	probe_enclosing_repository(&there, arena);
	if (!plan_refuse_project(&there, &error))
		return place;
	place.root = plan_canonical_root(arena, &there);
	place.on = probe_file_system(arena, place.root);
	return place;
}

static struct place place_of(struct reading *reading, const char *slug, const char *name)
{
	const char *path = arena_printf(reading->arena, "projects/%s/%s", slug, name);
	struct arena scratch = { 0 };
	const char *found = NULL;
	struct place place = { 0 };

	for (size_t i = 0; !found && i < ARRAY_SIZE(head_sizes); i++)
		found = upgrade_place(
			&scratch, read_head(&scratch, reading->root, path, head_sizes[i]), slug);
	if (found) {
		place.path = found;
		vec_each(known, &reading->places) {
			if (str_equal(known->path, found))
				place = *known;
		}
		if (place.path == found) {
			place = find_place(reading, arena_strdup(reading->arena, found));
			vec_push(reading->arena, &reading->places, place);
		}
	}
	arena_free(&scratch);
	return place;
}

// The lists of things to do, and the files as they were, go by the conversation's number.
static void add_hangers(const struct reading *reading, struct flat_part *part, const char *session)
{
	if (strlen(session) != SESSION_LENGTH)
		return;
	vec_each(path, &reading->hangers) {
		if (str_starts(path_name(*path), session))
			vec_push(reading->arena, &part->paths, *path);
	}
}

// Each conversation goes where it belongs, and takes along what has its name; the rest of the directory goes with
// them when they all go to one place.
static void read_slug(struct reading *reading, const char *slug)
{
	struct arena *arena = reading->arena;
	struct flat_facts *flat = &reading->facts->state.flat;
	strings names = list(arena, reading->root, path_join(arena, "projects", slug));
	struct flat_part rest = { 0 };
	struct place first = { 0 };
	bool alike = true;
	bool any = false;

	vec_each(name, &names) {
		const char *session = arena_strndup(arena, *name, strcspn(*name, "."));
		struct flat_part part = { .conversation = !str_starts(*name, "agent-") };
		struct place place;

		if (!str_ends(*name, CONVERSATION_END))
			continue;
		place = place_of(reading, slug, *name);
		if (!any)
			first = place;
		any = true;
		alike &= str_equal(first.root, place.root);
		part.root = place.root;
		part.on = place.on;
		vec_push(arena, &part.paths, arena_printf(arena, "projects/%s/%s", slug, *name));
		vec_each(other, &names) {
			if (str_equal(*other, session))
				vec_push(arena, &part.paths,
					 arena_printf(arena, "projects/%s/%s", slug, session));
		}
		add_hangers(reading, &part, session);
		vec_push(arena, &flat->parts, part);
	}
	rest.root = alike ? first.root : NULL;
	rest.on = first.on;
	vec_each(name, &names) {
		if (!str_ends(*name, CONVERSATION_END) && strlen(*name) != SESSION_LENGTH)
			vec_push(arena, &rest.paths,
				 arena_printf(arena, "projects/%s/%s", slug, *name));
	}
	if (rest.paths.count)
		vec_push(arena, &flat->parts, rest);
}

static void read_projects(struct reading *reading)
{
	static const char *const hanging[] = { "todos", "file-history", "tasks" };
	strings slugs = list(reading->arena, reading->root, "projects");

	for (size_t i = 0; i < ARRAY_SIZE(hanging); i++) {
		strings names = list(reading->arena, reading->root, hanging[i]);

		vec_each(name, &names)
			vec_push(reading->arena, &reading->hangers,
				 path_join(reading->arena, hanging[i], *name));
	}
	vec_each(slug, &slugs)
		read_slug(reading, *slug);
}

static const char *date_of_today(struct arena *arena)
{
	char text[32] = "";
	time_t now = time(NULL);
	struct tm parts;

	if (localtime_r(&now, &parts))
		strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &parts);
	return arena_strdup(arena, text);
}

void probe_flat_state(struct facts *facts, struct arena *arena)
{
	CLEANUP_FD int root =
		open(facts->state.root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct flat_facts *flat = &facts->state.flat;
	struct reading reading = { .facts = facts, .arena = arena, .root = root };
	const char *credentials;
	strings names;

	if (root < 0)
		return;
	flat->begun = faccessat(root, BACKUP_BEGUN, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	flat->found = flat->begun;
	for (size_t i = 0; i < flat_mark_count; i++)
		flat->found |= faccessat(root, flat_marks[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	if (!flat->found)
		return;
	names = list(arena, root, ".");
	vec_each(name, &names) {
		if (!upgrade_keeps_name(*name))
			vec_push(arena, &flat->entries, *name);
	}
	flat->date = date_of_today(arena);
	if (flat->begun)
		return;
	credentials = file_read_at(arena, root, ".credentials.json", TEXT_LIMIT);
	flat->credentials = settings_valid(credentials) ? credentials : NULL;
	flat->store_has_credentials = faccessat(root,
						"sign-in/" CREDENTIALS_STORE "/.credentials.json",
						F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	read_projects(&reading);
}
