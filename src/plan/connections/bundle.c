// SPDX-License-Identifier: MIT
// Judges the text of a file with certificates.
//
// Theory of operation: a list of what may not be in such a file has gaps, so each line must be of a
// known form: a line of a block of certificates, a comment, or a heading that programs write beside
// certificates (openssl x509 -text, curl's bundle, exports of PKCS#12). The words of comments and
// headings are searched for secrets. A block must decode to the start of a certificate or of a list
// of revoked ones: a key under a wrong label begins with a number.
#include "base/arena.h"
#include "base/text.h"
#include "plan/connections/certificates.h"
#include "plan/secrets/detect.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define BEGIN  "-----BEGIN "
#define END    "-----END "
#define KEY    "the file has a private key in it"
#define SECRET "the file has something like a secret in it"
#define OTHER  "the file has something besides certificates in it"

enum { HEAD_BYTES = 16, DER_SEQUENCE = 0x30, DER_INTEGER = 0x02, DER_VERSION = 0xa0 };

static const char *const labels[] = { "CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CERTIFICATE",
				      "X509 CRL" };

// The starts of lines beside certificates. What follows is text, or digits on the next lines.
static const char *const headings[] = {
	"Certificate:",
	"Data:",
	"Version:",
	"Serial Number:",
	"Signature Algorithm:",
	"Signature Value:",
	"Issuer:",
	"Issuer Unique ID:",
	"Validity",
	"Not Before:",
	"Not After :",
	"Subject:",
	"Subject Unique ID:",
	"Subject Public Key Info:",
	"Public Key Algorithm:",
	"Public-Key:",
	"RSA Public-Key:",
	"ED25519 Public-Key:",
	"ED448 Public-Key:",
	"Modulus:",
	"Modulus (",
	"Exponent:",
	"pub:",
	"ASN1 OID:",
	"NIST CURVE:",
	"X509v3 extensions:",
	"Trusted Uses:",
	"No Trusted Uses.",
	"Rejected Uses:",
	"No Rejected Uses.",
	"Alias:",
	"subject=",
	"issuer=",
	"serial=",
	"notBefore=",
	"notAfter=",
	"MD5 Fingerprint=",
	"SHA1 Fingerprint=",
	"SHA256 Fingerprint=",
	"sha1 Fingerprint=",
	"sha256 Fingerprint=",
	"Bag Attributes",
	"friendlyName:",
	"localKeyID:",
	"Key Attributes: <No Attributes>",
};

// The reader of a file.
struct bundle {
	struct arena *arena;
	const char *block; // the label of the block that is read; NULL: in none
	bool start;        // the next line is the first one of the block
	bool digits;       // the lines before are a heading, and digits
	bool extension;    // the lines before are an extension of a certificate
	size_t count;      // of certificates
};

// Skips a tag and a length. Returns the place behind it.
static size_t skip_header(const unsigned char *bytes, size_t at)
{
	return at + 2 + (bytes[at + 1] & 0x80 ? bytes[at + 1] & 0x7f : 0);
}

// Returns whether the first line of a block starts a certificate: a sequence in a sequence, which
// starts with a version, a number, or (a list of revoked certificates) a sequence.
static bool starts_certificate(const char *line)
{
	unsigned char bytes[HEAD_BYTES] = { 0 };
	size_t count = base64_decode(line, strlen(line), bytes, sizeof(bytes));
	size_t inner = skip_header(bytes, 0);
	size_t first;

	if (bytes[0] != DER_SEQUENCE || inner + 1 >= count || bytes[inner] != DER_SEQUENCE)
		return false;
	first = skip_header(bytes, inner);
	return first < count && (bytes[first] == DER_VERSION || bytes[first] == DER_INTEGER ||
				 bytes[first] == DER_SEQUENCE);
}

