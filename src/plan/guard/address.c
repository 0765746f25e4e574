// SPDX-License-Identifier: MIT
// Which addresses of git lead to a server, and to no program of the host.
//
// Theory of operation: git executes git-remote-WORD for WORD::x and for WORD://x, and ssh with a
// host and a user of the address, which ssh may put into commands of the user's own configuration.
// So the schemes are listed, and hosts and users have plain characters alone.
#include "plan/guard/address.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/git/settings.h"
#include "plan/guard/places.h"

#include <string.h>
#include <strings.h>

#define LETTERS      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS       "0123456789"
#define HOST_BYTES   LETTERS DIGITS "._-"
#define SCHEME_BYTES LETTERS DIGITS "+.-"

#define NOT_PLAIN "is no plain address"

enum login { LOGIN_ACCOUNT, LOGIN_ANY };

static const struct scheme_row {
	const char *name;
	enum login login;
	const char *why;
} schemes[] = {
	{ "https", LOGIN_ANY, "git's own client; a login before the host is the user's" },
	{ "http", LOGIN_ANY, "git's own client; a login before the host is the user's" },
	{ "git", LOGIN_ACCOUNT, "git's own client" },
	{ "ssh", LOGIN_ACCOUNT, "ssh gets the account and the host as arguments" },
	{ "git+ssh", LOGIN_ACCOUNT, "the same as ssh" },
	{ "ssh+git", LOGIN_ACCOUNT, "the same as ssh" },
};

// Returns whether bytes are HOST, HOST:PORT, [IPV6] or [IPV6]:PORT.
static bool is_host(const char *host, size_t length)
{
	size_t name = length && *host == '[' ? strspn(host + 1, "0123456789abcdefABCDEF:.") + 2
					     : strspn(host, HOST_BYTES);

	if (!length || name > length || *host == '-' || *host == '.' || *host == ':')
		return false;
	if (*host == '[' && host[name - 1] != ']')
		return false;
	return name == length ||
	       (host[name] == ':' && strspn(host + name + 1, DIGITS) >= length - name - 1);
}

// Returns whether bytes are the name of an account that ssh cannot take for an option.
static bool is_account(const char *text, size_t length)
{
	return length && *text != '-' && strspn(text, HOST_BYTES "+") >= length;
}

// Returns whether bytes are an authority: a host, with a login of this kind before it.
static bool is_authority(const char *text, size_t length, enum login login)
{
	const char *at = memrchr(text, '@', length);
	size_t user = at ? (size_t)(at - text) : 0;

	if (at && login == LOGIN_ACCOUNT && !is_account(text, user))
		return false;
	return is_host(at ? at + 1 : text, at ? length - user - 1 : length);
}

// Returns whether an address is plain text. An escaped control character is none: git decodes it.
static bool is_plain(const char *address)
{
	return *address && git_value_is_text(address) && !strpbrk(address, "\n\t\\") &&
	       !strstr(address, "%0") && !strstr(address, "%1");
}

// Judges SCHEME://AUTHORITY/PATH.
static const char *judge_url(const char *address, size_t scheme)
{
	const char *authority = address + scheme + strlen("://");

	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
		if (strlen(schemes[i].name) != scheme ||
		    strncmp(address, schemes[i].name, scheme) != 0)
			continue;
		return is_authority(authority, strcspn(authority, "/?#"), schemes[i].login)
			       ? NULL
			       : NOT_PLAIN;
	}
	return "names a remote helper, which is a program";
}

// Judges ACCOUNT@HOST:PATH, also with [IPV6] and [HOST:PORT].
static const char *judge_scp(const char *address, const char *colon)
{
	const char *bracket = memchr(address, '[', (size_t)(colon - address));
	const char *close = bracket ? strchr(bracket, ']') : NULL;

	if (bracket) {
		if (!close || close[1] != ':' || (bracket != address && bracket[-1] != '@'))
			return NOT_PLAIN;
		colon = close + 1;
		if (bracket != address && !is_account(address, (size_t)(bracket - address) - 1))
			return NOT_PLAIN;
		// [HOST:PORT]:PATH has brackets around more than an IPv6 address.
		if (!is_host(bracket, (size_t)(colon - bracket)) &&
		    !is_authority(bracket + 1, (size_t)(close - bracket) - 1, LOGIN_ACCOUNT))
			return NOT_PLAIN;
	} else if (!is_authority(address, (size_t)(colon - address), LOGIN_ACCOUNT)) {
		return NOT_PLAIN;
	}
	return colon[1] == '-' || colon[1] == ':' || !colon[1] ? NOT_PLAIN : NULL;
}

// Returns the colon of HOST:PATH; NULL: the address is a local path.
static const char *scp_colon(const char *address)
{
	size_t slash = strcspn(address, "/");

	return memchr(address, ':', slash);
}

