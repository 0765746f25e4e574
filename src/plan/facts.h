// SPDX-License-Identifier: MIT
// Facts about the machine, as data: filled by src/host, or by hand in a test. The plan knows nothing else.
#pragma once

#include "base/address.h"
#include "base/arena.h"
#include "base/file.h"
#include "config/limits.h"
#include "plan/nix/requested.h"

#include <stdbool.h>
#include <sys/types.h>

struct profile_place;

struct git_facts {
	const char *top;       // worktree that holds the project; NULL: not in a repository
	const char *directory; // the worktree's own git directory
	const char *common;    // shared by all worktrees; the same as `directory` in the main one
	struct file_id top_id;
	struct file_id directory_id;
	struct file_id common_id;
	const char *refused; // why a .git that was found is not used
	const char *user_name;
	const char *user_email;
	bool identity_incomplete; // the host has no user.name or no user.email
	bool repository_signs;    // the repository's own configuration asks for signatures
};

// How to start claude, as found.
struct agent_facts {
	const char *found;              // the path on PATH, or $CLAUDEBOX_CLAUDE
	strings command;                // what to execute, before the user's arguments
	VEC(struct followed) needs;     // files and directories it cannot do without
	const char *script_with_secret; // a wrapper script that holds something like a secret
	const char *box_writable;       // a part of it that a box can write
	strings untrusted_programs;     // sentences on what was found and not trusted
	const char *problem;            // why there is none
	const char *hint;
};

// Where a file system is mounted, and which it is.
struct file_system {
	const char *mount_point; // NULL: not known
	const char *id;          // NULL: it has none that outlives a mount
};

// A conversation in a flat state.
struct flat_conversation {
	const char *path;      // relative to ~/.claudebox
	const char *project;   // the directory that it names, "": none
	const char *root;      // canonical root of the project, NULL: no box can start there
	struct file_system on; // the file system of the root
};
typedef VEC(struct flat_conversation) flat_conversations;

// The flat state of an earlier claudebox: ~/.claudebox was the .claude directory of all projects.
struct flat_facts {
	bool found;
	flat_conversations conversations;
};

// ~/.claudebox and the instance, as they are.
struct state_facts {
	const char *root; // ~/.claudebox
	enum file_kind root_kind;
	bool root_is_link;
	bool root_foreign; // owned by someone else
	mode_t root_mode;
	const char *version; // content of its version file, NULL: there is none yet
	struct flat_facts flat;
	const char *instance_json; // content of …/claude/.claude.json, NULL when missing
	const char *settings_json; // content of …/claude/settings.json
	const char *settings_base; // the host's settings as they last came along
	const char *approved;      // what the user last said yes to here
	bool has_credentials;  // the boxes have a sign-in; only looked at when the host has none
	const char *record;    // content of the instance's record
	struct file_system on; // what the canonical root lies on
};

// The user's own ~/.claude (or $CLAUDE_CONFIG_DIR) on the host.
struct user_claude_facts {
	const char *directory;
	const char *real;             // where it really is
	VEC(struct followed) entries; // CLAUDE.md, skills …: what the table of the plan names
	const char *settings_json;
	const char *preferences_json; // .claude.json
	strings hook_commands_found;  // first words of hook commands that exist on the box's PATH
	bool has_credentials;
};

// A box whose programs are in the Nix store: the build was given their paths, or the host is NixOS.
struct store_facts {
	bool only;                  // and nowhere else: there is no /usr in the box
	strings path;               // directories of programs: the build's, else those on PATH
	VEC(struct link_hop) links; // paths of `store_links`, and where in the store each leads
	const char *certificates;   // a bundle that the build was given
};

struct secret_place {
	const char *path;
	const char *real; // where it really is, when it is a link; otherwise the same
	const char *what;
	const char *attack; // of --prove, which tries to read it
};

// An address of the host, or a network that one of its interfaces is in.
struct host_range {
	struct address_range range;
	const char *interface;
};
typedef VEC(struct host_range) host_ranges;

// Looked at only for the tier that needs it.
struct network_facts {
	host_ranges ranges;
	bool ipv4; // there is a default route
	bool ipv6;
	const char *problem; // why nothing is known
	const char *resolv_text;
	const char *pasta;       // NULL: not found
	const char *nft;         // NULL: not found
	const char *tun_problem; // why /dev/net/tun cannot be used, NULL: it can
};

