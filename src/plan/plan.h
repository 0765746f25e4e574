// SPDX-License-Identifier: MIT
// The plan: everything that a box gets, as data. It is built from facts alone, shown, and then run
// unchanged.
//
// Theory of operation: plan_build turns the configuration and the facts into lists (variables,
// mounts, state, command). bwrap performs the mounts in the order of the list, so later ones
// cover earlier ones. plan_check is the last check. After it the plan is const: the audit,
// --dry-run and the launch read the same lists.
#pragma once

#include "base/address.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "config/config.h"
#include "config/limits.h"
#include "config/origin.h"
#include "plan/facts.h"
#include "plan/git/facts.h"
#include "plan/guard/facts.h"
#include "plan/left_out.h"
#include "plan/registries/tools.h"
#include "plan/secrets/detect.h"
#include "seccomp/programs.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct plan_variable {
	const char *name;
	const char *value;
	struct origin origin;
	const char *why; // of one that was not requested
	enum secret_sign secret;
	const char *secret_kind; // by shape: "an AWS key"
	const char *toolchain;   // that it belongs to, NULL: none
	bool written;            // its value is in a profile
};

enum mount_kind {
	MOUNT_READ_ONLY, // a host path
	MOUNT_WRITABLE,  // a host path
	MOUNT_EMPTY,     // a new tmpfs
	MOUNT_DIRECTORY, // a directory in the tmpfs that is already there
	MOUNT_LINK,      // a symbolic link; `source` is its target
	MOUNT_DATA,      // a generated file; `source` is its content
	MOUNT_PROGRAM,   // claudebox-git; `source` is a script that does the same
	MOUNT_PROC,
	MOUNT_DEV,
	MOUNT_SEAL, // makes the tmpfs at this path read-only
	MOUNT_KIND_COUNT,
};
extern const char *const mount_kind_names[MOUNT_KIND_COUNT];

struct plan_mount {
	enum mount_kind kind;
	const char *source;
	const char *copy_of;  // the host file of a generated one that is a copy; NULL: none
	size_t size;          // of a generated file that is not text, otherwise 0
	const char *path;     // in the box
	unsigned int mode;    // of a tmpfs, directory or generated file
	struct file_id id;    // of a host path
	struct file_id place; // of the file or directory at `path` that a staged mount covers
	// Where bwrap mounts it, before the supervisor moves it to `path`; NULL: it is not staged.
	const char *staged;
	bool kept_home; // the box's kept home: a directory of the instance, which boxes write
	bool created; // below the kept home: the launcher makes the mount point, directory or link
	bool carried; // in a staged tmpfs, with which it is moved
	bool for_launch; // exists only during a launch: not in the script of --dry-run
	bool bound;      // bwrap does not mount it: the launcher binds it from the staged home
	struct origin origin;
	const char *secret;    // what kind of secret it is, NULL: none
	const char *later;     // the kind of secret that may appear in it, NULL: none
	const char *toolchain; // that it is a part of, NULL: none
	const char *why;       // of one that was not requested; NULL: a detail, not in the audit
};

// A symbolic link in the instance's Claude directory. The box can replace it for itself.
struct plan_link {
	const char *name;
	const char *target;
};

// A symbolic link in the kept home. The launcher creates it if nothing has that name. It is also a
// row of the mounts, unless it is no longer wanted.
struct plan_home_link {
	const char *name;    // relative to the home
	const char *target;  // NULL: it is no longer wanted
	const char *earlier; // target of an earlier launch, which may be replaced; NULL: none
};

// What a start writes of a merged file; NULL: unchanged.
struct plan_merged {
	const char *content;
	const char *base; // of the next merge
};

// A file of the instance's Claude directory, merged with the host's. The launch writes it before
// the start.
struct plan_file {
	const char *name;
	const char *base_name;     // the instance's file with the base
	struct plan_merged alone;  // no other box of the instance runs
	struct plan_merged beside; // another one does: nothing is changed or removed
	const char *based_on;      // the only content that it may replace, NULL: none
	const char *keep_as;       // the old file is invalid: keep it under this name
};

