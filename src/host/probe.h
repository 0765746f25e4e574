// SPDX-License-Identifier: MIT
// Reads the machine and fills struct host. It looks, it changes nothing, and it trusts nothing in the project.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/options.h"
#include "config/profile.h"
#include "plan/host.h"

#include <stdbool.h>
#include <sys/types.h>

bool probe_host(struct host *host, struct arena *arena, char *const *environment,
		struct error *error);
// What the user asked to mount.
void probe_mounts(struct host *host, struct arena *arena, const struct config *config);
// What the repository asks for.
void probe_wishes(struct host *host, struct arena *arena);
// What the tier inet needs to know.
void probe_network(struct host *host, struct arena *arena);
// Every address and every directly reached network of the host's interfaces; false with errno.
bool probe_ranges(struct network_facts *network, struct arena *arena);

// The profile that is chosen (by name, else by CLAUDEBOX_PROFILE, else default.json), after those that it extends.
bool probe_profile(const struct host *host, struct arena *arena, const char *name,
		   profile_chain *ret_chain, struct error *error);

// Follows every link of a path, component by component.
struct followed probe_follow(struct arena *arena, const char *path);

enum { READ_FOLLOW = 1 };
// The text of a small regular file. NULL when it is missing, too long, no regular file or not text. Never blocks.
const char *probe_read(struct arena *arena, const char *path, size_t limit, int flags);

// A program on the host's PATH; relative entries, and with `project` those inside it, are passed over.
const char *probe_program(struct arena *arena, const struct host *host, const char *name,
			  const char *project);

void probe_repository(struct git_facts *git, struct arena *arena, const char *project);
// Whether the Nix daemon trusts us: asked first, heard last, when it is known whether the box wants it.
struct nix_question {
	bool asked;
	int socket; // -1: nobody was there
	bool doubtful;
};
struct nix_question probe_nix_start(void);
void probe_nix_finish(struct nix_question *question, struct host *host, struct arena *arena);
// What nix goes by beside that.
void probe_nix_client(struct host *host, struct arena *arena);
// Where nix's user keeps what decides about a reference.
const char *probe_nix_configuration(struct arena *arena, const struct host *host);

void probe_agent(struct agent_facts *agent, struct arena *arena, const struct host *host);
void probe_project_secrets(struct host *host, struct arena *arena);

// Entries of a git configuration file, keys in lower case; false when it is not plain and git must be asked.
bool probe_git_config(struct arena *arena, const char *text,
		      void (*take)(void *context, const char *key, const char *value),
		      void *context);

// Who commits. Plain configuration files are read; for others git runs beside the rest of the probe.
struct git_identity {
	pid_t pid; // -1: git is not needed
	int output;
};
struct git_identity probe_identity_start(struct git_facts *git, struct arena *arena,
					 const struct host *host);
void probe_identity_finish(struct git_identity *identity, struct git_facts *git,
			   struct arena *arena, const char *user);
