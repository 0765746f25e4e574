// SPDX-License-Identifier: MIT
// The terminal filter, and the sequences that reset a terminal.
#include "base/arena.h"
#include "base/text.h"
#include "check.h"
#include "config/config.h"
#include "terminal/filter.h"
#include "terminal/modes.h"
#include "terminal/payload.h"
#include "terminal/reset.h"
#include "terminal/rules.h"

#include <string.h>

static struct arena arena;
static const struct terminal_used everything = { ~(uint64_t)0, ~(uint32_t)0 };
static const struct terminal_used nothing = { 0 };

// Returns the filtered text when it is written in pieces of `piece` bytes.
static const char *run_filter(struct terminal_filter *filter, const char *in, size_t length,
			      size_t piece)
{
	size_t size = filter->large ? filter->large_size : FILTER_SEQUENCE_MAX;
	struct text out = { .arena = &arena };

	for (size_t at = 0; at < length; at += piece) {
		size_t count = length - at < piece ? length - at : piece;
		char *room = arena_alloc(&arena, FILTER_OUTPUT_MAX(size, count));

		text_add_bytes(&out, room, terminal_filter(filter, in + at, count, room));
	}
	return text_get(&out);
}

static const char *filtered(const char *in, size_t length, size_t piece, bool utf8,
			    bool *ret_needs_reset)
{
	struct terminal_filter filter = { .utf8 = utf8, .allowed = TERMINAL_ALLOW_DEFAULT };
	const char *out = run_filter(&filter, in, length, piece);

	if (ret_needs_reset)
		*ret_needs_reset = filter.needs_reset;
	return out;
}

#define E  "\033"
#define ST "\033\\"

