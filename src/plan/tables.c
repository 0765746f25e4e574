// SPDX-License-Identifier: MIT
// The tables of the plan, each row with its reason.
#include "plan/tables.h"

#include "base/arena.h"
#include "config/config.h"
#include "config/names.h"

#include <stdio.h>
#include <string.h>

const struct tier_row tier_table[NETWORK_TIER_COUNT] = {
	[NETWORK_FULL] = { .meaning = "full: the host's network, with its LAN and its own services",
			   .instructions = "The network is the host's own. A server that you start "
					   "listens on the host's `localhost` too.",
			   .warning = "the network is the host's: the box can reach the LAN and "
				      "services on this machine" },
	[NETWORK_INET] = { .meaning = "inet: the internet, without the LAN, VPNs and this machine",
			   .instructions = "You have internet access with name resolution, and can "
					   "download packages. Private networks (LAN, VPN, cloud "
					   "metadata) and services of this machine are refused, on "
					   "purpose. `localhost` is the box's own.",
			   .own_namespace = true,
			   .attached = true },
	[NETWORK_NONE] = { .meaning = "none: no network except the box's own loopback",
			   .instructions =
				   "There is no network, on purpose: you cannot download "
				   "anything or reach a server outside. `localhost` is the box's "
				   "own.",
			   .own_namespace = true },
};

// The ranges do not overlap. An IPv4 range includes its NAT64 form (64:ff9b::/96). A rule refuses
// IPv6 outside of 2000::/3 and of that prefix as well. Documentation ranges (192.0.2.0/24,
// 2001:db8::/32 and others) have no row: no network of the internet has them, and a local network
// that uses them is refused like any other.
const struct refused_range refused_ranges[] = {
	{ "0.0.0.0/8", "this host" },
	{ "10.0.0.0/8", "private (RFC 1918)" },
	{ "100.64.0.0/10", "carrier NAT, tailnets" },
	{ "127.0.0.0/8", "loopback" },
	{ "168.63.129.16", "Azure's platform address" },
	{ "169.254.0.0/16", "link-local, cloud metadata" },
	{ "172.16.0.0/12", "private (RFC 1918)" },
	{ "192.0.0.0/24", "special; the box's own gateway" },
	{ "192.88.99.0/24", "6to4 relay anycast" },
	{ "192.168.0.0/16", "private (RFC 1918)" },
	{ "198.18.0.0/15", "benchmarking: private in practice" },
	{ "224.0.0.0/4", "multicast" },
	{ "240.0.0.0/4", "reserved, broadcast" },
	{ "::/32", "loopback, IPv4 in IPv6" },
	{ "64:ff9b:1::/48", "local NAT64" },
	{ "2001::/23", "special: Teredo, routers; the box's own address" },
	{ "2002::/16", "6to4: IPv4 inside" },
	{ "fc00::/7", "private (ULA), cloud metadata" },
	{ "fe80::/10", "link-local" },
	{ "fec0::/10", "site-local" },
	{ "ff00::/8", "multicast" },
};
const size_t refused_range_count = ARRAY_SIZE(refused_ranges);

// Each mount takes about 0.1 ms of a start, so files that no program needs are not here.
const struct system_row system_table[] = {
	{ "/usr", "programs and libraries", true },
	{ "/bin", "programs", true },
	{ "/sbin", "programs", true },
	{ "/lib", "libraries", true },
	{ "/lib32", "libraries", true },
	{ "/lib64", "libraries", true },
	{ "/libx32", "libraries", true },
	{ NIX_STORE, "programs and libraries (Nix)" },
	{ NIX_DAEMON, "builds and downloads by the Nix daemon" },
	{ "/etc/alternatives", "system settings", true },
	{ "/etc/ld.so.cache", "system settings", true },
	{ "/etc/ld-musl-x86_64.path", "system settings", true },
	{ "/etc/ld-musl-aarch64.path", "system settings", true },
	{ RESOLVER_FILE, "host name lookup" },
	{ "/etc/services", "system settings" },
	{ "/etc/protocols", "system settings" },
	{ "/etc/localtime", "system settings" },
	{ "/etc/timezone", "system settings" },
	{ "/etc/os-release", "system settings" },
	{ "/etc/mime.types", "system settings" },
	{ "/etc/manpath.config", "system settings" }, // nvm calls manpath, which complains
	{ "/etc/man_db.conf", "system settings" },
	{ "/etc/fonts", "system settings" },
	{ "/etc/java-11-openjdk", "system settings", true },
	{ "/etc/java-17-openjdk", "system settings", true },
	{ "/etc/java-21-openjdk", "system settings", true },
	{ "/etc/java-25-openjdk", "system settings", true },
	// Debian's mvn does not start without them. settings.xml beside them may hold passwords.
	{ "/etc/maven/m2.conf", "system settings", true },
	{ "/etc/maven/logging", "system settings", true },
	// Debian's chromium exits without any file here. Other files here may contain keys.
	{ "/etc/chromium.d/default-flags", "system settings", true },
	{ "/etc/chromium.d/dev-shm", "system settings", true },
	// certs.d may contain keys, and the other settings are generated.
	{ CONTAINERS_POLICY, "system settings", .nested = true },
	{ "/etc/containers/registries.conf", "system settings", .nested = true },
	{ "/etc/containers/registries.conf.d", "system settings", .nested = true },
	{ NIX_REGISTRY, "system settings" },
	{ "/etc/ssl/certs", "trusted certificates" },
	{ "/etc/ssl/cert.pem", "trusted certificates" },
	{ "/etc/ssl/ca-bundle.pem", "trusted certificates" },
	{ "/etc/ssl/openssl.cnf", "trusted certificates" },
	{ "/etc/pki/tls/certs", "trusted certificates" },
	{ "/etc/pki/tls/cert.pem", "trusted certificates" },
	{ "/etc/pki/tls/openssl.cnf", "trusted certificates" },
	{ "/etc/pki/ca-trust/extracted", "trusted certificates" },
	{ "/etc/ca-certificates/extracted", "trusted certificates" },
	{ "/etc/crypto-policies", "trusted certificates" },
	{ "/etc/claude-code/managed-settings.json", "company policy" },
	{ "/etc/claude-code/managed-settings.d", "company policy" },
	{ "/etc/claude-code/managed-mcp.json", "company policy" },
};
const size_t system_table_count = ARRAY_SIZE(system_table);

