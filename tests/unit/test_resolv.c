// SPDX-License-Identifier: MIT
// resolv.conf: finds the same servers as the C library, and copies only what a resolver needs.
#include "base/arena.h"
#include "base/resolv_conf.h"
#include "base/text.h"
#include "check.h"

#include <stdint.h>
#include <string.h>

static struct arena arena;

static const char *servers_of(const char *text)
{
	struct resolver_list list = resolv_parse(text);
	struct text out = { .arena = &arena };

	for (size_t i = 0; i < list.count; i++)
		text_printf(&out, "%s%s%s%s", i ? " " : "", list.items[i].address,
			    *list.items[i].scope ? "%" : "", list.items[i].scope);
	return text_get(&out);
}

static void test_servers(void)
{
	static const struct {
		const char *text;
		const char *wanted;
	} rows[] = {
		{ NULL, "127.0.0.1" },
		{ "", "127.0.0.1" },
		{ "\n\n# nothing\n", "127.0.0.1" },
		{ "nameserver 192.0.2.1\n", "192.0.2.1" },
		{ "nameserver 192.0.2.1", "192.0.2.1" },
		{ "nameserver\t 192.0.2.1 \t# main\n", "192.0.2.1" },
		{ "nameserver 192.0.2.1\r\nnameserver 192.0.2.2\r\n", "192.0.2.1 192.0.2.2" },
		{ "nameserver 192.0.2.1 192.0.2.2\n", "192.0.2.1" },
		{ "nameserver 2001:db8::1\nnameserver fe80::1%eth0\n", "2001:db8::1 fe80::1%eth0" },
		{ "nameserver fe80::1%\n", "fe80::1" },
		{ "nameserver fe80::1%a%b\n", "127.0.0.1" },
		{ "nameserver fe80::1%an-interface-of-16\n", "127.0.0.1" },
		{ "nameserver fe80::1%fifteen-letters\n", "fe80::1%fifteen-letters" },
		{ "#nameserver 192.0.2.1\n;nameserver 192.0.2.2\n", "127.0.0.1" },
		{ " nameserver 192.0.2.1\n", "127.0.0.1" },
		{ "Nameserver 192.0.2.1\n", "127.0.0.1" },
		{ "nameserver192.0.2.1\nnameservers 192.0.2.1\n", "127.0.0.1" },
		{ "nameserver\nnameserver \nnameserver #192.0.2.1\n", "127.0.0.1" },
		{ "nameserver dns.example.org\nnameserver 192.0.2.1\n", "192.0.2.1" },
		{ "nameserver 192.0.2.1;x\nnameserver $(id)\nnameserver 192.0.2.2\n", "192.0.2.2" },
		{ "nameserver 192.0.2.1\033[2J\nnameserver \xff\n", "127.0.0.1" },
		{ "nameserver 1111:1111:1111:1111:1111:1111:1111.111.111.111\n", "127.0.0.1" },
		{ "nameserver 1111:1111:1111:1111:1111:1111:111.111.111.111\n",
		  "1111:1111:1111:1111:1111:1111:111.111.111.111" },
		{ "search a\nnameserver 192.0.2.1\noptions rotate\nnameserver 192.0.2.2",
		  "192.0.2.1 192.0.2.2" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE_STRING(servers_of(rows[i].text), rows[i].wanted,
				  rows[i].text ? rows[i].text : "no file");
}

static void test_many_servers(void)
{
	struct text text = { .arena = &arena };
	struct resolver_list list;

	for (int i = 0; i < 100; i++)
		text_printf(&text, "nameserver 192.0.2.%d\n", i);
	list = resolv_parse(text_get(&text));
	CHECK(list.count == RESOLVER_LINES);
	CHECK_STRING(list.items[RESOLVER_LINES - 1].address, "192.0.2.15");
}

#define SERVER "nameserver 127.0.0.53\n"

static void test_render(void)
{
	static const struct {
		const char *text;
		const char *wanted;
	} rows[] = {
		{ NULL, SERVER },
		{ "", SERVER },
		{ "nameserver 192.0.2.1\n# a comment\nsortlist 192.0.2.0\n", SERVER },
		{ "search a.example b.example\noptions edns0 trust-ad\n",
		  SERVER "search a.example b.example\noptions edns0 trust-ad\n" },
		{ "options edns0 trust-ad\nnameserver 192.0.2.1\nsearch .\n",
		  SERVER "search .\noptions edns0 trust-ad\n" },
		{ "search a\nsearch b c\n", SERVER "search b c\n" },
		{ "search a b\ndomain d e\n", SERVER "search d\n" },
		{ "domain d\nsearch a b\n", SERVER "search a b\n" },
		{ "search a\nsearch\nsearch \ndomain\n", SERVER "search a\n" },
		{ "search long-one\nsearch $(id)\n", SERVER },
		{ "options ndots:2\noptions\noptions timeout:1\tattempts:3\n",
		  SERVER "options ndots:2 timeout:1 attempts:3\n" },
		{ "search a # my provider\noptions rotate ; as told\n",
		  SERVER "search a\noptions rotate\n" },
		{ "search a b\r\noptions rotate\r\n", SERVER "search a b\noptions rotate\n" },
		{ "search a \033[31mred b\xc3\xa9 c\x7f ok\n", SERVER "search a ok\n" },
		{ "search a:b a/b a%b 'a' ok_x-1\n", SERVER "search ok_x-1\n" },
		{ "options a=b `x` debug abcdefghijklmnopqrstuvwxyz0123456\n",
		  SERVER "options debug\n" },
		{ "searching a\noptionsx b\ndomains c\n search d\n#search e\n", SERVER },
		{ "SECRET=x search a\nsearch a\n\nsecret\n", SERVER "search a\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_CASE_STRING(resolv_render(&arena, rows[i].text, "127.0.0.53"), rows[i].wanted,
				  rows[i].text ? rows[i].text : "no file");
}

static void test_long_lines(void)
{
	struct text text = { .arena = &arena };
	const char *out;

	text_add(&text, "search ");
	for (int i = 0; i < 255; i++)
		text_add(&text, "x");
	for (int i = 0; i < 5000; i++)
		text_printf(&text, " n%d.example", i);
	text_add(&text, "\noptions");
	for (int i = 0; i < 5000; i++)
		text_printf(&text, " o%d", i);
	out = resolv_render(&arena, text_get(&text), "127.0.0.53");
	CHECK(str_starts(out, SERVER "search n0.example n1.example "));
	CHECK(strstr(out, "\noptions o0 o1 ") != NULL);
	CHECK(strlen(out) < 1400);
}

// For random content, the result has only the allowed lines and characters.
static void test_random_content(void)
{
	static const char *const pieces[] = { "nameserver ", "search ",   "domain ", "options ",
					      "\n",          "192.0.2.1", "fe80::",  "%",
					      "#",           "\t",        "\r",      ";",
					      "a.example",   "\033",      "\xff",    "ndots:1" };
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789.-_: \n%";
	uint32_t state = 20240229;
	bool sane = true;

	for (int round = 0; round < 5000; round++) {
		struct text text = { .arena = &arena };
		const char *out;

		for (int i = 0; i < 40; i++) {
			state = state * 1664525 + 1013904223;
			text_add(&text, pieces[(state >> 16) % ARRAY_SIZE(pieces)]);
		}
		out = resolv_render(&arena, text_get(&text), "127.0.0.53");
		sane = sane && str_starts(out, SERVER) && strspn(out, letters) == strlen(out) &&
		       !strstr(out, "\nnameserver");
		out = servers_of(text_get(&text));
		sane = sane && *out && strspn(out, letters) == strlen(out);
		arena_free(&arena);
		arena = (struct arena){ 0 };
	}
	CHECK(sane);
}

int main(void)
{
	test_servers();
	test_many_servers();
	test_render();
	test_long_lines();
	test_random_content();
	arena_free(&arena);
	return check_done();
}
