// SPDX-License-Identifier: MIT
// Facts about the machine, as data: collected by src/probe, or written by a test. The plan uses
// nothing else of the machine.
#pragma once

#include "base/address.h"
#include "base/arena.h"
#include "base/file.h"
#include "config/limits.h"
#include "config/origin.h"
#include "plan/claude/files.h"
#include "plan/git/facts.h"
#include "plan/guard/facts.h"
#include "plan/nix/requested.h"
#include "plan/toolchains/facts.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct directory_facts {
	const char *path;
	struct file_id id;
};
typedef VEC(struct directory_facts) directories;

struct git_facts {
	const char *top;       // worktree that holds the project; NULL: not in a repository
	const char *directory; // the worktree's own git directory
	const char *common;    // shared by all worktrees; the same as `directory` in the main one
	struct file_id top_id;
	struct file_id directory_id;
	struct file_id common_id;
	const char *refused; // why the .git is not used, NULL: it is
	bool judged;         // `refused` is the result of plan_git_refusal(), for all secret places
	directories covered; // in `common`, with other worktrees, which the box must not see
	directories pinned;  // between `common` and `top`, the deepest first
	const char *user_name;
	const char *user_email;
	bool identity_incomplete; // the host has no user.name or no user.email
	strings config_secrets;   // entries of the repository's configuration with a secret
	bool repository_signs;    // the repository's configuration requires signatures
	git_settings addresses;   // of remotes and submodules, in the repository's configuration
	struct git_user_facts user;
	VEC(struct git_named) named; // settings of any configuration that can name files
};

// Files that the box can change and that have another name outside, as far as they were found.
struct link_facts {
	const char *objects; // an object of the repository
	const char *modules; // a file of a package in node_modules
	const char *python;  // a file of a package in a virtual environment
	strings files;       // of the project and of writable mounts
};

// How to start claude.
// Settings or MCP servers that the user names on the command line of claude.
struct argument_text {
	const char *option; // "settings", "mcp-config"
	const char *file;   // as written, NULL: the text is on the command line
	const char *text;
	bool of_box; // a box can write the file: what it names is listed and never offered
};

struct agent_facts {
	const char *found;              // the path on PATH, or $CLAUDEBOX_CLAUDE
	strings command;                // the words before the user's arguments
	VEC(struct followed) needs;     // files and directories that it requires
	const char *script_with_secret; // a wrapper script that contains something like a secret
	strings argument_notes;         // sentences on files that such a script names
	VEC(struct argument_text) argument_texts;
	const char *box_writable;   // a part of it that a box can write
	strings untrusted_programs; // sentences on candidates that are not trusted
	const char *problem;        // why there is none
	const char *hint;
};

// A file system, by its mount point and an id.
struct file_system {
	const char *mount_point; // NULL: unknown
	const char *id;          // NULL: it has none that stays the same after a new mount
};

