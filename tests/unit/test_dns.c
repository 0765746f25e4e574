// SPDX-License-Identifier: MIT
// DNS messages: recognizes standard queries and the answers that match them.
#include "base/arena.h"
#include "check.h"
#include "network/dns.h"
#include "network/dns_filter.h"

#include <stdlib.h>
#include <string.h>

#define QUESTION "\3www\7example\3org\0\0\1\0\1"
#define COUNTS   "\0\1\0\0\0\0\0\0"
#define QUERY    "\x12\x34\1\0" COUNTS QUESTION
#define OPTIONS  "\0\0\x29\x10\0\0\0\0\0\0\0"

struct bytes {
	const char *name;
	const char *data;
	size_t size;
};
// clang-format off
#define BYTES(name, literal) { (name), (literal), sizeof(literal) - 1 }
// clang-format on

// Returns a copy of the exact size, so that a sanitizer reports a read behind its end.
static uint8_t *copy(const char *data, size_t size)
{
	uint8_t *bytes = malloc(size ? size : 1);

	if (!bytes)
		abort();
	memcpy(bytes, data, size);
	return bytes;
}

static size_t query_end(const char *data, size_t size)
{
	uint8_t *bytes = copy(data, size);
	size_t end = dns_query_end(bytes, size);

	free(bytes);
	return end;
}

static bool answers(const char *data, size_t size, const char *query, size_t end)
{
	uint8_t *bytes = copy(data, size);
	uint8_t *question = copy(query, end);
	bool fits = dns_answers(bytes, size, question, end);

	free(question);
	free(bytes);
	return fits;
}

static enum dns_action filter(const char *data, size_t size, struct dns_filtered *ret)
{
	uint8_t *bytes = copy(data, size);
	enum dns_action action = dns_filter(bytes, size, ret);

	free(bytes);
	return action;
}

static void test_queries(void)
{
	static const struct bytes good[] = {
		BYTES("plain", QUERY),
		BYTES("no recursion", "\x12\x34\0\0" COUNTS QUESTION),
		BYTES("unknown bits", "\x12\x34\1\x30" COUNTS QUESTION),
		BYTES("the root", "\0\0\1\0" COUNTS "\0\0\2\0\1"),
	};
	static const struct bytes bad[] = {
		BYTES("nothing", ""),
		BYTES("a runt", "\x12\x34\1\0\0\1\0\0\0\0\0"),
		BYTES("only a header", "\x12\x34\1\0" COUNTS),
		BYTES("an answer", "\x12\x34\x81\0" COUNTS QUESTION),
		BYTES("an update", "\x12\x34\x28\0" COUNTS QUESTION),
		BYTES("a notification", "\x12\x34\x20\0" COUNTS QUESTION),
		BYTES("no question", "\x12\x34\1\0\0\0\0\0\0\0\0\0" QUESTION),
		BYTES("two questions", "\x12\x34\1\0\0\2\0\0\0\0\0\0" QUESTION QUESTION),
		BYTES("a pointer", "\x12\x34\1\0" COUNTS "\xc0\x0c\0\1\0\1"),
		BYTES("a label beyond the end", "\x12\x34\1\0" COUNTS "\x3fxyz\0\0\1\0\1"),
		BYTES("a name without an end", "\x12\x34\1\0" COUNTS "\3www"),
		BYTES("half a type", "\x12\x34\1\0" COUNTS "\3www\0\0"),
		BYTES("half a class", "\x12\x34\1\0" COUNTS "\3www\0\0\1\0"),
	};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		CHECK_CASE(query_end(good[i].data, good[i].size) == good[i].size, good[i].name);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_CASE(query_end(bad[i].data, bad[i].size) == 0, bad[i].name);
	CHECK(query_end(QUERY OPTIONS, sizeof(QUERY OPTIONS) - 1) == sizeof(QUERY) - 1);
}

static void test_long_names(void)
{
	char query[400] = "\0\0\1\0" COUNTS;

	// 127 labels of a letter and the end of the name are 255 bytes.
	for (size_t i = 0; i < 128; i++)
		memcpy(query + DNS_HEADER_SIZE + 2 * i, "\1x", 2);
	memset(query + DNS_HEADER_SIZE + 254, 0, 5);
	CHECK(query_end(query, DNS_HEADER_SIZE + 259) == DNS_HEADER_SIZE + 259);
	CHECK(DNS_QUESTION_MAX == 259);
	memset(query + DNS_HEADER_SIZE + 254, 1, 2);
	memset(query + DNS_HEADER_SIZE + 256, 0, 5);
	CHECK(query_end(query, DNS_HEADER_SIZE + 261) == 0);
	memset(query + DNS_HEADER_SIZE, 63, sizeof(query) - DNS_HEADER_SIZE);
	CHECK(query_end(query, sizeof(query)) == 0);
}

