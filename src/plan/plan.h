// SPDX-License-Identifier: MIT
// The plan: everything a box will get, as data. Built without touching anything, shown, then run as it is.
//
// Theory of operation: plan_build turns configuration and facts into lists (variables, mounts, state, command); the
// order of the mounts is the order in which bwrap does them, later ones cover earlier ones. plan_check is the last
// gate. From then on the plan is const: the audit, --dry-run and the launch all read the same lists and decide nothing.
#pragma once

#include "base/address.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "config/config.h"
#include "config/limits.h"
#include "config/profile.h"
#include "plan/facts.h"
#include "seccomp/programs.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum origin {
	ORIGIN_GENERATED, // [~] made by claudebox
	ORIGIN_ALLOWED,   // [>] on the host's allowlist
	ORIGIN_ASKED,     // [+] asked for by the user
	ORIGIN_COUNT,
};

struct plan_variable {
	const char *name;
	const char *value;
	enum origin origin;
	const char *why;
	const char *secret; // why it counts as one, or NULL
};

enum mount_kind {
	MOUNT_READ_ONLY, // a host path
	MOUNT_WRITABLE,  // a host path
	MOUNT_EMPTY,     // a new tmpfs
	MOUNT_DIRECTORY, // a directory in the tmpfs that is already there
	MOUNT_LINK,      // a symbolic link; `source` is its target
	MOUNT_DATA,      // a file made by claudebox; `source` is its content
	MOUNT_PROC,
	MOUNT_DEV,
	MOUNT_SEAL, // makes the tmpfs at this path read-only
	MOUNT_KIND_COUNT,
};
extern const char *const mount_kind_names[MOUNT_KIND_COUNT];

struct plan_mount {
	enum mount_kind kind;
	const char *source;
	size_t size;          // of a made file that is not a text, otherwise 0
	const char *path;     // in the box
	unsigned int mode;    // of a tmpfs, directory or made file
	struct file_id id;    // of a host path
	struct file_id place; // what must be at `path` for a staged mount to go there
	// Where bwrap mounts it, for it to be moved to `path` before the agent starts; NULL: there at once.
	const char *staged;
	enum origin origin;
	const char *secret; // what kind of secret was asked for, or NULL
	const char *why;    // NULL: a detail that the audit leaves out
};

// A link in the instance's Claude directory. The box can replace it, which harms only the box.
struct plan_link {
	const char *name;
	const char *target;
};

// A file that launch writes into the instance's Claude directory before the start.
struct plan_file {
	const char *name;
	const char *content;
	const char
		*based_on; // what it replaces, NULL: nothing; if that has changed, it is left alone
	const char *keep_as; // the old one is not what it should be: it is kept under this name
};

// The take-over of the flat state of an earlier claudebox.
struct plan_upgrade {
	bool needed;
	flat_conversations conversations; // those with a root are copied to its instance
	strings notes;                    // sentences for the user
};

struct plan_state {
	const char *root;             // ~/.claudebox
	const char *instance;         // ~/.claudebox/instances/<id>
	const char *claude;           // …/claude, the box's ~/.claude
	const char *credentials;      // ~/.claudebox/sign-in, shared by all boxes
	const char *host_credentials; // the host's .credentials.json
	const char *canonical_root;
	const char *new_version; // of the whole state, NULL: it has it
	struct plan_upgrade upgrade;
	const char *new_record;        // says which project this is; NULL: it does already
	const char *new_settings_base; // the host's filtered settings, when they changed
	const char *approval_name;     // file of the instance that keeps what was approved
	const char *new_approval;      // what it shall hold, NULL: leave it
	const char *requested_name;    // the same for the answer to the repository's wishes
	const char *new_requested;
	VEC(struct plan_link) links;
	VEC(struct plan_file) files;
};

struct plan_range {
	struct address_range range;
	const char *why; // of one of the host's own: the interface
};
typedef VEC(struct plan_range) plan_ranges;