// Identifies a directory for as long as it exists. Two directories never have both numbers in
// common, although inode numbers are reused.
struct directory_identity {
	uint64_t inode;
	int64_t born_ns; // birth time, since 1970; 0: unknown, or the numbers are not reliable
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

// ~/.claudebox and the instance.
struct state_facts {
	const char *root; // ~/.claudebox
	enum file_kind root_kind;
	bool root_is_link;
	bool root_foreign; // owned by another user
	mode_t root_mode;
	strings *passed;     // directories that are in no known project (known_projects.c)
	const char *version; // content of its version file, NULL: missing
	struct flat_facts flat;
	const char *instance_json; // content of …/claude/.claude.json, NULL: missing
	const char *settings_json; // content of …/claude/settings.json, NULL: missing
	bool instance_json_unread; // it exists and is not used: too large, no text, a hard link
	bool settings_unread;      // the same for settings.json
	bool in_use;               // another box of the instance runs
	const char *settings_base; // the host's settings at the last merge
	const char *account_base;  // the host's reduced .claude.json at the last merge
	const char *approved;      // the lines of the last approval
	bool home_exists;          // the kept home, if the box has one
	uint64_t home_size;        // at the end of the last session; 0: unknown
	const char *home_links;    // the record of links in it, NULL: none
	bool has_credentials;      // the boxes have credentials; only checked if the host has none
	const char *record;        // content of the instance's record
	struct file_system on;     // of the canonical root
	struct directory_identity identity; // of the canonical root
	// Set if the instance belongs to an earlier directory at the same path, and is not used:
	const char *kept_as;      // the name under which it will be kept; NULL: it is used
	const char *earlier_born; // birth time of the earlier directory, for people
	// The new list of Claude files without secrets, which is not a text; NULL: unchanged.
	const char *new_searched;
	size_t new_searched_size;
};

// A conversation of plain claude on the host.
struct host_conversation {
	const char *name; // of its file, ID.jsonl
	uint64_t size;
	int64_t changed_ns; // since 1970
	struct file_id id;
};

// The conversations of plain claude in this project that the instance lacks. Collected only if the
// user was not asked about them yet, or requests them.
struct conversation_facts {
	const char *source; // their directory, NULL: there is none
	const char *slug;   // its name
	VEC(struct host_conversation) list;
	uint64_t size;
	bool has_own;  // the instance has a conversation of this project
	bool answered; // the user was asked, or has copied them
	bool can_ask;  // there is a terminal
};

// A file or directory of the user that is not used, and why.
struct refused_file {
	const char *path;
	const char *why;
	const char *members; // only these members of the file are not used; NULL: all of it is not
};

// The user's own ~/.claude (or $CLAUDE_CONFIG_DIR) on the host.
struct user_claude_facts {
	const char *directory;
	const char *real;                 // without symbolic links
	VEC(struct followed) entries;     // CLAUDE.md, skills …: the names of user_claude_table
	VEC(struct refused_file) refused; // entries and settings that are not used
	claude_parts parts;               // of the entries that the box does not get as a whole
	strings unexamined;               // entries with too many files
	strings doubtful;                 // texts that may have a secret: "skills/a.md line 3"
	const char *secret_lines;         // of CLAUDE.md, NULL: none
	const char *settings_json;
	const char *account_json;     // .claude.json, reduced (plan/mcp/account.h); "": not valid
	const char *account_obstacle; // why it was not read: "is longer than …"; NULL: it was
	// Programs and files that hooks, the status line and MCP servers name, by their paths.
	followed_files command_files;
	struct followed credentials; // the host's .credentials.json
	bool credentials_refused;    // it is not used; `refused` has the reason
	bool credentials_of_box;     // a box can write the directory that it is in
	bool has_credentials;
};

// A box whose programs are in the Nix store: the build has their paths, or the host is NixOS.
struct store_facts {
	bool only;                  // all of its programs: there is no /usr in the box
	strings path;               // directories of programs: the build's, else those on PATH
	VEC(struct link_hop) links; // paths of `store_links`, and the target of each in the store
	const char *certificates;   // the CA bundle of the build
};

struct secret_place {
	const char *path;
	const char *real; // without symbolic links
	const char *what;
	const char *attack; // of --prove, which tries to read it; NULL: a socket or another name
	bool socket;        // it is a socket, or a directory of sockets
	bool missing;       // it does not exist
	bool moved;         // a variable names it
	size_t home;        // length of facts->home, which the path begins with; 0: unknown
};

// An address of the host, or a network that one of its interfaces is in.
struct host_range {
	struct address_range range;
	const char *interface;
};
typedef VEC(struct host_range) host_ranges;

// Collected only for the tier inet and for --check.
struct network_facts {
	host_ranges ranges;
	bool ipv4; // there is a default route
	bool ipv6;
	const char *problem; // why the addresses are unknown
	const char *resolv_text;
	const char *pasta;       // NULL: not found
	const char *nft;         // NULL: not found
	const char *tun_problem; // why /dev/net/tun cannot be used, NULL: it can
};

// The ways to limit a box, and the limits that each can set.
struct cgroup_facts {
	bool wanted[LIMIT_COUNT];
	const char *parent;       // a cgroup that we can create others in; NULL: none
	const char *problem;      // why it is missing or not sufficient
	bool direct[LIMIT_COUNT]; // limits of the cgroups created there
	// Collected only if limits are requested.
	const char *systemd_run;       // NULL: not found
	const char *systemd_problem;   // why it cannot be used, NULL: it can
	const char *runtime_directory; // of the socket of the user's systemd, NULL: we are root
	bool systemd_oom_policy;       // a scope can continue after it ran out of memory
	bool by_systemd[LIMIT_COUNT];
};

// A symbolic link on the way to a file that a box can change, and that leads out of its project.
struct planted_link {
	const char *path; // NULL: none
	const char *box;  // "a box", "a box of 'PROJECT'"
};

// A mount that the user requested.
struct mount_facts {
	const char *written;         // the source, as written
	const char *written_to;      // the destination, as written; NULL: none
	struct followed source;      // `path` is absolute
	struct followed destination; // the same path on the host
	bool writable;
	bool on_path;  // first in PATH
	bool argument; // an argument of claude names it
	struct planted_link planted;
	struct origin origin;
};

// A file or directory outside of the project that Claude's files name.
struct named_facts {
	struct followed file; // of one that the repository names, only `path` and `real`
	const char *by;       // "your CLAUDE.md", ".mcp.json"
	bool repository;      // a file of the project names it
	bool program;         // `path` is the name of a program
};

// The project's .claudebox.
struct requested_facts {
	enum file_kind kind; // FILE_OTHER: not a directory
	const char *path;
	struct file_id id;
	struct requested list;
	strings others; // files there that claudebox does not read
	enum requested_answer answer;
};

// Whether the Nix daemon trusts the user, and so runs commands of the user as root.
enum nix_trust {
	NIX_TRUST_UNKNOWN, // treated as yes
	NIX_TRUST_NO,
	NIX_TRUST_YES,
};

struct nix_facts {
	enum nix_trust trust;
	bool ours;        // the daemon and its builds run as the user
	bool unsandboxed; // its builds see this machine
	// Files that nix reads besides the daemon's; NULL: missing, or no box can have the daemon.
	const char *user_settings;
	const char *user_registry;
	const char *system_registry;
	const char *global_registry; // if flake-registry names a file
	struct followed index;       // of nix-index
};

// The profile in use. --check reports a problem with it; every other command fails.
struct profile_facts {
	const char *name; // NULL: none
	const char *problem;
	const char *fix;
	const char *directory; // the pattern that chose it, as written; NULL: another way
	strings doubtful;      // sentences on others that may be meant for this directory
};

// A package in the store: one row for each output with programs, or one for all outputs.
struct package_facts {
	const char *name;
	struct origin origin;
	const char *path;
	const char *bin; // the directory of its programs; NULL: it has none
};
typedef VEC(struct package_facts) package_rows;

// A file with settings of a package manager.
struct registry_facts {
	size_t source; // its row in source_table
	const char *path;
	const char *text;    // NULL: it is not used
	const char *problem; // why it is not used
};

// A file with CA certificates that the user names. Its links are in `files`.
struct certificate_facts {
	const char *path;
	const char *origin;  // the variable, or the settings of a package manager
	const char *problem; // why it does not come along, NULL: it does
};

// The first version of Landlock that restricts abstract sockets and signals (Linux 6.12).
enum { LANDLOCK_SCOPES = 6 };
// The first version that restricts connections to sockets by path (Linux 7.1).
enum { LANDLOCK_SOCKETS = 9 };

// What snapshots of the project need.
struct undo_facts {
	const char *git;  // the program, NULL: none is trusted
	strings excludes; // contents of the files with patterns that git ignores
};

struct facts {
	uid_t uid;
	gid_t gid;
	const char *user;
	const char *home;         // real path
	const char *account_home; // of the account, which differs if $HOME is set to another
	strings environment;      // NAME=value

