// SPDX-License-Identifier: MIT
// What Debian, Fedora, Arch, Alpine and NixOS look like to a probe.
#include "base/address.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "fixture.h"
#include "plan/check.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/tables.h"

#include <stdarg.h>

#define STORE              "/nix/store"
#define STORE_ETC          STORE "/aaaa-etc/etc"
#define STORE_CERTIFICATES STORE "/bbbb-nss-cacert/etc/ssl/certs/ca-bundle.crt"
#define STORE_AGENT        STORE "/dddd-claude-code/bin/claude"
#define STORE_SYSTEM       STORE "/cccc-system-path"

const struct distribution distributions[] = {
	{ "Debian", world_debian }, { "Fedora", world_fedora },
	{ "Arch", world_arch },     { "Alpine", world_alpine },
	{ "NixOS", world_nixos },   { "Debian, built by Nix", world_nix_build },
};
const size_t distribution_count = ARRAY_SIZE(distributions);

static struct file_id next_id(const struct world *world)
{
	return (struct file_id){ .device = 1, .inode = 100 + world->facts.files.count };
}

struct followed world_followed(struct world *world, enum file_kind kind, const char *path,
			       const char *real, ...)
{
	struct followed file = { .path = path, .real = real, .kind = kind, .id = next_id(world) };
	const char *link;
	va_list pairs;

	va_start(pairs, real);
	while ((link = va_arg(pairs, const char *))) {
		const char *target = va_arg(pairs, const char *);

		vec_push(&world->arena, &file.hops, (struct link_hop){ link, target });
	}
	va_end(pairs);
	return file;
}

static void add_plain(struct world *world, enum file_kind kind, const char *const *paths)
{
	for (; *paths; paths++)
		world_file(world, kind, *paths, *paths);
}

void world_variable(struct world *world, const char *assignment)
{
	vec_push(&world->arena, &world->facts.environment, assignment);
}

void world_arguments(struct world *world, const char *const *words)
{
	for (; *words; words++)
		vec_push(&world->arena, &world->config.arguments, *words);
}

void world_user_claude(struct world *world, enum file_kind kind, const char *name)
{
	const char *path = path_join(&world->arena, world->facts.user_claude.directory, name);

	vec_push(&world->arena, &world->facts.user_claude.entries,
		 world_followed(world, kind, path, path, NO_MORE));
}

void world_repository(struct world *world, const char *top, const char *directory,
		      const char *common)
{
	struct git_facts *git = &world->facts.git;

	git->top = top;
	git->directory = directory;
	git->common = common;
	git->top_id = (struct file_id){ 1, 50 };
	git->directory_id = (struct file_id){ 1, 51 };
	git->common_id = (struct file_id){ 1, 52 };
}

static void add_agent(struct world *world, const char *link, const char *real)
{
	struct agent_facts *agent = &world->facts.agent;

	agent->found = link;
	vec_push(&world->arena, &agent->command, real);
	vec_push(&world->arena, &agent->needs,
		 world_followed(world, FILE_REGULAR, link, real, link, real, NO_MORE));
}

void world_bare(struct world *world)
{
	struct facts *facts = &world->facts;

	*world = (struct world){ .facts = { .uid = 1000,
					    .gid = 1000,
					    .user = "user",
					    .home = HOME,
					    .account_home = HOME,
					    .project = PROJECT,
					    .project_id = { 1, 42 },
					    .bwrap = "/usr/bin/bwrap",
					    .landlock = 7,
					    .bwrap_binds_descriptors = true,
					    .bwrap_disables_userns = true,
					    .shell = "/bin/bash",
					    .git = { .user_name = "A User",
						     .user_email = "user@example.org" },
					    .state = { .root = HOME "/.claudebox",
						       .root_kind = FILE_DIRECTORY,
						       .root_mode = 0700 },
					    .user_claude = { .directory = HOME "/.claude",
							     .has_credentials = true } } };
	world->error.arena = &world->arena;
	for (size_t i = 0; i < secret_table_count; i++) {
		const char *path = path_expand_home(&world->arena, secret_table[i].path, HOME);

		vec_push(&world->arena, &facts->secrets,
			 (struct secret_place){ path, path, secret_table[i].what });
	}
	world_variable(world, "HOME=" HOME);
	world_variable(world, "TERM=xterm-256color");
	add_agent(world, HOME "/.local/bin/claude", HOME "/.local/share/claude/versions/2.1.0");
}

static void add_merged_usr(struct world *world)
{
	static const char *const directories[] = { "/usr", "/usr/local/sbin", "/usr/local/bin",
						   "/usr/bin", NULL };

	add_plain(world, FILE_DIRECTORY, directories);
	world_file(world, FILE_DIRECTORY, "/bin", "/usr/bin", "/bin", "usr/bin");
	world_file(world, FILE_DIRECTORY, "/lib", "/usr/lib", "/lib", "usr/lib");
	world_file(world, FILE_DIRECTORY, "/lib64", "/usr/lib64", "/lib64", "usr/lib64");
}