// `in` is the output of the box, `out` is what the terminal receives; NULL: the same.
static const struct {
	const char *in;
	const char *out;
} rows[] = {
	// Text.
	{ "plain text\r\n\ttab\b\a", NULL },
	{ "gr\xc3\xbc\xc3\x9f \xe2\x94\x80 \xe4\xb8\xad \xf0\x9f\x98\x80", NULL },
	{ "a\xffz", "a\xef\xbf\xbdz" },
	{ "a\xc3z", "a\xef\xbf\xbdz" },
	{ "a\xe2\x94" E "[1mz", "a\xef\xbf\xbd" E "[1mz" },
	{ "a\xc0\x9b"
	  "31mz",
	  "a\xef\xbf\xbd\xef\xbf\xbd"
	  "31mz" }, // an overlong form
	{ "a\xed\xa0\x80z", "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz" },
	{ "a\xf4\x90\x80\x80z", "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz" },
	// Controls that request an answer, stop the output, or begin a sequence with one byte.
	{ "a\x05z", "az" },
	{ "a\x11\x13\x1a\x18\x7f\x01z", "az" },
	{ "a\x9b"
	  "21tz",
	  "a\xef\xbf\xbd"
	  "21tz" },
	{ "a\xc2\x9b"
	  "21tz",
	  "a21tz" },
	{ "a\xc2\x9d"
	  "52;c;QUJD\az",
	  "a52;c;QUJD\az" },
	{ "a\xc2\x90q\xc2\x9cz", "aqz" },
	// Sequences for a screen.
	{ E "[1;38;2;1;2;3;4:3m" E "[0m" E "[m", NULL },
	{ E "[2J" E "[H" E "[10;20H" E "[K" E "[3A" E "[5C" E "[2K" E "[1G" E "[4L" E "[2S", NULL },
	{ E "[?1049h" E "[?25l" E "[?2004h" E "[?1000;1006h" E "[?2026h" E "[?2026l" E "[?2031h",
	  NULL },
	{ E "7" E "8" E "=" E ">" E "M" E "D" E "c" E "(B" E ")0" E "#8", NULL },
	{ E "[>1u" E "[<u" E "[=5;1u" E "[?u" E "[>4;2m" E "[?4m" E "[2 q" E "[!p" E "[1;5r",
	  NULL },
	{ E "[c" E "[0c" E "[>c" E "[>0q" E "[5n" E "[6n" E "[?6n" E "[?996n" E "[?2026$p" E
	    "[14t" E "[18t",
	  NULL },
	{ E "]11;?" ST E "]10;?\a" E "]4;1;?;2;?" ST, NULL },
	{ E "]8;;https://example.org/a;b" ST "x" E "]8;;" ST, NULL },
	{ E "]8;id=1;HTTP://example.org\ax" E "]8;;\a" E "]8;;mailto:a@b" ST, NULL },
	{ E "]9;4;1;50\a" E "]9;4;0" ST, NULL },
	// The clipboard.
	{ "a" E "]52;c;QUJD\az", "az" },
	{ "a" E "]52;c;?" ST "z", "az" },
	{ "a" E "]0052;c;QUJD\az", "az" },
	{ "a" E "]5522;x\az", "az" },
	// Titles, and queries whose answer contains the title.
	{ "a" E "]0;title\az" E "]1;t" ST E "]2;gr\xc3\xbc\xc3\x9f" ST E "]2;\a", NULL },
	{ E "[22;0t" E "[23;0t" E "[22t", NULL },
	{ "a" E "]0;x\ny\x01\xc2\x9b"
	  "21t\xe2\x80\xaeq\xff\az",
	  "a" E "]0;xy21tq\az" },
	{ "a" E "]Ltitle" ST E "]ltitle" ST "z", "az" },
	{ "a" E "ktitle" ST "z", "az" },
	// Removed bytes do not turn the number into another one.
	{ "a" E "]0\xff"
	  "8;;https://x\xc4\x89\az",
	  "az" },
	{ "a" E "]0\xff;t\az", "az" },
	{ "a" E "[21tz", "az" },
	{ "a" E "[20t" E "[>2tz", "az" },
	// The window.
	{ "a" E "[8;10;10t" E "[3;0;0t" E "[2t" E "[t" E "[9;1t" E "[13t" E "[19tz", "az" },
	// Notifications, directories, changes of the palette, commands of single terminals.
	{ E "]9;hello\a" E "]777;notify;a;b\a" E "]99;;x" ST E "]99;i=1:d=0:p=title;x" ST, NULL },
	{ E "]99;i=1:d=1:a=focus;x\a" E "]9;5 minutes\a", NULL },
	{ "a" E "]9;x\r\ny\xc2\x85z\az", "a" E "]9;xyz\az" },
	{ "a" E "]7;file:///x\a" E "]777;preexec\a" E "]777;container;push;x\az", "az" },
	{ "a" E "]9;4;1;1;x\a" E "]9;5\a" E "]9;6;\"x\"\a" E "]9;4\a" E "]9;7;sh\a" E "]9; 9;x\az",
	  "az" },
	{ "a" E "]99;a=report;x\a" E "]99;i=1:p=?;\a" E "]99;c=1;x\a" E "]99;e=1;eA==\a" E
	  "]99;p=alive;\a" E "]99;x\a" E "]99;i=1:a=focus,report;x\az",
	  "az" },
	{ "a" E "]11;#000000\a" E "]10;red\a" E "]4;1;red\a" E "]4;1;?;2;red\a" E "]104\a" E
	  "]11;?;x\az",
	  "az" },
	{ "a" E "]1337;File=inline=1:AAAA\a" E "]633;E;rm\a" E "]133;A\a" E "]50;font\a" E
	  "]46;/x\a" E "]22;x\az",
	  "az" },
	{ "a" E "]8;;file:///etc/passwd\ax" E "]8;;ssh://host\ay" E "]8;;javascript:1\az", "axyz" },
	{ "a" E "]8;;https:\ax" E "]8;https://example.org\ay" E "]8\az", "axyz" },
	// Strings.
	{ "a" E "Ptmux;" E E "]52;c;QUJD\a" ST "z", "az" }, // ESC ends a string
	{ "a" E "P$qm" ST E "P0;1|17/41" ST E "Pq#0;2;0;0;0~" ST E "P+q544e" ST "z", "az" },
	{ "a" E "_Gi=1;AAAA" ST E "^x" ST E "Xx" ST "z", "az" },
	{ "a" E "Pq\nstill\x07inside\xc2\x9c" ST "z", "az" },
	// Printing, reading the screen, other modes, locks, logs.
	{ "a" E "[i" E "[5i" E "[?5iz", "az" },
	{ "a" E "[1;1;1;1;10;10*yz", "az" },
	{ "a" E "%@" E "%G" E " G" E " F" E "[62;1\"p" E "[?2l" E "<" E "[?38hz", "az" },
	{ "a" E "[?4h" E "[?6h" E "[?8l" E "[?67h" E "[?1007h" E "[?1036l" E "[?1039h" E "[?1045h" E
	  "[?1000s" E "[?1000r" E "[>1;3m" E "[>2;3m" E "[>4;1f" E "[>mz",
	  "az" },
	{ "a" E "[2h" E "[12l" E "[?46h" E "[?1001h" E "[?5522h" E "[?1000;46h" E "[?h" E "[=c" E
	  "[3q" E "[5y" E "Zz",
	  "az" },
	{ "a" E "[?15n" E "[?63;1n" E "[7n" E "[1c" E "[?1;xz", "az" },
	// Malformed sequences, which terminals read differently.
	{ "a" E "[3\n1mz", "a\n1mz" },
	{ "a" E "[3" E "[1mz", "a" E "[1mz" },
	{ "a" E E "[1mz", "a" E "[1mz" },
	{ "a" E "[31\x18mz", "amz" },
	{ "a" E "]0;x\x18z", "az" },
	{ "a" E "]0;x" E "[1mz", "a" E "[1mz" },
	{ "a" E "[1?mz", "az" },
	{ "a" E "[ 1mz", "az" },
	{ "a" E "[??25hz", "az" },
	{ "a" E "[\xc3\xbcmz", "a\xc3\xbcmz" },
	{ "a" E "]8;;https://x\ny\az", "az" },
	{ "a" E "]8;;https://\xc3\xbc\az", "az" },
	{ "a" E "]11;?" E "[1mz", "a" E "[1mz" },
	{ "a" E "(((0z", "az" },
	{ "a" E "\x01"
	  "cz",
	  "acz" },
	// Incomplete sequences and characters.
	{ "a" E, "a" },
	{ "a" E "[1;2", "a" },
	{ "a" E "]11;?", "a" },
	{ "a\xe2\x94", "a" },
};

