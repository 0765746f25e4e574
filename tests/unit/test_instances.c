// SPDX-License-Identifier: MIT
// Instances: ids, records, when a project counts as gone, the order, and the two lists.
#include "base/arena.h"
#include "base/text.h"
#include "check.h"
#include "plan/facts.h"
#include "plan/state/instances.h"
#include "render/instances.h"

#include <string.h>

#define ROOT "/home/user/project"
#define NOW  INT64_C(1700000000)
#define DAY  INT64_C(86400)

static struct arena arena;

static void test_ids(void)
{
	CHECK_STRING(instance_id(&arena, "/"), "8a5edab282632443");
	CHECK(instance_id_valid("0123456789abcdef"));
	CHECK(!instance_id_valid("0123456789abcde"));
	CHECK(!instance_id_valid("0123456789abcdef0"));
	CHECK(!instance_id_valid("0123456789ABCDEF"));
	CHECK(!instance_id_valid("../3456789abcdef"));
	CHECK(!instance_id_valid(""));
	CHECK_STRING(instance_kept_name(&arena, "0123456789abcdef", 12), "0123456789abcdef.old-12");
	CHECK(instance_kept_valid("0123456789abcdef.old-12"));
	CHECK(instance_kept_valid("0123456789abcdef.old-9999"));
	CHECK(!instance_kept_valid("0123456789abcdef"));
	CHECK(!instance_kept_valid("0123456789abcdef.old-"));
	CHECK(!instance_kept_valid("0123456789abcdef.old-0"));
	CHECK(!instance_kept_valid("0123456789abcdef.old-10000"));
	CHECK(!instance_kept_valid("0123456789abcdef.old-1/"));
	CHECK(!instance_kept_valid("0123456789abcdef.old-1x"));
	CHECK(!instance_kept_valid("0123456789abcde.old-1"));
}

static void test_records(void)
{
	static const char *const roots[] = { ROOT,        "/",           "/a\nb",
					     "/\xff\xfe", "/\xc3\xa9 x", "/a\"b\\" };
	struct file_system on = { .mount_point = "/home", .id = "0011223344556677" };
	struct instance_record record = { .root = ROOT };

	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		const struct instance_record written = { .root = roots[i],
							 .on = on,
							 .identity = { 12, 3000000004 } };
		const char *text = instance_render_record(&arena, &written);
		const char *id = instance_id(&arena, roots[i]);

		CHECK_CASE(instance_read_record(&arena, id, text, &record), id);
		CHECK_CASE_STRING(record.root, roots[i], id);
		CHECK_CASE_STRING(record.on.mount_point, "/home", id);
		CHECK_CASE_STRING(record.on.id, "0011223344556677", id);
		CHECK_CASE(record.identity.inode == 12 && record.identity.born_ns == 3000000004,
			   id);
		CHECK_CASE(!record.kept, id);
		CHECK_CASE(instance_read_record(&arena, instance_kept_name(&arena, id, 3), text,
						&record) &&
				   record.kept,
			   id);
		CHECK(record.version == INSTANCE_RECORD_VERSION);
		CHECK(!instance_read_record(&arena, instance_id(&arena, "/other"), text, &record));
	}
	record = (struct instance_record){ .root = ROOT };
	CHECK(instance_read_record(&arena, instance_id(&arena, ROOT),
				   instance_render_record(&arena, &record), &record) &&
	      !record.on.mount_point && !record.on.id && !record.identity.born_ns);
}

static void test_bad_records(void)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"{}",
		"{\"root\": 7}",
		"{\"root\": \"relative\"}",
		"{\"root\": \"" ROOT "\", \"root_hex\": \"2f61\"}", // root_hex takes precedence
		"{\"root_hex\": \"2f6\"}",
		"{\"root_hex\": \"zz\"}",
		"{\"root_hex\": \"2f00\"}",
	};
	struct instance_record record;

	CHECK(!instance_read_record(&arena, instance_id(&arena, ROOT), NULL, &record));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		CHECK_CASE(!instance_read_record(&arena, instance_id(&arena, ROOT), texts[i],
						 &record),
			   texts[i]);
}