// The upgrade of the flat state of an earlier claudebox.
struct plan_upgrade {
	bool needed;
	flat_conversations conversations; // those with a root are copied to its instance
	strings notes;                    // sentences for the user
};

// Conversations of plain claude that the launch copies into the instance. Chosen by the user, after
// the audit.
struct plan_import {
	const char *source; // the directory on the host, NULL: none
	const char *slug;   // its name, also in the instance
	VEC(struct host_conversation) list;
	const char *answer; // content of the instance's record of the answer, NULL: unchanged
};

struct plan_state {
	const char *root;             // ~/.claudebox
	const char *instance;         // ~/.claudebox/instances/<id>
	const char *claude;           // …/claude, the box's ~/.claude
	const char *credentials;      // ~/.claudebox/sign-in, shared by all boxes
	const char *host_credentials; // the host's .credentials.json, NULL: it is not used
	struct followed host_links;   // the links on the way to it; others are not followed
	bool host_credentials_of_box; // a box can write the directory that it is in
	const char *login;            // the file whose login enters the box, NULL: none does
	const char *canonical_root;
	const char *new_version; // of the whole state, NULL: unchanged
	struct plan_upgrade upgrade;
	strings places;                     // outside of the root, written by boxes
	const char *new_record;             // describes the project, NULL: unchanged
	struct directory_identity identity; // of the canonical root
	const char *kept_as;      // name for the instance of an earlier directory; NULL: none
	const char *replaced;     // a sentence on that, for people
	bool beside;              // another box of the instance runs
	strings server_names;     // of MCP servers in the instance at the start
	const char *new_searched; // list of Claude files without secrets, NULL: unchanged
	size_t new_searched_size;
	const char *approval_name;      // the instance's file with the approved lines
	const char *new_approval;       // its new content, NULL: unchanged
	const char *guarded_name;       // the instance's record of protected places, NULL: none
	const char *new_guarded;        // its new content
	const char *requested_name;     // the instance's file with the answer on requested packages
	const char *new_requested;      // its new content, NULL: unchanged
	const char *conversations_name; // the instance's file with the answer on conversations
	struct plan_import import;
	VEC(struct plan_link) links;
	VEC(struct plan_file) files;
	const char *home; // the directory of the kept home, NULL: it is empty and in memory
	bool empty_home; // the user answered: set the present one aside, and start with an empty one
	VEC(struct plan_home_link) home_links;
	const char *new_home_links; // the record of these links, NULL: unchanged
};

// A git configuration, or a directory of generated hooks, of which the box gets a copy.
struct plan_copy {
	const char *config; // on the host
	const char *name;   // of the copy, in plan_guard.directory
	const char *link;   // in the box; leads to the copy, or is the copy of a directory
	bool hooks;         // a directory
};

// Places that the host executes or trusts, and that the guard protects.
struct plan_guard {
	bool active;
	guard_places places;       // that exist, parents first
	strings git_directories;   // of the repository and its submodules
	strings tracked;           // places that git tracks, relative to the project: writable
	strings unprotected;       // absolute paths that the user has excepted
	guard_targets targets;     // files that settings of git name
	const char *worktree;      // top of the repository's worktree, NULL: no repository
	const char *git_directory; // of that worktree
	const char *directory;     // of the instance, for this launch: the copies
	struct guard_index index;  // of that git directory
	bool recovering;           // the places were protected in a box that was killed
	VEC(struct plan_copy) copies;
};

// Snapshots of the project before and after the session.
struct plan_undo {
	bool active;
	const char *git;           // the program
	const char *path;          // of the snapshots, NULL: the session can change nothing
	const char *git_directory; // of the project's worktree, NULL: no repository
	const char *prefix;        // of the project in that worktree: "" or "sub/"
	const char *exclude;       // patterns of files that are left out
	bool ignored;              // files that git ignores are saved too
	uint64_t limit;            // of the snapshots, in bytes
};

struct plan_range {
	struct address_range range;
	const char *why; // of a range of the host: the interface
};
typedef VEC(struct plan_range) plan_ranges;