const struct store_link store_links[] = {
	{ "/bin/sh", "sh" },
	{ "/bin/bash", "bash" },
	{ "/usr/bin/env", "env" },
#if defined(__x86_64__)
	{ "/lib64/ld-linux-x86-64.so.2", NULL },
#elif defined(__aarch64__)
	{ "/lib/ld-linux-aarch64.so.1", NULL },
#endif
};
const size_t store_link_count = ARRAY_SIZE(store_links);

const struct system_row root_table[] = {
	{ "/proc/sys", "kernel settings" },  { "/proc/sysrq-trigger", "kernel settings" },
	{ "/proc/irq", "kernel settings" },  { "/proc/bus", "kernel settings" },
	{ "/proc/fs", "kernel settings" },   { "/proc/mtrr", "kernel settings" },
	{ "/proc/acpi", "kernel settings" }, { "/proc/scsi", "kernel settings" },
};
const size_t root_table_count = ARRAY_SIZE(root_table);

const struct system_row hidden_table[] = {
	{ "/proc/keys", "hides the host's keys" },
	{ "/proc/key-users", "hides the host's keys" },
};
const size_t hidden_table_count = ARRAY_SIZE(hidden_table);

const char *const ca_bundles[] = {
	"/etc/ssl/certs/ca-certificates.crt",                // Debian, Arch, NixOS
	"/etc/pki/tls/certs/ca-bundle.crt",                  // Fedora
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", // Fedora, newer
	"/etc/ssl/ca-bundle.pem",                            // openSUSE
	"/etc/ssl/cert.pem",                                 // Alpine
	"/etc/ssl/certs/ca-bundle.crt",                      // NixOS
};
const size_t ca_bundle_count = ARRAY_SIZE(ca_bundles);

const struct refused_row refused_projects[] = {
	{ "~/.claude", true, "the conversations of all projects" },
	{ "~/.claudebox", true, "claudebox's own state" },
	{ "/tmp", false, "sockets and files of every program" },
	{ "/var/tmp", false, "files of every program" },
	{ "/dev", false, "devices" },
	{ "/dev/shm", false, "shared memory of every program" },
	{ "/proc", true, "processes" },
	{ "/sys", true, "the kernel" },
	{ "/run", false, "sockets of every program" },
	{ "/run/user", true, "sockets of every program" },
	{ "/var/run", false, "sockets of every program" },
	{ "/usr", false, "programs that the host runs" },
	{ "/usr/bin", true, "programs that the host runs" },
	{ "/usr/lib", true, "programs that the host runs" },
	{ "/etc/claude-code", true, "company policy" },
	{ "/nix", false, "programs that the host runs" },
	{ "/nix/store", true, "programs that the host runs" },
};
const size_t refused_project_count = ARRAY_SIZE(refused_projects);

const struct variable_row allowed_variables[] = {
	{ "TERM", "terminal" },
	{ "COLORTERM", "terminal" },
	{ "NO_COLOR", "terminal" },
	{ "EDITOR", "editor" },
	{ "VISUAL", "editor" },
	{ "LANG", "language" },
	{ "LC_ALL", "language" },
	{ "LC_ADDRESS", "language" },
	{ "LC_COLLATE", "language" },
	{ "LC_CTYPE", "language" },
	{ "LC_IDENTIFICATION", "language" },
	{ "LC_MEASUREMENT", "language" },
	{ "LC_MESSAGES", "language" },
	{ "LC_MONETARY", "language" },
	{ "LC_NAME", "language" },
	{ "LC_NUMERIC", "language" },
	{ "LC_PAPER", "language" },
	{ "LC_TELEPHONE", "language" },
	{ "LC_TIME", "language" },
	{ "TZ", "time zone" },
};
const size_t allowed_variable_count = ARRAY_SIZE(allowed_variables);

const struct user_claude_row user_claude_table[] = {
	{ "CLAUDE.md", "your own instructions" },
	{ "rules", "your own rules" },
	{ "skills", "your own skills" },
	{ "commands", "your own commands" },
	{ "agents", "your own agents" },
	{ "output-styles", "your own output styles" },
	{ "plugins", "your own plugins" },
	{ "keybindings.json", "your own keys" },
	{ "themes", "your own themes" },
	{ "workflows", "your own workflows" },
	{ "hooks", "your own hooks" },
};
const size_t user_claude_table_count = ARRAY_SIZE(user_claude_table);

const char *const system_path[] = {
	"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin",
};
const size_t system_path_count = ARRAY_SIZE(system_path);
