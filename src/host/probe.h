// SPDX-License-Identifier: MIT
// Reads the machine and fills struct host. It looks, it changes nothing, and it trusts nothing in the project.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/options.h"
#include "config/profile.h"
#include "plan/host.h"

#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <sys/types.h>

bool probe_host(struct host *host, struct arena *arena, char *const *environment,
		struct error *error);
// Only who we are and where the state is.
bool probe_owner(struct host *host, struct arena *arena, char *const *environment,
		 struct error *error);
// What ~/.claudebox itself is.
void probe_state_root(struct host *host, struct arena *arena);
// What an earlier claudebox left there, when it has no version yet.
void probe_flat_state(struct host *host, struct arena *arena);
// What the user asked to mount.
void probe_mounts(struct host *host, struct arena *arena, const struct config *config);
// Who can limit the box.
void probe_cgroup(struct host *host, struct arena *arena, const struct config *config);
// What the repository asks for.
void probe_wishes(struct host *host, struct arena *arena);
// What the tier inet needs to know.
void probe_network(struct host *host, struct arena *arena);
// Every address and every directly reached network of the host's interfaces; false with errno.
bool probe_ranges(struct network_facts *network, struct arena *arena);

// The profile that is chosen (by name, else by CLAUDEBOX_PROFILE, else default.json), after those that it extends.
bool probe_profile(const struct host *host, struct arena *arena, const char *name,
		   profile_chain *ret_chain, struct error *error);

// Until the next call; NULL: nobody.
const struct passwd *probe_account(uid_t uid);
const struct group *probe_group(const char *name);

// Follows every link of a path, component by component.
struct followed probe_follow(struct arena *arena, const char *path);

enum { READ_FOLLOW = 1 };
// The text of a small regular file. NULL when it is missing, too long, no regular file or not text. Never blocks.
// Without READ_FOLLOW, no part of the path may be a link.
const char *probe_read(struct arena *arena, const char *path, size_t limit, int flags);
const char *probe_read_at(struct arena *arena, int directory, const char *name, size_t limit);
// Opens, close-on-exec, what no link leads to; -1 with errno.
int probe_open(int directory, const char *path, int flags);

// The file system that holds a path, and a mount point's own.
struct file_system probe_file_system(struct arena *arena, const char *path);
bool probe_is_mount_point(const char *path);
const char *probe_file_system_id(struct arena *arena, const char *path);

// Where programs are in the Nix store.
void probe_store(struct host *host, struct arena *arena);
// One that the box's PATH has in the store; NULL: it has none.
const char *probe_store_program(struct arena *arena, const struct host *host, const char *name);
// The loader that a dynamic program asks for; NULL: none.
const char *probe_loader(struct arena *arena, const char *path);

// A program, where it was compiled in or on the host's PATH. What a box, or another user, could have put there is passed
// over; `passed_over` (may be NULL) gets a sentence on each.
const char *probe_program(struct arena *arena, const struct host *host, const char *name,
			  strings *passed_over);
// What was said about all programs that may be needed.
strings probe_passed_over(struct arena *arena, const struct host *host);
// Whether a box of this project, or an earlier one, can write on the way to a file.
bool probe_box_writes(const struct host *host, const struct followed *file);
// Whether this user is us, root, or whoever has the system.
bool probe_owner_trusted(const struct host *host, uid_t owner);

// The bytes that follow a text in a program; NULL when it does not hold the text.
const char *probe_text_after(struct arena *arena, const char *program, const char *wanted,
			     size_t count);

void probe_repository(struct git_facts *git, struct arena *arena, const char *project);
// Takes it back if the project may be no part of it.
void probe_repository_around(struct host *host, struct arena *arena);
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

// XDG_CONFIG_HOME; NULL: the usual one. What a box can write says nothing about the user.
const char *probe_configuration_home(struct arena *arena, const struct host *host);

// Who commits. Plain configuration files are read; for others git runs beside the rest of the probe.
struct git_identity {
	pid_t pid; // -1: git is not needed
	int output;
};
struct git_identity probe_identity_start(struct git_facts *git, struct arena *arena,
					 const struct host *host);
void probe_identity_finish(struct git_identity *identity, struct git_facts *git,
			   struct arena *arena, const char *user);