static void test_rows(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *wanted = rows[i].out ? rows[i].out : rows[i].in;
		size_t length = strlen(rows[i].in);

		for (size_t piece = 1; piece <= length; piece++) {
			const char *got = filtered(rows[i].in, length, piece, true, NULL);

			if (str_equal(got, wanted) && piece < length)
				continue;
			CHECK_CASE_STRING(got, wanted, rows[i].in);
			break;
		}
	}
}

// Without UTF-8, bytes from 0x80 to 0x9f are control characters and do not pass.
static void test_without_utf8(void)
{
	CHECK_STRING(filtered("gr\xfc\xdf\xa4", 5, 5, false, NULL), "gr\xfc\xdf\xa4");
	CHECK_STRING(filtered("a\x9b"
			      "21tz",
			      6, 6, false, NULL),
		     "a21tz");
	CHECK_STRING(filtered("\xe2\x94\x80", 3, 1, false, NULL), "\xe2");
}

static void test_needs_reset(void)
{
	static const struct {
		const char *text;
		bool needs_reset;
	} cases[] = {
		{ "text\r\n", false },
		{ E "[31mred" E "[0m" E "[2K", false },
		{ E "]0;title\a" E "]9;x\a" E "[22t", false },
		{ "\016", true },
		{ E "H", true },
		{ E "[3g", true },
		{ E "[?1000h", true },
		{ E "[c", true },
		{ E "]11;?" ST, true },
		{ E "]8;;https://x" ST, true },
		{ E "=", true },
		{ E "[5i", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool needs_reset;

		filtered(cases[i].text, strlen(cases[i].text), 1, true, &needs_reset);
		CHECK_CASE(needs_reset == cases[i].needs_reset, cases[i].text);
	}
}

// A sequence that is too long does not pass; the next one is filtered as usual.
static void test_long_sequence(void)
{
	static char text[3 * FILTER_SEQUENCE_MAX];
	int head = snprintf(text, sizeof(text), E "]8;;https://example.org/");

	memset(text + head, 'x', sizeof(text) - (size_t)head - 8);
	memcpy(text + sizeof(text) - 8, "\aa" E "[1mz", 7);
	CHECK_STRING(filtered(text, sizeof(text) - 1, 1000, true, NULL), "a" E "[1mz");
}

// Every CSI rule decides about the sequences that it describes: no earlier rule matches them. OSC
// rules are sorted by number. All rules have a reason.
static void test_tables(void)
{
	for (size_t i = 0; i < filter_csi_rule_count; i++) {
		const struct filter_rule *rule = &filter_csi_rules[i];
		bool private = rule->intermediates[0] >= '<' && rule->intermediates[0] <= '?';

		for (const char *last = rule->finals; *last; last++) {
			const char *number =
				rule->listed ? arena_strndup(&arena, rule->listed,
							     strcspn(rule->listed, " "))
				: rule->parameters == PARAMETERS_MODES ? private ? "1000" : "4"
								       : "99999";
			const char *sequence = arena_printf(&arena, E "[%.*s%s%s%c", private,
							    rule->intermediates, number,
							    rule->intermediates + private, *last);
			struct filter_result result = filter_csi(sequence, strlen(sequence));

			CHECK_CASE(result.pass == rule->pass &&
					   result.stateless == rule->stateless &&
					   result.query == rule->query,
				   sequence + 1);
		}
		CHECK_CASE(rule->reason && *rule->reason, rule->finals);
	}
	for (size_t i = 1; i < filter_osc_rule_count; i++)
		CHECK_CASE(filter_osc_rules[i - 1].number <= filter_osc_rules[i].number &&
				   *filter_osc_rules[i].reason,
			   filter_osc_rules[i].reason);
}

static bool is_reset(const char *text)
{
	for (size_t i = 0; i < terminal_reset_count; i++)
		if (strstr(terminal_resets[i].bytes, text))
			return true;
	return false;
}

// Every sequence that may set a mode is reset at the end: the rule names its reset, or its
// parameters are modes, and every mode is reset by its row or by a row of terminal_resets. The
// reset of a rule without one is "", given explicitly.
static void test_everything_is_reset(void)
{
	const struct filter_rule *tables[] = { filter_escape_rules, filter_csi_rules };
	const size_t counts[] = { filter_escape_rule_count, filter_csi_rule_count };
	const char *all = terminal_render_reset(&arena, TERMINAL_EMULATOR, &everything);
	const char *both =
		arena_printf(&arena, "%s%s", all,
			     terminal_render_reset(&arena, TERMINAL_MULTIPLEXER, &everything));

	for (size_t table = 0; table < ARRAY_SIZE(tables); table++)
		for (size_t i = 0; i < counts[table]; i++) {
			const struct filter_rule *rule = &tables[table][i];

			if (!rule->pass || rule->stateless || rule->query ||
			    rule->parameters == PARAMETERS_MODES)
				continue;
			CHECK_CASE(rule->reset && is_reset(rule->reset), rule->reason);
		}
	for (size_t i = 0; i < terminal_mode_count; i++) {
		const struct screen_mode *mode = &terminal_modes[i];
		const char *sequence = arena_printf(&arena, E "[%s%d%c", mode->dec ? "?" : "",
						    mode->number,
						    mode->reset == MODE_ON ? 'h' : 'l');

		CHECK_CASE(mode->reset != MODE_ROW || terminal_reset_rows(mode->row), mode->reason);
		// Other alternate screens are left by ?1047l and ?1049l, the keypad by ESC >.
		if (mode->reset == MODE_NONE || mode->number == 47 || mode->number == 66)
			continue;
		CHECK_CASE(strstr(both, sequence), sequence + 1);
	}
	for (size_t i = 0; i < filter_osc_rule_count; i++)
		CHECK_CASE(filter_osc_rules[i].form == FORM_NONE || filter_osc_rules[i].stateless ||
				   filter_osc_rules[i].query || filter_osc_rules[i].number == 8,
			   filter_osc_rules[i].reason);
}

// What each class of terminal_allow lets through, and what no class does.
static void test_allowed(void)
{
	static const struct {
		enum terminal_class class;
		const char *in;
		const char *out; // NULL: the same
		unsigned int dropped;
	} cases[] = {
		{ TERMINAL_TITLE, E "]2;t\a", NULL, 1 },
		{ TERMINAL_TITLE, E "[22;2t", NULL, 1 },
		{ TERMINAL_NOTIFY, "\a", NULL, 0 },
		{ TERMINAL_NOTIFY, E "]9;x\a", NULL, 1 },
		{ TERMINAL_CLIPBOARD, E "]52;c;QUJD\a", NULL, 1 },
		{ TERMINAL_CLIPBOARD, E "]52;;QUJDRA==" ST, NULL, 1 },
		{ TERMINAL_CLIPBOARD, E "]52;c;?\a", "", 0 },
		{ TERMINAL_CLIPBOARD, E "]52;c;QUJD?\a", "", 0 },
		{ TERMINAL_CLIPBOARD, E "]52;x;QUJD\a", "", 0 },
		{ TERMINAL_CLIPBOARD, E "]52;c\a" E "]5522;type=read\a", "", 0 },
		{ TERMINAL_IMAGES, E "P0;1;0q\"1;1;2;2#0;2;0;0;0#0!2~-$~" ST, NULL, 1 },
		{ TERMINAL_IMAGES, E "Pq#0~\r\n~" ST, E "Pq#0~~" ST, 1 },
		{ TERMINAL_IMAGES, E "P$qm" ST E "P+q544e" ST E "Ptmux;x" ST E "Pq%%" ST, "", 0 },
		{ TERMINAL_IMAGES, E "_Ga=T,f=100,t=d;QUJD" ST, E "_Ga=T,f=100,t=d,q=2;QUJD" ST,
		  1 },
		{ TERMINAL_IMAGES, E "_Gm=0;QUJD" ST, E "_Gm=0,q=2;QUJD" ST, 0 },
		{ TERMINAL_IMAGES, E "_Ga=T,q=1,i=1;QUJD" ST, E "_Ga=T,i=1,q=2;QUJD" ST, 1 },
		{ TERMINAL_IMAGES, E "_Ga=d" ST, E "_Ga=d,q=2" ST, 0 },
		{ TERMINAL_IMAGES, E "_Ga=q,i=1;QUJD" ST E "_Ga=T,t=f;L2V0Yw==" ST, "", 0 },
		{ TERMINAL_IMAGES,
		  E "_Ga=T,t=s;eA==" ST E "_Ga=T,t=t;eA==" ST E "_Gt=d,t=f;eA==" ST, "", 0 },
		{ TERMINAL_IMAGES, E "_Ga=T;\x01" ST E "_X" ST E "_Ga=T;a b" ST, "", 0 },
		{ TERMINAL_IMAGES, E "]1337;File=name=eA==;inline=1:QUJD\a", NULL, 1 },
		{ TERMINAL_IMAGES, E "]1337;File=name=eA==:QUJD\a" E "]1337;File=inline=0:QUJD\a",
		  "", 0 },
		{ TERMINAL_IMAGES,
		  E "]1337;File=inline=1;inline=0:QUJD\a" E "]1337;SetMark\a" E
		    "]1337;Copy=:QUJD\a" E "]1337;RequestUpload=format=tgz\a",
		  "", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct terminal_filter with = { .utf8 = true,
						.allowed = TERMINAL_BIT(cases[i].class) };
		struct terminal_filter without = { .utf8 = true,
						   .allowed = ~TERMINAL_BIT(cases[i].class) };
		size_t length = strlen(cases[i].in);

		CHECK_CASE_STRING(run_filter(&with, cases[i].in, length, 3),
				  cases[i].out ? cases[i].out : cases[i].in, cases[i].in + 1);
		CHECK_CASE_STRING(run_filter(&without, cases[i].in, length, 1), "",
				  cases[i].in + 1);
		CHECK_CASE(without.dropped[cases[i].class] == cases[i].dropped && !with.needs_reset,
			   cases[i].in + 1);
	}
}

// Returns "ESC ] NUMBER ; xxx… BEL" of this length in all.
static const char *long_sequence(const char *head, char fill, size_t length)
{
	char *text = arena_alloc(&arena, length + 1);

	memset(text, fill, length - 1);
	memcpy(text, head, strlen(head));
	text[length - 1] = '\a';
	return text;
}

static void test_lengths(void)
{
	enum { ROOM = CLIPBOARD_MAX + FILTER_SEQUENCE_MAX };
	static const struct {
		const char *head;
		size_t length;
		bool pass;
	} cases[] = {
		{ E "]52;c;", 100000, true },
		{ E "]52;c;", CLIPBOARD_MAX + 100, false },
		{ E "]52;c;", ROOM + 100, false },
	};
	const char *title = long_sequence(E "]2;", 't', 9000);
	const char *cut = filtered(title, 9000, 9000, true, NULL);

	CHECK(strlen(cut) == 2 + TITLE_MAX + 1 && cut[2 + TITLE_MAX] == '\a');
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct terminal_filter filter = { .allowed = TERMINAL_BIT(TERMINAL_CLIPBOARD),
						  .large = arena_alloc(&arena, ROOM),
						  .large_size = ROOM };
		const char *text = long_sequence(cases[i].head, 'A', cases[i].length);
		const char *out = run_filter(&filter, text, cases[i].length, 4096);

		CHECK_CASE(str_equal(out, cases[i].pass ? text : ""), cases[i].head);
	}
}

// In the background only sequences without state pass. The modes are recorded.
static void test_background(void)
{
	static const char text[] = "a" E "[1m" E "[?1000;1006h" E "[?25l" E "[c" E "]11;?\a" E
				   "=\016" E "]2;t\a" E "[?1006lz";
	struct terminal_filter filter = { .background = true, .allowed = ~0U };
	struct text out = { .arena = &arena };

	CHECK_STRING(run_filter(&filter, text, strlen(text), 1), "a" E "[1m" E "]2;t\az");
	CHECK(!filter.needs_reset && !filter.queries);
	modes_render_set(&out, filter.modes.changed, TERMINAL_EMULATOR);
	CHECK_STRING(text_get(&out), E "[?1000h" E "[?25l");
	out = (struct text){ .arena = &arena };
	modes_render_reset(&out, filter.modes.touched, TERMINAL_EMULATOR);
	CHECK_STRING(text_get(&out), E "[?1000l" E "[?1006l" E "[?25h");
}

// If the box does not get the input, modes of the output pass, but nothing that changes the input.
static void test_no_input(void)
{
	static const char text[] = "a" E "[?25l" E "[?1000;1006h" E "[?25;1004h" E "[?2004h" E
				   "[>1u" E "[=1u" E "[>4;2m" E "=" E "[c" E "]11;?\a" E "[?1049h" E
				   "[?1hz";
	struct terminal_filter filter = { .no_input = true };

	CHECK_STRING(run_filter(&filter, text, strlen(text), 1), "a" E "[?25l" E "[?1049hz");
	CHECK(filter.needs_reset && !(filter.modes.touched & terminal_modes_input()));
}

static void test_query_limit(void)
{
	static const char text[] = E "[c" E "[6n" E "]11;?\a" E "[c";
	static const char several[] = E "]4;0;?;1;?\a" E "]10;?;?;?\a" E "]4;0;?;1;?\a" E "[5n" E
					"[5n";
	struct terminal_filter filter = { .query_limit = 2 };

	CHECK_STRING(run_filter(&filter, text, strlen(text), 1), E "[c" E "[6n");
	// A sequence with several queries counts as that many.
	filter = (struct terminal_filter){ .query_limit = 6 };
	CHECK_STRING(run_filter(&filter, several, strlen(several), 1),
		     E "]4;0;?;1;?\a" E "]10;?;?;?\a" E "[5n");
	CHECK(filter.queries == 6);
}

static void test_reset(void)
{
	static const struct {
		const char *term;
		bool multiplexed;
		enum terminal_kind kind;
	} cases[] = {
		{ "xterm-256color", false, TERMINAL_EMULATOR },
		{ "xterm-kitty", false, TERMINAL_EMULATOR },
		{ "xterm-256color", true, TERMINAL_MULTIPLEXER },
		{ "tmux-256color", false, TERMINAL_MULTIPLEXER },
		{ "screen", false, TERMINAL_MULTIPLEXER },
		{ "linux", false, TERMINAL_CONSOLE },
		{ "dumb", false, TERMINAL_DUMB },
		{ "dumb", true, TERMINAL_DUMB },
		{ "vt52", false, TERMINAL_OTHER },
		{ "", false, TERMINAL_DUMB },
		{ NULL, true, TERMINAL_DUMB },
		{ "putty-256color", false, TERMINAL_OTHER },
		{ "XTERM", false, TERMINAL_OTHER },
	};
	const struct terminal_used unknown = { .modes = terminal_modes_unknown() };
	const char *console = terminal_render_reset(&arena, TERMINAL_CONSOLE, &unknown);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		CHECK_CASE(terminal_kind_of(cases[i].term, cases[i].multiplexed) == cases[i].kind,
			   cases[i].term ? cases[i].term : "none");
	CHECK_STRING(terminal_render_reset(&arena, TERMINAL_DUMB, &everything), "");
	CHECK_STRING(terminal_render_reset(&arena, TERMINAL_OTHER, &nothing), "");
	CHECK(!strstr(console, E "[>") && !strstr(console, E "[<") && !strstr(console, E "]"));
	CHECK(strstr(terminal_render_reset(&arena, TERMINAL_EMULATOR, &nothing),
		     E "7" E "[?1049l"));
	CHECK(!strstr(terminal_render_reset(&arena, TERMINAL_MULTIPLEXER, &everything), "1049"));
	// The terminal filter passes all resets, so a box inside a box can reset its terminal too.
	for (size_t i = 0; i < terminal_reset_count; i++)
		CHECK_CASE(str_equal(filtered(terminal_resets[i].bytes,
					      strlen(terminal_resets[i].bytes), 1, true, NULL),
				     terminal_resets[i].bytes),
			   terminal_resets[i].reason);
}

// An unknown terminal gets the resets of what has passed, and no others.
static void test_reset_of_unknown_terminal(void)
{
	static const struct {
		const char *output, *reset;
	} cases[] = {
		{ "text" E "[31m" E "[2J", "" },
		{ E "[?25l", E "[0m" E "[?25h" },
		{ E "[?1049h", E "7" E "[?1049l" E "[0m" },
		{ E "=", E ">" E "[0m" },
		{ E "[>31u", E "[<99u" E "[<99u" E "[0m" },
		{ E "[?1049h" E "[>31u" E "[?1049l",
		  E "[?1049h" E "[<99u" E "[?1049l" E "[<99u" E "[<99u" E "7" E "[?1049l" E
		    "[<99u" E "[0m" },
		{ E "[>4;2m", E "[>4;0m" E "[0m" },
		{ E "[5;10r", E "7" E "[?69l" E "[r" E "8" E "[0m" },
		{ E "[?69h", E "7" E "[?69l" E "[r" E "8" E "[0m" },
		{ E "H", E "[?5W" E "[0m" },
		{ E "]8;;https://example.org" E "\\", E "]8;;" E "\\" E "[0m" },
		{ "\016", "\017" E "(B" E ")B" E "[0m" },
		{ E "[?2026h", E "[?2026l" E "[0m" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct terminal_filter filter = { .allowed = ~0U };
		struct terminal_used used;

		run_filter(&filter, cases[i].output, strlen(cases[i].output), 1);
		used = (struct terminal_used){ filter.modes.touched, filter.rows };
		CHECK_STRING(terminal_render_reset(&arena, TERMINAL_OTHER, &used), cases[i].reset);
	}
}

static void test_query(void)
{
	static const struct {
		const char *bytes;
		bool answered;
	} cases[] = {
		{ E "[1;7R" E "[1;30R", true },
		{ "typed" E "[?62c" E "[3;9R" E "[12;7R" E "[0nxx" E "[12;30R", true },
		{ E "[1;30R" E "[1;7R", false },
		{ E "[1;7R", false },
		{ E "[7R" E "[30R", false },
		{ E "[1;2;7R" E "[1;30R", false },
		{ E "[1;7" E "[1;30R", false },
		{ "", false },
	};
	struct terminal_query query = { .columns = { 7, 30 } };

	CHECK_STRING(terminal_render_query(&arena, &query),
		     E "7" E "[7G" E "[6n" E "[30G" E "[6n" E "8");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct terminal_query pieces = query;
		struct terminal_query whole = query;
		bool answered = false;

		for (const char *s = cases[i].bytes; *s; s++)
			answered = terminal_query_answered(&pieces, s, 1);
		CHECK_CASE(answered == cases[i].answered, cases[i].bytes);
		CHECK_CASE(terminal_query_answered(&whole, cases[i].bytes,
						   strlen(cases[i].bytes)) == answered,
			   cases[i].bytes);
	}
}

int main(void)
{
	test_rows();
	test_without_utf8();
	test_needs_reset();
	test_long_sequence();
	test_tables();
	test_everything_is_reset();
	test_allowed();
	test_lengths();
	test_background();
	test_no_input();
	test_query_limit();
	test_reset();
	test_reset_of_unknown_terminal();
	test_query();
	arena_free(&arena);
	return check_done();
}
