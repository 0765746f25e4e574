// SPDX-License-Identifier: MIT
// Offers to close a state directory that other users can read.
#include "state/open_state.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "sys/ask.h"
#include "sys/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Gives the directory the mode 700, if it is the one of the facts: a directory of this user.
static bool close_directory(struct state_facts *state, struct error *error)
{
	CLEANUP_FD int fd = open(state->root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat found;

	if (fd < 0 || fstat(fd, &found) < 0 || found.st_uid != geteuid() || fchmod(fd, 0700) < 0)
		return error_set(error, "cannot change the mode of '%s': %s",
				 quote_display(error->arena, state->root, 0), strerror(errno));
	state->root_mode = 0700;
	return true;
}

bool resolve_open_state(const struct config *config, struct facts *facts, struct error *error)
{
	struct state_facts *state = &facts->state;
	const char *name;
	bool yes = false;

	if (config->action != ACTION_LAUNCH || config->yes || state->root_is_link ||
	    state->root_kind != FILE_DIRECTORY || state->root_foreign ||
	    !(state->root_mode & 077) || (state->root_mode & 022))
		return true;
	name = quote_word(error->arena, path_tilde(error->arena, state->root, facts->home), 120);
	if (!ask_yes_no(arena_printf(error->arena,
				     "%s is open to other users (mode %03o), as an earlier "
				     "claudebox created it. Set it to 700 and go on?",
				     name, (unsigned int)state->root_mode & 0777),
			&yes, error)) {
		*error = (struct error){ .arena = error->arena };
		return true; // no terminal: the state is refused with the command for it
	}
	return !yes || close_directory(state, error);
}
