// SPDX-License-Identifier: MIT
// Parser for the part of XML that Maven's settings use.
//
// Theory of operation: elements, text, comments and the five entities of XML. A setting is an
// element without others in it. Attributes are ignored. A document type, which can define entities,
// a CDATA section and any other entity make the whole file unreadable.
#include "plan/registries/xml.h"

#include "base/arena.h"
#include "base/text.h"
#include "plan/registries/setting.h"

#include <ctype.h>
#include <string.h>

struct xml {
	struct parsed *parsed;
	const char *s;
	struct setting_step steps[MOST_STEPS]; // without the root element
	size_t depth;                          // of open elements, may exceed MOST_STEPS
	unsigned int elements;                 // so far; numbers the steps
	struct text content;                   // of the element that was opened last
	bool leaf;                             // it contains no other
	const char *open[4 * MOST_STEPS];      // names of open elements
};

static void count_lines(struct xml *xml, const char *to)
{
	for (; xml->s < to; xml->s++)
		xml->parsed->line += *xml->s == '\n';
}

// Skips a comment or a processing instruction.
static bool skip_to(struct xml *xml, const char *end)
{
	const char *found = strstr(xml->s, end);

	count_lines(xml, found ? found + strlen(end) : xml->s);
	return found != NULL;
}

static size_t name_length(const char *s)
{
	size_t length = 0;

	while (isalnum((unsigned char)s[length]) || (s[length] && strchr("_-.:", s[length])))
		length++;
	return length;
}

// Returns the end of a tag, the '>', NULL: there is none. Attributes may contain one in quotation
// marks.
static const char *find_tag_end(const char *s)
{
	for (; *s && *s != '>' && *s != '<'; s++) {
		if (*s == '"' || *s == '\'') {
			s = strchr(s + 1, *s);
			if (!s)
				return NULL;
		}
	}
	return *s == '>' ? s : NULL;
}

static bool close_element(struct xml *xml, const char *name)
{
	const char *content = text_get(&xml->content);

	if (!xml->depth || !str_equal(xml->open[xml->depth - 1], name))
		return false;
	xml->depth--;
	if (xml->leaf && xml->depth &&
	    !setting_add(xml->parsed, xml->steps, xml->depth,
			 setting_trim(xml->parsed->arena, content, strlen(content))))
		return false;
	xml->leaf = false;
	return true;
}

static bool open_element(struct xml *xml, const char *name)
{
	if (xml->depth == ARRAY_SIZE(xml->open) || (!xml->depth && xml->elements) ||
	    (!xml->depth && !str_equal(name, "settings")))
		return false;
	if (xml->depth && xml->depth <= MOST_STEPS)
		xml->steps[xml->depth - 1] = (struct setting_step){ name, xml->elements };
	xml->elements++;
	xml->open[xml->depth++] = name;
	xml->content = (struct text){ .arena = xml->parsed->arena };
	xml->leaf = true;
	return true;
}

// Handles <name>, <name/> and </name>.
static bool read_tag(struct xml *xml)
{
	bool closing = xml->s[1] == '/';
	const char *start = xml->s + 1 + closing;
	size_t length = name_length(start);
	const char *end = find_tag_end(start + length);
	const char *name = arena_strndup(xml->parsed->arena, start, length);

	if (!length || !end || (closing && end[-1] == '/') ||
	    (start[length] != '>' && start[length] != '/' &&
	     !isspace((unsigned char)start[length])))
		return false;
	count_lines(xml, end + 1);
	if (closing)
		return close_element(xml, name);
	return open_element(xml, name) && (end[-1] != '/' || close_element(xml, name));
}

static bool read_entity(struct xml *xml)
{
	static const char *const entities[][2] = {
		{ "&amp;", "&" },   { "&lt;", "<" },   { "&gt;", ">" },
		{ "&quot;", "\"" }, { "&apos;", "'" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(entities); i++) {
		if (str_starts(xml->s, entities[i][0])) {
			text_add(&xml->content, entities[i][1]);
			xml->s += strlen(entities[i][0]);
			return true;
		}
	}
	return false;
}

static bool read_next(struct xml *xml)
{
	size_t length = strcspn(xml->s, "<&");

	if (str_starts(xml->s, "<!--"))
		return skip_to(xml, "-->");
	if (str_starts(xml->s, "<?"))
		return skip_to(xml, "?>");
	if (*xml->s == '<')
		return read_tag(xml);
	if (*xml->s == '&')
		return xml->leaf && read_entity(xml);
	if (xml->leaf)
		text_add_bytes(&xml->content, xml->s, length);
	else if (strspn(xml->s, " \t\r\n") < length)
		return false; // text beside elements
	count_lines(xml, xml->s + length);
	return true;
}

bool maven_parse(struct parsed *parsed, const char *text)
{
	struct xml xml = { .parsed = parsed, .s = text };

	if (str_starts(text, "\xef\xbb\xbf"))
		xml.s += 3;
	parsed->line = 1;
	while (*xml.s)
		if (!read_next(&xml))
			return false;
	return xml.depth == 0 && xml.elements > 0;
}
