// SPDX-License-Identifier: MIT
// Ranges of addresses: parsing, rendering, comparison; and the table of ranges that inet refuses.
#include "base/address.h"
#include "base/arena.h"
#include "check.h"
#include "plan/tables.h"

static struct arena arena;

static const char *round_trip(const char *text)
{
	struct address_range range;

	return address_parse(text, &range) ? address_render(&arena, &range) : "no";
}

static void test_text(void)
{
	static const char *const rows[][2] = {
		{ "10.0.0.0/8", "10.0.0.0/8" },
		{ "10.1.2.3", "10.1.2.3" },
		{ "10.1.2.3/32", "10.1.2.3" },
		{ "0.0.0.0/0", "0.0.0.0/0" },
		{ "fe80::/10", "fe80::/10" },
		{ "2001:DB8:0:0:0:0:0:1/128", "2001:db8::1" },
		{ "::", "::" },
		{ "10.0.0.0/33", "no" },
		{ "::/129", "no" },
		{ "10.0.0.0/", "no" },
		{ "10.0.0.0/08x", "no" },
		{ "10.0.0.0/-1", "no" },
		{ "10.0.0", "no" },
		{ "10.0.0.0.0", "no" },
		{ "fe80::1%eth0", "no" },
		{ "x", "no" },
		{ "", "no" },
		{ "1:2:3:4:5:6:7:8:9:a:b:c:d:e:f:0:1:2:3:4:5:6:7:8:9", "no" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE_STRING(round_trip(rows[i][0]), rows[i][1], rows[i][0]);
}

static bool covers(const char *outer, const char *inner)
{
	struct address_range a;
	struct address_range b;

	return address_parse(outer, &a) && address_parse(inner, &b) && address_covers(&a, &b);
}

static void test_covers(void)
{
	CHECK(covers("10.0.0.0/8", "10.255.0.0/16"));
	CHECK(covers("10.0.0.0/8", "10.0.0.0/8"));
	CHECK(covers("0.0.0.0/0", "1.2.3.4"));
	CHECK(covers("172.16.0.0/12", "172.31.255.255"));
	CHECK(covers("fc00::/7", "fd00::1"));
	CHECK(!covers("172.16.0.0/12", "172.32.0.0"));
	CHECK(!covers("10.0.0.0/8", "10.0.0.0/7"));
	CHECK(!covers("10.0.0.0/8", "11.0.0.0/8"));
	CHECK(!covers("0.0.0.0/0", "::1"));
	CHECK(!covers("::/0", "1.2.3.4"));
	CHECK(!covers("fc00::/7", "fe00::1"));
}

static void test_network(void)
{
	struct address_range range;

	address_parse("192.168.77.5/24", &range);
	range = address_network(range);
	CHECK_CASE_STRING(address_render(&arena, &range), "192.168.77.0/24", "IPv4");
	address_parse("2001:db8:1:2:3:4:5:6/61", &range);
	range = address_network(range);
	CHECK_CASE_STRING(address_render(&arena, &range), "2001:db8:1::/61", "IPv6");
	address_parse("10.0.0.0/8", &range);
	range = address_nat64(&range);
	CHECK_CASE_STRING(address_render(&arena, &range), "64:ff9b::a00:0/104", "NAT64");
	address_parse("169.254.169.254", &range);
	range = address_nat64(&range);
	CHECK_CASE_STRING(address_render(&arena, &range), "64:ff9b::a9fe:a9fe", "NAT64, one");
}

// nft rejects overlapping ranges. A row that does not parse would be skipped without an error.
static void test_table(void)
{
	for (size_t i = 0; i < refused_range_count; i++) {
		const char *row = refused_ranges[i].range;

		CHECK_CASE_STRING(round_trip(row), row, row);
		CHECK_CASE(refused_ranges[i].why && *refused_ranges[i].why, row);
		for (size_t k = 0; k < refused_range_count; k++)
			CHECK_CASE(k == i || !covers(row, refused_ranges[k].range),
				   arena_printf(&arena, "%s is not in %s", refused_ranges[k].range,
						row));
	}
}

int main(void)
{
	test_text();
	test_covers();
	test_network();
	test_table();
	arena_free(&arena);
	return check_done();
}