// A directory counts as replaced only when both identities are known.
static void test_replaced(void)
{
	const struct directory_identity unknown = { 0 };
	const struct directory_identity first = { 7, 100 };
	const struct directory_identity reused_inode = { 7, 101 };
	const struct directory_identity same_moment = { 8, 100 };
	const struct directory_identity no_birth_time = { .inode = 9 };

	CHECK(!instance_is_replaced(&first, &first));
	CHECK(instance_is_replaced(&first, &reused_inode));
	CHECK(instance_is_replaced(&first, &same_moment));
	CHECK(!instance_is_replaced(&first, &unknown));
	CHECK(!instance_is_replaced(&unknown, &first));
	CHECK(!instance_is_replaced(&first, &no_birth_time));
	CHECK(!instance_is_replaced(&no_birth_time, &first));
	CHECK(!instance_is_replaced(&unknown, &unknown));
}

static void test_project_status(void)
{
	const struct instance_record plain = { .root = ROOT };
	const struct instance_record mounted = { .root = ROOT, .on = { "/mnt/usb", NULL } };
	const struct instance_record known = { .root = ROOT, .on = { "/mnt/usb", "1" } };
	const struct directory_identity old = { 7, 100 };
	const struct directory_identity new = { 7, 101 };
	const struct instance_record kept = {
		.root = ROOT, .on = { "/mnt/usb", "1" }, .identity = old, .kept = true
	};
	const struct {
		const char *what;
		const struct instance_record *record;
		struct project_facts facts;
		enum project_status status;
	} rows[] = {
		{ "no record", NULL, { .lookup = LOOKUP_MISSING }, PROJECT_UNKNOWN },
		{ "exists", &known, { .lookup = LOOKUP_EXISTS }, PROJECT_EXISTS },
		{ "failed", &plain, { LOOKUP_FAILED, .problem = "x" }, PROJECT_UNREACHABLE },
		{ "timeout", &known, { .lookup = LOOKUP_TIMEOUT }, PROJECT_UNREACHABLE },
		{ "no mount point", &plain, { .lookup = LOOKUP_MISSING }, PROJECT_GONE },
		{ "no mount point, empty parent",
		  &plain,
		  { LOOKUP_MISSING, .parent_empty = true },
		  PROJECT_UNREACHABLE },
		{ "not mounted", &mounted, { .lookup = LOOKUP_MISSING }, PROJECT_UNREACHABLE },
		{ "mounted", &mounted, { LOOKUP_MISSING, .mounted = true }, PROJECT_GONE },
		{ "mounted, empty parent",
		  &mounted,
		  { LOOKUP_MISSING, NULL, true, NULL, true },
		  PROJECT_GONE },
		{ "same file system", &known, { LOOKUP_MISSING, NULL, true, "1" }, PROJECT_GONE },
		{ "another file system",
		  &known,
		  { LOOKUP_MISSING, NULL, true, "2" },
		  PROJECT_UNREACHABLE },
		{ "file system without id",
		  &known,
		  { LOOKUP_MISSING, NULL, true },
		  PROJECT_UNREACHABLE },
		{ "kept, another directory",
		  &kept,
		  { LOOKUP_EXISTS, NULL, true, "1", .identity = new },
		  PROJECT_REPLACED },
		{ "kept, the same directory",
		  &kept,
		  { LOOKUP_EXISTS, NULL, true, "1", .identity = old },
		  PROJECT_UNREACHABLE },
		{ "kept, an unknown directory",
		  &kept,
		  { LOOKUP_EXISTS, NULL, true, "1" },
		  PROJECT_UNREACHABLE },
		{ "kept, another file system",
		  &kept,
		  { LOOKUP_EXISTS, NULL, true, "2", .identity = new },
		  PROJECT_UNREACHABLE },
		{ "kept, not mounted",
		  &kept,
		  { LOOKUP_EXISTS, .identity = new },
		  PROJECT_UNREACHABLE },
		{ "kept, missing", &kept, { LOOKUP_MISSING, NULL, true, "1" }, PROJECT_GONE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *why;
		enum project_status status =
			instance_project_status(&arena, rows[i].record, &rows[i].facts, &why);

		CHECK_CASE(status == rows[i].status, rows[i].what);
		// An instance that is kept although its project is missing has a reason.
		CHECK_CASE(!why == (status == PROJECT_EXISTS || status == PROJECT_GONE ||
				    status == PROJECT_REPLACED),
			   rows[i].what);
	}
}

static instance_list example_list(void)
{
	instance_list list = { 0 };
	struct instance rows[] = {
		{ "b", "/b", NOW - 3 * DAY, 2000, true, false, PROJECT_GONE, NULL, { 0 } },
		{ "a",
		  "/a",
		  NOW - 3 * DAY,
		  1500000,
		  true,
		  false,
		  PROJECT_EXISTS,
		  NULL,
		  { 1, 1200000, true } },
		{ "c", "/c", NOW, 10, false, true, PROJECT_GONE, NULL, { 0 } },
		{ "d", NULL, 0, 0, true, false, PROJECT_UNKNOWN, "why", { 0 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		vec_push(&arena, &list, rows[i]);
	instances_sort(&list);
	return list;
}

static void test_lists(void)
{
	instance_list list = example_list();
	instance_list removable = instances_removable(&arena, &list);
	struct instances_view view = { .home = "/home/user", .now = NOW };
	struct text order = { .arena = &arena };
	const char *text;

	vec_each(instance, &list)
		text_add(&order, instance->id);
	CHECK_STRING(text_get(&order), "cabd");
	CHECK(removable.count == 1 && str_equal(removable.items[0].id, "b"));
	CHECK_STRING(
		render_instances(&arena, &list, &view),
		"/c\n    c, at least 10 bytes, used just now, in use now, its project is gone\n"
		"/a\n    a, 1.5 MB (home: at least 1.2 MB), used 3 days ago\n"
		"/b\n    b, 2.0 kB, used 3 days ago, its project is gone\n"
		"?\n    d, 0 bytes, used 53 years ago, why\n"
		"4 instances, 1.5 MB\n");
	text = render_garbage(&arena, &list, 1, &view);
	CHECK(strstr(text, "To remove (the project is gone or was replaced):\n/b\n"));
	CHECK(strstr(text, "Kept (the project is missing or unknown):\n/c\n"));
	CHECK(strstr(text, "To finish: 1 removal.\n") && !strstr(text, "/a\n"));
	view.shared = (struct instance_home){ .count = 2, .size = 3000 };
	CHECK(strstr(render_instances(&arena, &list, &view),
		     "4 instances, 1.5 MB\nThe home that boxes share: 3.0 kB\n"));
	CHECK_STRING(render_homes(&arena, &list, &view),
		     "Kept home directories (those of running boxes stay):\n"
		     "/a\n    a, 1.5 MB (home: at least 1.2 MB), used 3 days ago\n"
		     "The home that boxes share: 3.0 kB\n");
	text = render_instances_json(&arena, &list, &view.shared);
	CHECK(strstr(text, "\"shared_home\": {\n    \"size\": 3000,") &&
	      strstr(text, "\"home\": null") && strstr(text, "\"size\": 1200000,"));
	CHECK(strstr(text, "\"version\": 1") && strstr(text, "\"root\": null") &&
	      strstr(text, "\"project\": \"unknown\""));
}

static void test_sizes(void)
{
	static const struct {
		uint64_t bytes;
		const char *shown;
	} rows[] = {
		{ 0, "0 bytes" },
		{ 999, "999 bytes" },
		{ 1000, "1.0 kB" },
		{ 999999, "999.9 kB" },
		{ 1000000, "1.0 MB" },
		{ 1234567890, "1.2 GB" },
		{ 5000000000000, "5.0 TB" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE_STRING(render_size(&arena, rows[i].bytes), rows[i].shown, rows[i].shown);
}

int main(void)
{
	test_ids();
	test_records();
	test_bad_records();
	test_replaced();
	test_project_status();
	test_lists();
	test_sizes();
	arena_free(&arena);
	return check_done();
}