static const char *read_in_block(struct bundle *bundle, const char *line)
{
	const char *end = str_after(line, END);

	if (end) {
		bool matches =
			str_equal(end, arena_printf(bundle->arena, "%s-----", bundle->block));

		bundle->count += !bundle->start;
		bundle->block = NULL;
		return matches && !bundle->start ? NULL : OTHER;
	}
	if (bundle->start && !starts_certificate(line))
		return "a block of the file is no certificate";
	bundle->start = false;
	for (; *line; line++)
		if (!isalnum((unsigned char)*line) && !strchr("+/=", *line))
			return OTHER;
	return NULL;
}

static const char *begin_block(struct bundle *bundle, const char *label)
{
	for (size_t i = 0; i < ARRAY_SIZE(labels); i++)
		if (str_equal(label, arena_printf(bundle->arena, "%s-----", labels[i])))
			bundle->block = labels[i];
	bundle->start = true;
	bundle->digits = bundle->extension = false;
	if (bundle->block)
		return NULL;
	return strcasestr(label, "PRIVATE") ? KEY : OTHER;
}

// Returns whether a line consists of bytes in hexadecimal digits.
static bool is_hex_line(const char *text)
{
	for (; *text; text += 2) {
		if (!isxdigit((unsigned char)text[0]) || !isxdigit((unsigned char)text[1]))
			return false;
		if (text[2] == ':' || text[2] == ' ')
			text++;
	}
	return true;
}

static bool is_heading(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(headings); i++)
		if (str_starts(text, headings[i]))
			return true;
	return false;
}

// Returns whether a text has a secret. A number or a digest at its end looks random and is none.
static bool has_secret(struct arena *arena, const char *text)
{
	const char *last = text + strlen(text);

	while (last > text && isxdigit((unsigned char)last[-1]))
		last--;
	if (last > text && strchr("=: ", last[-1]) &&
	    (strcasestr(text, "sha") || strcasestr(text, "serial") || strcasestr(text, "print")))
		text = arena_strndup(arena, text, (size_t)(last - text));
	return secret_text(NULL, text) ||
	       (secret_random_part(text) && !str_starts(text, "Signature Algorithm: "));
}

// Reads a line outside of the blocks. `next` is the line behind it.
static const char *read_beside(struct bundle *bundle, const char *line, const char *next)
{
	const char *text = line + strspn(line, " \t");
	const char *label = str_after(line, BEGIN);
	size_t underline = strspn(next, "=");
	bool known;

	if (label)
		return begin_block(bundle, label);
	if (!*text)
		return NULL;
	if (bundle->digits && text > line && is_hex_line(text))
		return NULL;
	if (str_starts(text, "X509v3 ") || str_starts(text, "Authority Information Access") ||
	    str_starts(text, "CT Precertificate") || str_starts(text, "1.3.6.1.") ||
	    is_heading(text)) {
		bundle->extension = !is_heading(text);
		bundle->digits = known = true;
	} else {
		bundle->digits = false;
		// curl's bundle underlines the name of a certificate.
		known = *text == '#' || (bundle->extension && text - line >= 12) ||
			(underline > 2 && !next[underline]) || strspn(line, "=") == strlen(line);
	}
	if (has_secret(bundle->arena, text))
		return SECRET;
	return known ? NULL : OTHER;
}

const char *certificate_problem(struct arena *arena, const char *text)
{
	strings lines = str_split_lines(arena, text);
	struct bundle bundle = { .arena = arena };

	if (!strstr(text, "CERTIFICATE-----"))
		return "the file has no certificate in it";
	for (size_t i = 0; i < lines.count; i++)
		lines.items[i] =
			arena_strndup(arena, lines.items[i], strcspn(lines.items[i], "\r"));
	for (size_t i = 0; i < lines.count; i++) {
		const char *next = i + 1 < lines.count ? lines.items[i + 1] : "";
		const char *problem = bundle.block ? read_in_block(&bundle, lines.items[i])
						   : read_beside(&bundle, lines.items[i], next);

		if (problem)
			return problem;
	}
	return bundle.block || !bundle.count ? OTHER : NULL;
}