static void add_resolved(struct world *world)
{
	world_file(world, FILE_REGULAR, "/etc/resolv.conf", "/run/systemd/resolve/stub-resolv.conf",
		   "/etc/resolv.conf", "../run/systemd/resolve/stub-resolv.conf");
}

void world_debian(struct world *world)
{
	static const char *const directories[] = { "/usr/sbin", "/etc/alternatives",
						   "/etc/ssl/certs", NULL };
	static const char *const files[] = { "/etc/ld.so.cache", "/etc/services",
					     "/etc/ssl/openssl.cnf",
					     "/etc/ssl/certs/ca-certificates.crt", NULL };

	world_bare(world);
	add_merged_usr(world);
	world_file(world, FILE_DIRECTORY, "/sbin", "/usr/sbin", "/sbin", "usr/sbin");
	add_plain(world, FILE_DIRECTORY, directories);
	add_plain(world, FILE_REGULAR, files);
	add_resolved(world);
	world_file(world, FILE_REGULAR, "/etc/localtime", "/usr/share/zoneinfo/Europe/Rome",
		   "/etc/localtime", "/usr/share/zoneinfo/Europe/Rome");
}

void world_fedora(struct world *world)
{
	static const char *const directories[] = { "/etc/pki/tls/certs",
						   "/etc/pki/ca-trust/extracted",
						   "/etc/crypto-policies", NULL };
	static const char *const files[] = { "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
					     "/etc/pki/tls/openssl.cnf", NULL };

	world_bare(world);
	add_merged_usr(world);
	world_file(world, FILE_DIRECTORY, "/usr/sbin", "/usr/bin", "/usr/sbin", "bin");
	world_file(world, FILE_DIRECTORY, "/sbin", "/usr/bin", "/sbin", "usr/sbin", "/usr/sbin",
		   "bin");
	add_resolved(world);
	world_file(world, FILE_DIRECTORY, "/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/ssl/certs",
		   "../pki/tls/certs");
	add_plain(world, FILE_DIRECTORY, directories);
	add_plain(world, FILE_REGULAR, files);
	world_file(world, FILE_REGULAR, "/etc/pki/tls/certs/ca-bundle.crt",
		   "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
		   "/etc/pki/tls/certs/ca-bundle.crt",
		   "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem");
}

void world_arch(struct world *world)
{
	static const char *const directories[] = { "/etc/ssl/certs",
						   "/etc/ca-certificates/extracted", NULL };

	world_bare(world);
	add_merged_usr(world);
	world_file(world, FILE_DIRECTORY, "/usr/sbin", "/usr/bin", "/usr/sbin", "bin");
	world_file(world, FILE_REGULAR, "/etc/resolv.conf", "/etc/resolv.conf");
	add_plain(world, FILE_DIRECTORY, directories);
	world_file(world, FILE_REGULAR, "/etc/ssl/certs/ca-certificates.crt",
		   "/etc/ca-certificates/extracted/tls-ca-bundle.pem",
		   "/etc/ssl/certs/ca-certificates.crt",
		   "../../ca-certificates/extracted/tls-ca-bundle.pem");
}

void world_alpine(struct world *world)
{
	static const char *const directories[] = { "/usr",     "/bin",           "/sbin",
						   "/lib",     "/usr/local/bin", "/usr/sbin",
						   "/usr/bin", "/etc/ssl/certs", NULL };
	static const char *const files[] = { "/etc/resolv.conf",
					     "/etc/ssl/certs/ca-certificates.crt", NULL };

	world_bare(world);
	add_plain(world, FILE_DIRECTORY, directories);
	add_plain(world, FILE_REGULAR, files);
	world_file(world, FILE_REGULAR, "/etc/ssl/cert.pem", "/etc/ssl/certs/ca-certificates.crt",
		   "/etc/ssl/cert.pem", "certs/ca-certificates.crt");
}