// The network of the tier inet.
struct plan_network {
	bool ipv4;
	bool ipv6;
	bool as_root;
	const char *pasta;
	const char *nft;
	plan_ranges refused; // for every box
	plan_ranges host;    // addresses and networks of this machine that `refused` does not cover
};

// How the limits are set.
enum limits_method {
	LIMITS_NONE,
	LIMITS_CGROUP,     // by a cgroup that claudebox creates
	LIMITS_SYSTEMD,    // by a scope that systemd-run creates
	LIMITS_IMPOSSIBLE, // requested and not available: nothing starts
	LIMITS_METHOD_COUNT,
};

struct plan_limits {
	enum limits_method method;
	struct config_limit values[LIMIT_COUNT]; // with the default of processes
	const char *parent;                      // the cgroup that ours is created in
	const char *systemd_run;
	const char *runtime_directory; // of the socket of the user's systemd
	bool oom_policy;
	bool as_root;
	bool requested; // false: the box starts also if the default cannot be set
};

// A directory tree of a toolchain manager in the box.
struct plan_toolchain {
	const char *name;
	const char *root;
	const char *parts; // the names in it that come along, or "the program"
};

// An MCP server of the user in the box.
struct plan_server {
	const char *name;
	bool local;         // of this project only; otherwise of all the user's projects
	bool by_address;    // it is reached by its address; otherwise it is a program in the box
	const char *digest; // of its definition in the box
};

// A part of the user's Claude settings that an approval records.
struct plan_setting {
	const char *line;   // "claude hook Stop ./check.sh"
	const char *digest; // of its content
};

// What stays outside of the settings of a package manager. Names only, never a value.
struct plan_registry {
	const char *tool;
	const char *source;    // the file on the host
	const char *problem;   // why all of it stays outside; NULL: it does not
	strings credentials;   // settings that log in
	strings without_login; // addresses that pass without the login in them
	strings replaced;      // addresses with a token, replaced by one that does not exist
	strings left_out;      // others
	strings unused;        // without an effect in the box
	strings variables;     // that what passes, or would pass with them, refers to
};

// The order of warnings.
enum warning_rank {
	WARNING_DANGER,  // in red
	WARNING_SECRET,  // the agent can read a secret that nothing else in the audit names
	WARNING_REQUEST, // the repository requests something that the user has not accepted
	WARNING_LISTED,  // a variable or mount, which the audit lists, is a secret
	WARNING_GRANT,   // the agent can reach or change something, or is confined less than usual
	WARNING_OUTSIDE, // something of the user stays outside or does not work
	WARNING_RANK_COUNT,
};

struct plan_warning {
	enum warning_rank rank;
	const char *text;
	const char *whole; // digest of the whole list, if the text shows a part of it; or NULL
	bool known;        // the last approval was given with it
};

// A note for a first start.
struct plan_note {
	const char *title;
	const char *lines[3]; // the situation, what happens next, what to do
};

struct plan {
	const struct config *config; // with everything that the plan does not change
	VEC(struct plan_variable) variables;
	VEC(struct plan_mount) mounts;
	VEC(const char *) command;
	VEC(struct plan_warning) warnings; // by rank
	VEC(struct plan_note) notes;
	VEC(const char *) changes;    // since the last approval
	VEC(const char *) new_grants; // of these: what earlier sessions did not have
	bool smaller;                 // the changes only take something away from the box
	bool must_ask;                // for confirmation, before the start
	package_rows packages;
	VEC(struct plan_toolchain) toolchains;
	left_out_rows left_out; // by kind
	VEC(struct plan_server) servers;
	strings box_servers; // MCP servers that were added in a box of this project
	VEC(struct plan_setting) settings;
	VEC(struct plan_registry) registries; // one for each file of the host
	git_settings git_settings;            // of the user, in the generated configuration
	bool has_registries[TOOL_COUNT];      // the box has settings of this package manager
	struct plan_network inet;
	struct plan_guard guard;
	struct plan_undo undo;
	struct plan_limits limits;
	const char *nix_daemon_left_out; // why the box does not get the daemon, or NULL
	const char *project;
	const char *home;
	const char *hostname; // of the box
	const char *bwrap;
	bool bind_descriptors;
	enum seccomp_kind seccomp;
	bool scoped; // Landlock blocks abstract sockets of, and signals to, processes outside
	bool sockets_blocked; // Landlock blocks sockets of processes outside, in mounts
	uint64_t memory;      // of the machine, in bytes; 0: unknown
	uid_t uid;            // in the box
	gid_t gid;
	struct plan_state state;
};