static void test_answers(void)
{
	static const char query[] = QUERY;
	static const struct bytes good[] = {
		BYTES("an answer", "\x12\x34\x81\x80\0\1\0\1\0\0\0\0" QUESTION "\xc0\x0c..."),
		BYTES("other case", "\x12\x34\x81\x80" COUNTS "\3WWW\7exAmple\3org\0\0\1\0\1"),
		BYTES("a refusal without the question", "\x12\x34\x81\5\0\0\0\0\0\0\0\0"),
	};
	static const struct bytes bad[] = {
		BYTES("nothing", ""),
		BYTES("a runt", "\x12\x34\x81\5\0\0\0\0\0\0\0"),
		BYTES("another id", "\x12\x35\x81\x80" COUNTS QUESTION),
		BYTES("a query", QUERY),
		BYTES("of an update", "\x12\x34\xa8\x80" COUNTS QUESTION),
		BYTES("another name", "\x12\x34\x81\x80" COUNTS "\3wwx\7example\3org\0\0\1\0\1"),
		BYTES("another type", "\x12\x34\x81\x80" COUNTS "\3www\7example\3org\0\0\x1c\0\1"),
		BYTES("another class", "\x12\x34\x81\x80" COUNTS "\3www\7example\3org\0\0\1\0\3"),
		BYTES("a shorter name", "\x12\x34\x81\x80" COUNTS "\3www\7example\0\0\1\0\1"),
		BYTES("a name that ends early", "\x12\x34\x81\x80" COUNTS "\3www\7exam"),
		BYTES("success without the question", "\x12\x34\x81\x80\0\0\0\1\0\0\0\0"),
	};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		CHECK_CASE(answers(good[i].data, good[i].size, query, sizeof(query) - 1),
			   good[i].name);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_CASE(!answers(bad[i].data, bad[i].size, query, sizeof(query) - 1),
			   bad[i].name);
}

static void test_failure(void)
{
	static const char query[] = QUERY OPTIONS;
	static const char wanted[] = "\x12\x34\x81\x82" COUNTS QUESTION;
	size_t end = query_end(query, sizeof(query) - 1);
	uint8_t answer[DNS_HEADER_SIZE + DNS_QUESTION_MAX];

	dns_render_failure(answer, (const uint8_t *)query, end, DNS_SERVFAIL);
	CHECK(end == sizeof(wanted) - 1 && memcmp(answer, wanted, end) == 0);
	CHECK(dns_response_code(answer) == DNS_SERVFAIL);
	CHECK(dns_answers(answer, end, (const uint8_t *)query, end));
}

static void test_filter(void)
{
	static const char sent[] = "\x12\x34\0\x7f\0\1\0\0\0\0\0\1" QUESTION
				   "\0\0\x29\x10\0\0\1\xff\xff\0\4\0\3\0\0";
	static const char wanted[] = "\x12\x34\1\x30\0\1\0\0\0\0\0\1" QUESTION
				     "\0\0\x29\x10\0\0\0\x80\0\0\0";
	static const char transfer[] = "\x12\x34\1\0" COUNTS "\3www\7example\3org\0\0\xfc\0\1";
	static const char update[] = "\x12\x34\x28\0" COUNTS QUESTION;
	struct dns_filtered filtered;

	CHECK(filter(sent, sizeof(sent) - 1, &filtered) == DNS_FORWARD);
	CHECK(filtered.size == sizeof(wanted) - 1 &&
	      memcmp(filtered.bytes, wanted, filtered.size) == 0);
	CHECK(filtered.question_end == sizeof(QUERY) - 1);
	CHECK(filter(transfer, sizeof(transfer) - 1, &filtered) == DNS_ANSWER);
	CHECK(filtered.size == sizeof(transfer) - 1 &&
	      dns_response_code(filtered.bytes) == DNS_REFUSED);
	CHECK(filter(update, sizeof(update) - 1, &filtered) == DNS_ANSWER);
	CHECK(filtered.size == DNS_HEADER_SIZE && dns_response_code(filtered.bytes) == DNS_NOTIMP);
	CHECK(filter("\x12\x34\x81\0" COUNTS QUESTION, sizeof(QUERY) - 1, &filtered) == DNS_DROP);
	CHECK(filter("", 0, &filtered) == DNS_DROP);
}

// Returns whether the result is well-formed: filtering a query again does not change it.
static bool is_filtered(enum dns_action action, const struct dns_filtered *filtered)
{
	struct dns_filtered again;

	if (action == DNS_DROP)
		return true;
	if (action == DNS_ANSWER)
		return dns_is_answer(filtered->bytes) && dns_response_code(filtered->bytes) != 0;
	return filter((const char *)filtered->bytes, filtered->size, &again) == DNS_FORWARD &&
	       again.size == filtered->size && again.question_end == filtered->question_end &&
	       memcmp(again.bytes, filtered->bytes, again.size) == 0;
}

// Random input. The sanitizers report reads outside of the message.
static void test_noise(void)
{
	uint32_t state = 20240229;
	struct dns_filtered filtered;
	size_t malformed = 0;
	size_t accepted = 0;

	for (int round = 0; round < 20000; round++) {
		char noise[300] = QUERY;
		size_t size;

		state = state * 1664525 + 1013904223;
		size = (state >> 8) % sizeof(noise);
		for (int i = 0; i < 4 && size; i++) {
			state = state * 1664525 + 1013904223;
			noise[(state >> 8) % size] = (char)(state >> 24);
		}
		accepted += query_end(noise, size) > 0;
		answers(noise, size, QUERY, sizeof(QUERY) - 1);
		malformed += !is_filtered(filter(noise, size, &filtered), &filtered);
	}
	CHECK(accepted > 0 && accepted < 20000);
	CHECK(malformed == 0);
}

int main(void)
{
	test_queries();
	test_long_names();
	test_answers();
	test_failure();
	test_filter();
	test_noise();
	return check_done();
}