// Returns the directory to which relative paths of remotes belong, NULL: not known.
static const char *base_directory(struct arena *arena, const struct git_key_place *place)
{
	if (place->is_modules)
		return NULL;
	return str_equal(path_name(place->directory), ".git") ? path_parent(arena, place->directory)
							      : place->directory;
}

const char *git_address_path(struct arena *arena, const char *address,
			     const struct git_key_place *place)
{
	const char *file = str_after(address, "file://");
	const char *base;

	if (file)
		return *file == '/' ? path_clean(arena, file) : NULL;
	if (*address == '/')
		return path_clean(arena, address);
	base = place ? base_directory(arena, place) : NULL;
	// git expands a "~" in the path of a local repository.
	if (!base || !*address || *address == '~' || scp_colon(address))
		return NULL;
	return path_clean(arena, path_join(arena, base, address));
}

bool path_has_git_part(const char *path)
{
	while (*path) {
		size_t length = strcspn(path, "/");

		if ((length == 4 && strncasecmp(path, ".git", 4) == 0) ||
		    (length == 5 && strncasecmp(path, "git~1", 5) == 0))
			return true;
		path += length + (path[length] == '/');
	}
	return false;
}

// Returns whether a part of a path has a name of directories that the guard does not search.
static bool has_store_part(struct arena *arena, const char *path)
{
	static const char *const stores[] = { "objects", "refs", "logs", "lfs", "annex" };
	const char *parts = arena_printf(arena, "%s/", path);

	for (size_t i = 0; i < ARRAY_SIZE(stores); i++)
		if (strstr(parts, arena_printf(arena, "/%s/", stores[i])))
			return true;
	return false;
}

// Returns whether a path is a git directory, or that of a submodule or of a worktree in it.
static bool is_git_directory_of(struct arena *arena, const char *path, const char *git)
{
	const char *below = str_after(path, git);

	return below &&
	       (!*below || ((str_starts(below, "/modules/") || str_starts(below, "/worktrees/")) &&
			    !path_has_git_part(below) && !has_store_part(arena, below)));
}

// Judges a path that is neither that of a submodule nor of a worktree in a git directory.
static const char *top_refusal(struct arena *arena, const char *path,
			       const struct git_key_place *place)
{
	const char *part;

	if (!place || !place->worktree || !path_within(path, place->worktree))
		return "leads to a repository of this machine outside of the project";
	part = path + strlen(place->worktree);
	if (guard_lies_in_dependencies(arena_printf(arena, "%s/", part)))
		return "leads into a directory of dependencies, which the guard does not search";
	// The directory .git itself is judged.
	if (path_has_git_part(str_equal(path_name(path), ".git") ? path_parent(arena, part) : part))
		return "leads into a git directory";
	return NULL;
}

bool git_directory_is_judged(struct arena *arena, const char *path,
			     const struct git_key_place *place)
{
	const char *inside = strstr(path, "/.git/");
	const char *git = inside ? arena_strndup(arena, path, (size_t)(inside - path) + 5) : path;

	for (size_t i = 0; place->git_directories && i < place->git_directories->count; i++)
		if (is_git_directory_of(arena, path, place->git_directories->items[i]))
			return true;
	return is_git_directory_of(arena, path, git) && !top_refusal(arena, git, place);
}

const char *git_path_refusal(struct arena *arena, const char *path,
			     const struct git_key_place *place)
{
	const char *refusal = top_refusal(arena, path, place);

	return refusal && place && place->worktree && path_within(path, place->worktree) &&
			       git_directory_is_judged(arena, path, place)
		       ? NULL
		       : refusal;
}

const char *git_address_outside(struct arena *arena, const char *address,
				const struct git_key_place *place)
{
	const char *path = is_plain(address) && *address != '-'
				   ? git_address_path(arena, address, place)
				   : NULL;

	return path && !(place->worktree && path_within(path, place->worktree)) ? path : NULL;
}

const char *git_address_refusal(struct arena *arena, const char *address,
				const struct git_key_place *place)
{
	size_t scheme = strspn(address, SCHEME_BYTES);
	bool is_file = str_starts(address, "file://");
	const char *colon = scp_colon(address);
	const char *path;

	if (!is_plain(address) || *address == '-')
		return NOT_PLAIN;
	if (str_starts(address + scheme, "::"))
		return "names a remote helper, which is a program";
	if (str_starts(address + scheme, "://") && !is_file)
		return judge_url(address, scheme);
	if (colon && !is_file)
		return judge_scp(address, colon);
	path = git_address_path(arena, address, place);
	if (!path || (is_file && strchr(address, '%')))
		return "leads to a repository of this machine outside of the project";
	return git_path_refusal(arena, path, place);
}

const char *git_address_relative_refusal(const char *address)
{
	const char *s = address;

	while (str_starts(s, "./") || str_starts(s, "../"))
		s = strchr(s, '/') + 1;
	// The rest begins a part of a path: ':' and '/' would replace the host.
	if (s == address || !is_plain(address) || !*s || strchr(":/-", *s) || strchr(s, ':'))
		return NOT_PLAIN;
	return NULL;
}