// Paths of claudebox's own files in the box.
#define BOX_RUN         "/run/claudebox"
#define BOX_USER_CLAUDE BOX_RUN "/claude"
// Claude keeps a lock beside its credentials, so they have a directory of their own in the shared
// one.
#define CREDENTIALS_STORE "store"
#define BOX_CREDENTIALS   BOX_RUN "/sign-in"
#define BOX_AGENT         BOX_RUN "/agent"
// The directory of PATH with claude.
#define BOX_COMMAND BOX_RUN "/command"
#define BOX_POLICY  "/etc/claude-code"

// The reason of the mounts that claude itself needs.
#define PLAN_WHY_CLAUDE    "claude"
#define PLAN_WHY_OWN_FILES "your own Claude files"

// Builds the plan; it keeps a pointer to the configuration. Returns false with an error if there
// is no safe plan.
bool plan_build(struct plan *plan, struct arena *arena, const struct config *config,
		const struct facts *facts, struct error *error);

// Returns the directory that identifies the project's state: the main worktree of its repository,
// or the project itself.
const char *plan_canonical_root(struct arena *arena, const struct facts *facts);
// Return the path of the instance of this project, and of the project at `root`.
const char *plan_instance_path(struct arena *arena, const struct facts *facts);
const char *plan_instance_of(struct arena *arena, const struct facts *facts, const char *root);
// Return the names of files in the instance. All worktrees share the instance, but each has its own
// approval and its own answer on requested packages.
const char *plan_approval_name(struct arena *arena, const struct facts *facts);
const char *plan_requested_name(struct arena *arena, const struct facts *facts);
// Adds a mount, and stages it if its destination lies in a directory of the host. On the way to a
// destination bwrap follows links and creates missing directories while it can reach the host's
// files, and a box may plant or swap links there. Below the kept home, the launcher makes the mount
// point (src/state/home.c); a link goes to plan->state.home_links, and a generated file is an
// error.
void plan_add_mount(struct plan *plan, struct arena *arena, struct plan_mount mount);
// Returns whether the source of a mount is a host path.
bool plan_from_host(const struct plan_mount *mount);
// Returns whether this path of the box is, or lies in, a directory of the host.
bool plan_lies_in_host(const struct plan *plan, const char *path);
// Mounts a host path read-only at its own path, with every link that leads to it.
void plan_add_followed(struct plan *plan, struct arena *arena, const struct facts *facts,
		       const struct followed *file, const char *why);
// Returns whether a host mount provides this path of the box.
bool plan_provides(const struct plan *plan, const char *path);
// Returns the value of a variable of the box, NULL: it is not set.
const char *plan_variable(const struct plan *plan, const char *name);
// Return the reason that is shown: what requested it, or its purpose. NULL: it is not shown.
const char *plan_variable_reason(const struct plan_variable *variable);
const char *plan_mount_reason(const struct plan_mount *mount);
// Adds a warning to the audit, after those of its rank.
void plan_add_warning(struct plan *plan, struct arena *arena, enum warning_rank rank,
		      const char *text);
// Does the same with a text that shows only a part of a list.
void plan_add_list_warning(struct plan *plan, struct arena *arena, enum warning_rank rank,
			   const char *text, const strings *list);
// Add one of WARNING_GRANT, and of the rank that the name says.
void plan_warn(struct plan *plan, struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void plan_warn_danger(struct plan *plan, struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void plan_warn_secret(struct plan *plan, struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void plan_warn_listed(struct plan *plan, struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void plan_warn_outside(struct plan *plan, struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