// What the tier inet is made of.
struct plan_network {
	bool ipv4;
	bool ipv6;
	bool as_root;
	const char *pasta;
	const char *nft;
	plan_ranges refused; // for every box
	plan_ranges host;    // this machine's own addresses and networks, as far as not among them
	ports host_ports;
	ports published_ports;
};

// How the box is limited.
enum limits_way {
	LIMITS_NONE,
	LIMITS_CGROUP,     // by a cgroup that claudebox makes
	LIMITS_SYSTEMD,    // by a scope that systemd-run asks for
	LIMITS_IMPOSSIBLE, // asked for, and it cannot be: nothing starts
	LIMITS_WAY_COUNT,
};

struct plan_limits {
	enum limits_way way;
	struct config_limit values[LIMIT_COUNT]; // an origin of NULL: nobody asked for it
	const char *parent;                      // the cgroup that ours is made in
	const char *systemd_run;
	const char *runtime_directory; // where the user's systemd listens
	bool oom_policy;
	bool as_root;
	bool asked; // else a box starts also where the default cannot be set
};

// A few words to somebody who is new here.
struct plan_note {
	const char *title;
	const char *lines[3]; // what is so, what will happen, what to do
};

struct plan {
	VEC(struct plan_variable) variables;
	VEC(struct plan_mount) mounts;
	VEC(const char *) command;
	VEC(const char *) warnings;
	VEC(struct plan_note) notes;
	VEC(const char *) changes; // since the user last said yes here
	bool must_ask;             // before the start
	package_rows packages;
	enum network_tier network;
	const char *network_by; // who chose it, NULL: nobody
	const char *profile;    // in use, NULL: none
	const char *profile_description;
	struct plan_network inet;
	struct plan_limits limits;
	const char *nix_daemon_left_out; // why, when the host has one and the box has not
	int report;                      // descriptor for the report at the end, 0: none
	enum payload payload;
	const char *project;
	const char *home;
	const char *hostname;
	const char *bwrap;
	bool bind_descriptors;
	bool user_namespaces;  // the agent may make some
	const char *nested_by; // who asked for that
	enum seccomp_kind filter;
	bool scoped; // Landlock keeps it from abstract sockets and processes outside
	bool project_read_only;
	enum terminal_mode terminal;
	uid_t uid; // in the box
	gid_t gid;
	struct plan_state state;
};

// Where claudebox puts things in the box.
#define BOX_RUN         "/run/claudebox"
#define BOX_USER_CLAUDE BOX_RUN "/claude"
#define CREDENTIALS_STORE \
	"store" // Claude keeps a lock beside it, so it is a directory in the shared one
#define BOX_CREDENTIALS BOX_RUN "/sign-in"
#define BOX_AGENT       BOX_RUN "/agent"
#define BOX_POLICY      "/etc/claude-code"

bool plan_build(struct plan *plan, struct arena *arena, const struct config *config,
		const struct facts *facts, struct error *error);

const char *plan_canonical_root(struct arena *arena, const struct facts *facts);
const char *plan_instance_path(struct arena *arena, const struct facts *facts);
const char *plan_instance_of(struct arena *arena, const struct facts *facts, const char *root);
// The instance is shared by all worktrees; what was approved is not.
const char *plan_approval_name(struct arena *arena, const struct facts *facts);
const char *plan_requested_name(struct arena *arena, const struct facts *facts);
// bwrap follows links and makes what is missing on the way to a destination, while the host's files are in its reach.
// A destination in a directory of the host, where a box may plant and swap links, is therefore staged.
void plan_add_mount(struct plan *plan, struct arena *arena, struct plan_mount mount);
bool plan_from_host(const struct plan_mount *mount);
// Is what the box has around this path, or there, a directory of the host?
bool plan_lies_in_host(const struct plan *plan, const char *path);
// Mounts a host path read-only at its own place, with every link that leads to it.
void plan_add_followed(struct plan *plan, struct arena *arena, const struct facts *facts,
		       const struct followed *file, const char *why);
// Is this box path already provided by a host mount?
bool plan_provides(const struct plan *plan, const char *path);
const char *plan_variable(const struct plan *plan, const char *name);
void plan_warn(struct plan *plan, struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