	const char *project; // real path of the working directory
	const char *project_problem;
	struct file_id project_id;
	const char *project_unwritable; // why the user cannot write to it, NULL: the user can
	strings project_secrets;        // files that look like secrets
	strings project_mcp_secrets;    // "file: server: VARIABLE" with a secret in it
	strings around_secrets; // files in the repository around the project, relative to it

	struct link_facts hard_links;
	strings sockets; // of the host, in directories that can be mounted

	VEC(struct followed) files; // every path in the tables of the plan
	VEC(struct secret_place) secrets;
	struct store_facts store;
	const char *hostname;
	const char *hosts_text;
	const char *nix_conf_text;
	const char *policy_instructions; // /etc/claude-code/CLAUDE.md
	claude_parts policy_parts; // of its other files, if the box does not get them as a whole

	uint64_t memory;       // of the machine, in bytes; 0: unknown
	int landlock;          // version of its interface, 0: the kernel has none
	bool overlay_on_tmpfs; // the kernel can mount one there in a user namespace

	strings untrusted_programs; // sentences on helper programs that are not trusted
	const char *bwrap;          // NULL: not found
	bool bwrap_binds_descriptors;
	bool bwrap_disables_userns;
	const char *shell; // bash or zsh, as the box will see it

	struct git_facts git;
	struct guard_facts guard;
	struct undo_facts undo;
	int process;        // id of this process; 0 in a dry run, as the next
	int64_t started_ns; // its clock; with the id, a name that no other launch has
	struct agent_facts agent;
	struct state_facts state;
	struct user_claude_facts user_claude;
	struct conversation_facts conversations;
	struct network_facts network;
	struct cgroup_facts cgroup;
	VEC(struct mount_facts) mounts;
	VEC(struct named_facts) named;
	struct toolchains_facts toolchains;
	struct requested_facts requested;
	struct nix_facts nix; // if there is a daemon
	struct profile_facts profile;
	VEC(struct registry_facts) registries; // of the files in source_table that exist
	VEC(struct certificate_facts) certificates;
	package_rows packages;
	const char *nixpkgs; // the flake of the packages in the store, NULL: unknown
};

// Returns the facts about a path of a table; NULL: the host does not have it.
const struct followed *facts_file(const struct facts *facts, const char *path);
// Returns whether a box whose programs are in the store only has this path.
bool facts_store_has(const struct facts *facts, const char *path);
// Returns the value of a host variable; NULL: it is not set.
const char *facts_variable(const struct facts *facts, const char *name);