// Who can limit a box, and which limits there are.
struct cgroup_facts {
	bool wanted[LIMIT_COUNT];
	const char *parent;       // a cgroup that we can make others in; NULL: there is none
	const char *problem;      // why it is not enough, or not there
	bool direct[LIMIT_COUNT]; // limits that those can have
	// Looked at only when limits are asked for.
	const char *systemd_run;       // NULL: not found
	const char *systemd_problem;   // why it cannot be asked, NULL: it can
	const char *runtime_directory; // where the user's systemd listens, NULL: we are root
	bool systemd_oom_policy;       // it can be told to let a scope go on that ran out of memory
	bool by_systemd[LIMIT_COUNT];
};

// Something that the user asked to mount.
struct mount_facts {
	const char *written;         // as it was
	const char *written_to;      // the same for the destination; NULL: none was
	struct followed source;      // `path` is absolute
	struct followed destination; // what is on the host at that path
	bool writable;
	const char *origin; // "--mount-ro", "profile work"
	const struct profile_place *place;
};

// The project's .claudebox.
struct requested_facts {
	enum file_kind kind; // FILE_OTHER: there is something else of that name
	const char *path;
	struct file_id id;
	struct requested requested;
	strings others; // what else lies there
	enum requested_answer answer;
};

// Does the Nix daemon run as root what we tell it to?
enum nix_trust {
	NIX_TRUST_UNKNOWN, // as bad as yes
	NIX_TRUST_NO,
	NIX_TRUST_YES,
};

struct nix_facts {
	enum nix_trust trust;
	bool ours;        // the daemon is a process of ours, and so is what it builds with
	bool unsandboxed; // what it builds sees this machine
	// What nix goes by that is not the daemon's; NULL: missing, or no box can have the daemon.
	const char *user_settings;
	const char *user_registry;
	const char *system_registry;
	const char *global_registry; // when flake-registry names a file
	struct followed index;       // of nix-index
};

// The profile in use; --check tells what is wrong with it, everything else stops.
struct profile_facts {
	const char *name; // NULL: none
	const char *problem;
	const char *fix;
};

// A package that was asked for, as it lies in the store: a row for each output with programs, or one for all.
struct package_facts {
	const char *name;
	const char *origin; // who asked for it, or NULL
	const char *path;
	const char *bin; // the directory of its programs; NULL: it has none
};
typedef VEC(struct package_facts) package_rows;

// The first version of Landlock that keeps abstract sockets and signals inside (Linux 6.12).
enum { LANDLOCK_SCOPES = 6 };

struct facts {
	uid_t uid;
	gid_t gid;
	const char *user;
	const char *home;         // real path
	const char *account_home; // the same, unless $HOME says otherwise
	strings environment;      // NAME=value

	const char *project; // real path of the working directory
	const char *project_problem;
	struct file_id project_id;
	strings project_secrets;     // files that look like secrets
	strings project_mcp_secrets; // "file: server: VARIABLE" with a secret in it

	VEC(struct followed) files; // every path that the plan's tables name
	VEC(struct secret_place) secrets;
	struct store_facts store;
	const char *hostname;
	const char *hosts_text;
	const char *nix_conf_text;
	const char *policy_instructions; // /etc/claude-code/CLAUDE.md

	int landlock;          // version of its interface, 0: the kernel has none
	bool overlay_on_tmpfs; // whether the kernel can have one there in a user namespace

	strings untrusted_programs; // sentences on helper programs that were found and not trusted
	const char *bwrap;          // NULL: not found
	bool bwrap_binds_descriptors;
	bool bwrap_disables_userns;
	const char *shell; // bash or zsh, as the box will see it

	struct git_facts git;
	struct agent_facts agent;
	struct state_facts state;
	struct user_claude_facts user_claude;
	struct network_facts network;
	struct cgroup_facts cgroup;
	VEC(struct mount_facts) mounts;
	struct requested_facts requested;
	struct nix_facts nix; // when there is a daemon
	struct profile_facts profile;
	package_rows packages;
	const char *nixpkgs; // where in the store they come from, NULL: not known
};

// The fact about a path that a table names; NULL when it was not asked for or is not there.
const struct followed *facts_file(const struct facts *facts, const char *path);
// Whether the box has the program at this path when its programs are in the store only.
bool facts_store_has(const struct facts *facts, const char *path);
// NULL when the variable is not set.
const char *facts_variable(const struct facts *facts, const char *name);