void world_nixos(struct world *world)
{
	static const char *const directories[] = {
		"/usr",           "/bin", "/usr/bin", STORE, "/nix/var/nix/daemon-socket",
		"/etc/ssl/certs", NULL
	};

	world_bare(world);
	add_plain(world, FILE_DIRECTORY, directories);
	world_file(world, FILE_REGULAR, "/etc/NIXOS", "/etc/NIXOS");
	world_file(world, FILE_REGULAR, "/etc/resolv.conf", "/run/systemd/resolve/stub-resolv.conf",
		   "/etc/resolv.conf", "/etc/static/resolv.conf", "/etc/static", STORE_ETC,
		   STORE_ETC "/resolv.conf", "/run/systemd/resolve/stub-resolv.conf");
	world_file(world, FILE_REGULAR, "/etc/ssl/certs/ca-certificates.crt", STORE_CERTIFICATES,
		   "/etc/ssl/certs/ca-certificates.crt",
		   "/etc/static/ssl/certs/ca-certificates.crt", "/etc/static", STORE_ETC,
		   STORE_ETC "/ssl/certs/ca-certificates.crt", STORE_CERTIFICATES);
	world_file(world, FILE_REGULAR, "/etc/nix/nix.conf", STORE_ETC "/nix/nix.conf",
		   "/etc/nix/nix.conf", "/etc/static/nix/nix.conf", "/etc/static", STORE_ETC);
	world->facts.nix_conf_text = "experimental-features = nix-command flakes\n"
				     "access-tokens = github.com=ghp_0123456789abcdef0123456789\n";
	world->facts.nix.trust = NIX_TRUST_NO;
	world->facts.shell = STORE_SYSTEM "/bin/bash";
	world->facts.store.only = true;
	vec_push(&world->arena, &world->facts.store.path, STORE_SYSTEM "/bin");
	vec_push(&world->arena, &world->facts.store.links,
		 (struct link_hop){ "/bin/sh", STORE_SYSTEM "/bin/sh" });
	vec_push(&world->arena, &world->facts.store.links,
		 (struct link_hop){ "/usr/bin/env", STORE_SYSTEM "/bin/env" });
	world->facts.agent = (struct agent_facts){ 0 };
	vec_push(&world->arena, &world->facts.agent.command, STORE_AGENT);
	vec_push(&world->arena, &world->facts.agent.needs,
		 world_followed(world, FILE_REGULAR, "/run/current-system/sw/bin/claude",
				STORE_AGENT, "/run/current-system", STORE "/eeee-system",
				STORE "/eeee-system/sw", STORE_SYSTEM, STORE_SYSTEM "/bin/claude",
				STORE_AGENT, NO_MORE));
}

// Programs of Debian are of no use to it; the store has all.
void world_nix_build(struct world *world)
{
	static const char *const places[][2] = {
		{ "/bin/sh", STORE "/ffff-bash/bin/sh" },
		{ "/bin/bash", STORE "/ffff-bash/bin/bash" },
		{ "/usr/bin/env", STORE "/gggg-coreutils/bin/env" },
		{ "/lib64/ld-linux-x86-64.so.2", STORE "/hhhh-glibc/lib/ld-linux-x86-64.so.2" },
	};

	world_debian(world);
	world_file(world, FILE_DIRECTORY, STORE, STORE);
	world->facts.bwrap = STORE "/iiii-bubblewrap/bin/bwrap";
	world->facts.shell = STORE "/ffff-bash/bin/bash";
	world->facts.store.only = true;
	world->facts.store.certificates = STORE_CERTIFICATES;
	vec_push(&world->arena, &world->facts.store.path, STORE "/ffff-bash/bin");
	vec_push(&world->arena, &world->facts.store.path, STORE "/gggg-coreutils/bin");
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		vec_push(&world->arena, &world->facts.store.links,
			 (struct link_hop){ places[i][0], places[i][1] });
}

void world_range(struct world *world, const char *interface, const char *range)
{
	struct host_range row = { .interface = interface };

	if (address_parse(range, &row.range))
		vec_push(&world->arena, &world->facts.network.ranges, row);
}

// A laptop in a LAN with global IPv6, a second network with public IPv4, containers and a tailnet.
void world_connect(struct world *world)
{
	static const char *const ranges[][2] = {
		{ "lo", "127.0.0.1" },
		{ "lo", "127.0.0.0/8" },
		{ "lo", "::1" },
		{ "eth0", "192.168.77.5" },
		{ "eth0", "192.168.77.0/24" },
		{ "eth1", "198.51.100.5" },
		{ "eth1", "198.51.100.0/24" },
		{ "docker0", "172.17.0.1" },
		{ "tailscale0", "100.101.1.5" },
		{ "eth0", "2001:db8:1::5" },
		{ "eth0", "2001:db8:1::/64" },
		{ "eth0", "2001:db8:1::/64" },
		{ "eth0", "fe80::/64" },
		{ "wg0", "203.0.113.77" },
	};

	world->facts.network = (struct network_facts){
		.ipv4 = true,
		.ipv6 = true,
		.pasta = "/usr/bin/pasta",
		.nft = "/usr/sbin/nft",
		.resolv_text =
			"# by NetworkManager\nnameserver 127.0.0.53\nsearch lan corp.example\n"
			"options edns0 trust-ad\n",
	};
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		world_range(world, ranges[i][0], ranges[i][1]);
}

bool world_plan(struct world *world)
{
	world->error = (struct error){ .arena = &world->arena };
	return plan_build(&world->plan, &world->arena, &world->config, &world->facts,
			  &world->error) &&
	       plan_check(&world->plan, &world->facts, &world->error);
}

const char *world_data(const struct world *world, const char *path)
{
	vec_each(mount, &world->plan.mounts) {
		if (mount->kind == MOUNT_DATA && str_equal(mount->path, path))
			return mount->source;
	}
	return NULL;
}

void world_free(struct world *world)
{
	arena_free(&world->arena);
}
