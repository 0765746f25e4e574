// SPDX-License-Identifier: MIT
// Invalid profiles: each has its exact message and a hint, and no value of a variable is shown.
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "check.h"
#include "config/config.h"
#include "config/profile/profile.h"
#include "config/profile/check.h"
#include "config/profile/schema.h"

#include <string.h>

static struct arena arena;

// A text, and the message after "profile 'work.json': ".
static const char *const bad[][2] = {
	{ "", "line 1, column 1: the file is empty" },
	{ " \n\n", "line 1, column 1: the file is empty" },
	{ "{", "line 1, column 1: string or '}' expected near end of file" },
	{ "{\"name\": \"work\",}", "line 1, column 17: string or '}' expected near '}'" },
	{ "{\n  \"name\": \"work\"\n  \"network\": \"none\"\n}",
	  "line 3, column 11: '}' expected" },
	{ "{'name': 'work'}", "line 1, column 2: string or '}' expected near '''" },
	{ "{name: \"work\"}", "line 1, column 2: string or '}' expected near 'name'" },
	{ "{} {}", "line 1, column 4: end of file expected near '{'" },
	{ "// offline\n{ \"network\": \"none\" }", "line 1, column 1: invalid token near '/'" },
	{ "{\"network\": none}", "line 1, column 13: invalid token near 'none'" },
	{ "{\"env\": {\"TOKEN\": \"hunter2\n\"}}", "line 1, column 26: unexpected newline" },
	{ "{\"env\": {\"TOKEN\": \"hunter2", "line 1, column 26: premature end of input" },
	{ "{\"env\": {\"TOKEN\": 'hunter2'}}", "line 1, column 19: invalid token near '''" },
	{ "{\"description\": \"caf\xe9\"}", "line 1, column 20: unable to decode byte 0xe9" },
	{ "{\"description\": \"a\tb\"}", "line 1, column 18: control character 0x9" },
	{ "{\"description\": \"\\x\"}", "line 1, column 19: invalid escape" },
	{ "{\"env\": {\"A\": \"\\u0000\"}}", "line 1, column 22: a NUL character" },
	{ "{\"env\": {\"A\\u0000B\": \"\"}}", "line 1, column 19: a NUL character" },
	{ "{\"publish\": [99999999999999999999]}",
	  "line 1, column 14: too big integer near '99999999999999999999'" },
	{ "{\n  \"network\": \"none\",\n  \"network\": \"full\"\n}",
	  "line 3, column 3: duplicate key 'network'" },
	{ "{\"env\": {\"A\": \"1\", \"B\": \"2\", \"A\": \"3\"}}",
	  "line 1, column 30: duplicate key 'A'" },
	{ "{\"mounts\": [{\"host\": \"/a\", \"host\": \"/b\"}]}",
	  "line 1, column 28: duplicate key 'host'" },
	{ "{\"a\\\"b\": 1, \"a\\\"b\": 2}", "line 1, column 13: duplicate key 'a\\\\\"b'" },
	{ "{\"\xc3\xa4\xc3\xb6\": 1, \"\xc3\xa4\xc3\xb6\": 2}",
	  "line 1, column 11: duplicate key '\xc3\xa4\xc3\xb6'" },
	{ "[]", "line 1, column 1: a profile must be an object, not a list" },
	{ "\"none\"", "line 1, column 1: a profile must be an object, not a string" },
	{ "\n  17", "line 2, column 3: a profile must be an object, not a number" },
	{ "null", "line 1, column 1: a profile must be an object, not null" },
	{ "{\n  \"name\": \"work\",\n           \"netwrok\": \"inet\"\n}",
	  "line 3, column 12: unknown key 'netwrok'" },
	{ "{\"Network\": \"inet\"}", "line 1, column 2: unknown key 'Network'" },
	{ "{\"host-ports\": []}", "line 1, column 2: unknown key 'host-ports'" },
	{ "{\"ports\": [1]}", "line 1, column 2: unknown key 'ports'" },
	{ "{\"\": 1}", "line 1, column 2: unknown key ''" },
	{ "{\"nam\\u0065s\": 1}", "line 1, column 2: unknown key 'names'" },
	{ "{\"\\u001b[2Jx\": 1}", "line 1, column 2: unknown key '\\x1b[2Jx'" },
	{ "{\"mounts\": [{\"host\": \"/a\"}, {\"host\": \"/b\", \"modus\": \"rw\"}]}",
	  "line 1, column 44: unknown key 'mounts[1].modus'" },
	{ "{\"mounts\": [{\"host\": \"/a\", \"network\": \"none\"}], \"network\": \"none\"}",
	  "line 1, column 28: unknown key 'mounts[0].network'" },
	{ "{\"command\": [\"sh\"], \"network\": \"none\"}",
	  "line 1, column 2: unknown key 'command'" },
	{ "{\"name\": 1}", "line 1, column 10: 'name' must be a string, not a number" },
	{ "{\"description\": [\"a\"]}",
	  "line 1, column 17: 'description' must be a string, not a list" },
	{ "{\"extends\": [\"base\"]}",
	  "line 1, column 13: 'extends' must be a string, not a list" },
	{ "{\"host_ports\": 5432}",
	  "line 1, column 16: 'host_ports' must be a list of ports, not a number" },
	{ "{\"publish\": {\"80\": 80}}",
	  "line 1, column 13: 'publish' must be a list of ports, not an object" },
	{ "{\"publish\": [\"80\"]}",
	  "line 1, column 14: 'publish[0]' must be a port from 1 to 65535, not a string" },
	{ "{\"publish\": [80, 80.0]}",
	  "line 1, column 18: 'publish[1]' must be a port from 1 to 65535, not a fraction" },
	{ "{\"env\": [\"A=1\"]}",
	  "line 1, column 9: 'env' must be an object of strings, not a list" },
	{ "{\"env\": {\"A\": 1}}", "line 1, column 15: 'env.A' must be a string, not a number" },
	{ "{\"env\": {\"A\": \"1\", \"B\": {\"A\": \"\"}}}",
	  "line 1, column 25: 'env.B' must be a string, not an object" },
	{ "{\"extra_env_passthrough\": \"A,B\"}",
	  "line 1, column 27: 'extra_env_passthrough' must be a list of strings, not a string" },
	{ "{\"extra_env_passthrough\": [\"A\", true]}",
	  "line 1, column 33: 'extra_env_passthrough[1]' must be a string, not true" },
	{ "{\"mounts\": {\"host\": \"/a\"}}",
	  "line 1, column 12: 'mounts' must be a list of objects, not an object" },
	{ "{\"mounts\": [\"/a\"]}",
	  "line 1, column 13: 'mounts[0]' must be an object, not a string" },
	{ "{\"mounts\": [{\"host\": 1}]}",
	  "line 1, column 22: 'mounts[0].host' must be a string, not a number" },
	{ "{\"mounts\": [{\"host\": \"/a\", \"mode\": true}]}",
	  "line 1, column 36: 'mounts[0].mode' must be a string, not true" },
	{ "{\"packages\": \"jq\"}",
	  "line 1, column 14: 'packages' must be a list of strings, not a string" },
	{ "{\"packages\": [[\"jq\"]]}",
	  "line 1, column 15: 'packages[0]' must be a string, not a list" },
	{ "{\"nixpkgs\": {}}", "line 1, column 13: 'nixpkgs' must be a string, not an object" },
	{ "{\"nested\": 1}", "line 1, column 12: 'nested' must be true or false, not a number" },
	{ "{\"nix_daemon\": \"true\"}",
	  "line 1, column 16: 'nix_daemon' must be true or false, not a string" },
	{ "{\"confirm\": false}", "line 1, column 13: 'confirm' must be a string, not false" },
	{ "{\"name\": \"play\"}",
	  "line 1, column 10: 'name' is 'play', but the file is named 'work'" },
	{ "{\"name\": \"../work\"}",
	  "line 1, column 10: 'name': '../work' is not a valid profile name" },
	{ "{\"extends\": \"../base\"}",
	  "line 1, column 13: 'extends': '../base' is not a valid profile name" },
	{ "{\"extends\": \"base.json/\"}",
	  "line 1, column 13: 'extends': 'base.json/' is not a valid profile name" },
	{ "{\"extends\": \"-base\"}",
	  "line 1, column 13: 'extends': '-base' is not a valid profile name" },
	{ "{\"network\": \"lan\"}",
	  "line 1, column 13: 'network' is 'lan' and must be one of 'full', 'inet', 'none'" },
	{ "{\"network\": \"INET\"}",
	  "line 1, column 13: 'network' is 'INET' and must be one of 'full', 'inet', 'none'" },
	{ "{\"network\": \"\\u001b[2J\"}",
	  "line 1, column 13: 'network' is '\\x1b[2J' and must be one of 'full', 'inet', 'none'" },
	{ "{\"project\": \"readonly\"}",
	  "line 1, column 13: 'project' is 'readonly' and must be one of 'read-write', 'read-only'" },
	{ "{\"terminal\": \"raw\"}",
	  "line 1, column 14: 'terminal' is 'raw' and must be one of 'filtered', 'direct'" },
	{ "{\"confirm\": \"sometimes\"}",
	  "line 1, column 13: 'confirm' is 'sometimes' and must be one of 'always', 'changed', 'never'" },
	{ "{\"mounts\": [{\"host\": \"/a\", \"mode\": \"r\"}]}",
	  "line 1, column 36: 'mounts[0].mode' is 'r' and must be one of 'ro', 'rw'" },
	{ "{\"network\": \"inet\", \"publish\": [0]}",
	  "line 1, column 33: 'publish[0]' must be a port from 1 to 65535, not 0" },
	{ "{\"network\": \"inet\", \"publish\": [80, 65536]}",
	  "line 1, column 37: 'publish[1]' must be a port from 1 to 65535, not 65536" },
	{ "{\"network\": \"inet\", \"host_ports\": [-1]}",
	  "line 1, column 36: 'host_ports[0]' must be a port from 1 to 65535, not -1" },
	{ "{\"host_ports\": [80]}",
	  "line 1, column 2: 'host_ports' requires network inet, not full" },
	{ "{\"network\": \"none\",\n \"publish\": [80]}",
	  "line 2, column 2: 'publish' requires network inet, not none" },
	{ "{\"network\": \"full\", \"publish\": [80]}",
	  "line 1, column 21: 'publish' requires network inet, not full" },
	{ "{\"env\": {\"A-B\": \"\"}}",
	  "line 1, column 10: 'env': 'A-B' is not a valid variable name" },
	{ "{\"env\": {\"A=B\": \"\"}}",
	  "line 1, column 10: 'env': 'A=...' is not a valid variable name" },
	{ "{\"env\": {\"A\\nB\": \"\"}}",
	  "line 1, column 10: 'env': 'A\\nB' is not a valid variable name" },
	{ "{\"env\": {\"A\": \"one\\ntwo\"}}",
	  "line 1, column 15: 'env.A' contains a control character" },
	{ "{\"env\": {\"A\": \"\\u009b2J\"}}",
	  "line 1, column 15: 'env.A' contains a control character" },
	{ "{\"env\": {\"A\": \"\\u007f\"}}",
	  "line 1, column 15: 'env.A' contains a control character" },
	{ "{\"env\": {\"LD_PRELOAD\": \"/x.so\"}}",
	  "line 1, column 10: 'env': 'LD_PRELOAD' cannot be set: changes how every program starts" },
	{ "{\"env\": {\"OK\": \"1\", \"LD_LIBRARY_PATH\": \"/x\"}}",
	  "line 1, column 21: 'env': 'LD_LIBRARY_PATH' cannot be set: changes how every program starts" },
	{ "{\"env\": {\"PATH\": \"/x\"}}",
	  "line 1, column 10: 'env': 'PATH' cannot be set: generated by claudebox" },
	{ "{\"env\": {\"BASH_ENV\": \"/x\"}}",
	  "line 1, column 10: 'env': 'BASH_ENV' cannot be set: runs code in every shell" },
	{ "{\"env\": {\"CLAUDE_CONFIG_DIR\": \"/x\"}}",
	  "line 1, column 10: 'env': 'CLAUDE_CONFIG_DIR' cannot be set: generated by claudebox" },
	{ "{\"env\": {\"CLAUDEBOX_PROFILE\": \"x\"}}",
	  "line 1, column 10: 'env': 'CLAUDEBOX_PROFILE' cannot be set: belongs to claudebox" },
	{ "{\"env\": {\"GIT_CONFIG_COUNT\": \"1\"}}",
	  "line 1, column 10: 'env': 'GIT_CONFIG_COUNT' cannot be set: generated by claudebox" },
	{ "{\"extra_env_passthrough\": [\"A\", \"LD_PRELOAD\"]}",
	  "line 1, column 33: 'extra_env_passthrough[1]': 'LD_PRELOAD' cannot be set: changes how every program starts" },
	{ "{\"extra_env_passthrough\": [\"A,B\"]}",
	  "line 1, column 28: 'extra_env_passthrough[0]': 'A,B' is not a valid variable name" },
	{ "{\"extra_env_passthrough\": [\"A*\"]}",
	  "line 1, column 28: 'extra_env_passthrough[0]': 'A*' is not a valid variable name" },
	{ "{\"env\": {\"A\": \"\"}, \"extra_env_passthrough\": [\"B\", \"A\"]}",
	  "line 1, column 51: 'extra_env_passthrough[1]': 'A' already has a value in 'env'" },
	{ "{\"mounts\": [{}]}", "line 1, column 13: 'mounts[0]' requires the key 'host'" },
	{ "{\"mounts\": [{\"host\": \"\"}]}",
	  "line 1, column 22: 'mounts[0].host': '' is not a path" },
	{ "{\"mounts\": [{\"host\": \"~ann/x\"}]}",
	  "line 1, column 22: 'mounts[0].host': '~ann/x' names the home directory of another user: write the full path" },
	{ "{\"mounts\": [{\"host\": \"/a\", \"sandbox\": \"\"}]}",
	  "line 1, column 39: 'mounts[0].sandbox': '' is not a path" },
	{ "{\"mounts\": [{\"host\": \"/a\\u000ab\"}]}",
	  "line 1, column 22: 'mounts[0].host' contains a control character" },
	{ "{\"mounts\": [{\"host\": \"/a\"},\n            {\"host\": \"/a\", \"mode\": \"rw\"}]}",
	  "line 2, column 13: 'mounts[1]' has the same path in the box as 'mounts[0]'" },
	{ "{\"mounts\": [{\"host\": \"~/a\"}, {\"host\": \"/b\", \"sandbox\": \"$HOME//a/\"}]}",
	  "line 1, column 30: 'mounts[1]' has the same path in the box as 'mounts[0]'" },
	{ "{\"mounts\": [{\"host\": \"a\"}, {\"host\": \"/b\"}, {\"host\": \"./a\"}]}",
	  "line 1, column 44: 'mounts[2]' has the same path in the box as 'mounts[0]'" },
	{ "{\"packages\": [\"\"]}",
	  "line 1, column 15: 'packages[0]': '' is not a valid package name" },
	{ "{\"packages\": [\"jq\", \"a b\"]}",
	  "line 1, column 21: 'packages[1]': 'a b' is not a valid package name" },
	{ "{\"packages\": [\"a..b\"]}",
	  "line 1, column 15: 'packages[0]': 'a..b' is not a valid package name" },
	{ "{\"packages\": [\".a\"]}",
	  "line 1, column 15: 'packages[0]': '.a' is not a valid package name" },
	{ "{\"packages\": [\"-rf\"]}",
	  "line 1, column 15: 'packages[0]': '-rf' is not a valid package name" },
	{ "{\"packages\": [\"nixpkgs#jq\"]}",
	  "line 1, column 15: 'packages[0]': 'nixpkgs#jq' is not a valid package name" },
	{ "{\"packages\": [\"../x\"]}",
	  "line 1, column 15: 'packages[0]': '../x' is not a valid package name" },
	{ "{\"packages\": [\"j\xc3\xb6\"]}",
	  "line 1, column 15: 'packages[0]': 'j\xc3\xb6' is not a valid package name" },
	{ "{\"limits\": 1}", "line 1, column 12: 'limits' must be an object, not a number" },
	{ "{\"limits\": [{\"pids\": 100}]}",
	  "line 1, column 12: 'limits' must be an object, not a list" },
	{ "{\"limits\": {\"memroy\": \"4G\"}}", "line 1, column 13: unknown key 'limits.memroy'" },
	{ "{\"limits\": {\"memory\": 4}}",
	  "line 1, column 23: 'limits.memory' must be a string, not a number" },
	{ "{\"limits\": {\"memory\": \"4GG\"}}",
	  "line 1, column 23: 'limits.memory': '4GG' is not a size such as 512M, 1.5G or 4G" },
	{ "{\"limits\": {\"memory\": \"\"}}",
	  "line 1, column 23: 'limits.memory': '' is not a size such as 512M, 1.5G or 4G" },
	{ "{\"limits\": {\"memory\": \"-1G\"}}",
	  "line 1, column 23: 'limits.memory': '-1G' is not a size such as 512M, 1.5G or 4G" },
	{ "{\"limits\": {\"memory\": \"1K\"}}",
	  "line 1, column 23: 'limits.memory': '1K' is less than 32M" },
	{ "{\"limits\": {\"memory\": \"65T\"}}",
	  "line 1, column 23: 'limits.memory': '65T' is more than 64T" },
	{ "{\"limits\": {\"memory\": \"\\u001b[2J\"}}",
	  "line 1, column 23: 'limits.memory' contains a control character" },
	{ "{\"limits\": {\"pids\": \"100\"}}",
	  "line 1, column 21: 'limits.pids' must be a number, not a string" },
	{ "{\"limits\": {\"pids\": 1.5}}",
	  "line 1, column 21: 'limits.pids' must be a number, not a fraction" },
	{ "{\"limits\": {\"pids\": 0}}",
	  "line 1, column 21: 'limits.pids' must be from 16 to 4194304, not 0" },
	{ "{\"limits\": {\"memory\": \"1G\",\n \"pids\": -1}}",
	  "line 2, column 10: 'limits.pids' must be from 16 to 4194304, not -1" },
	{ "{\"limits\": {\"cpu\": 2}}",
	  "line 1, column 20: 'limits.cpu' must be a string, not a number" },
	{ "{\"limits\": {\"cpu\": \"2\"}}",
	  "line 1, column 20: 'limits.cpu': '2' is not a share such as 50% (of one processor) or 200%" },
	{ "{\"limits\": {\"cpu\": \"0%\"}}",
	  "line 1, column 20: 'limits.cpu': '0%' is less than 1%" },
	{ "{\"limits\": {\"cpu\": \"100001%\"}}",
	  "line 1, column 20: 'limits.cpu': '100001%' is more than 100000%" },
	{ "{\"limits\": {\"cpu\": \"00000000000000000020%\"}}",
	  "line 1, column 20: 'limits.cpu' is longer than 20 bytes" },
	{ "{\"nixpkgs\": \"\"}", "line 1, column 13: 'nixpkgs': '' is not a flake reference" },
	{ "{\"nixpkgs\": \"./x\"}",
	  "line 1, column 13: 'nixpkgs': './x' is relative: write the full path" },
	{ "{\"nixpkgs\": \"path:.\"}",
	  "line 1, column 13: 'nixpkgs': 'path:.' is relative: write the full path" },
	{ "{\"nixpkgs\": \"path:x\"}",
	  "line 1, column 13: 'nixpkgs': 'path:x' is relative: write the full path" },
	{ "{\"nixpkgs\": \"git+file:x\"}",
	  "line 1, column 13: 'nixpkgs': 'git+file:x' is relative: write the full path" },
	{ "{\"nixpkgs\": \"--option\"}",
	  "line 1, column 13: 'nixpkgs': '--option' is not a flake reference" },
	{ "{\"nixpkgs\": \"nixpkgs#jq\"}",
	  "line 1, column 13: 'nixpkgs': 'nixpkgs#jq' is not a flake reference" },
	{ "{\"nixpkgs\": \"a;b\"}",
	  "line 1, column 13: 'nixpkgs': 'a;b' is not a flake reference" },
};

// Hints other than the example of the row.
static const char *const hints[][2] = {
	{ "{\"mounts\": [{\"hots\": 1}]}", "did you mean 'host'? known keys: host, sandbox, mode" },
	{ "{\"mounts\": [{\"host\": \"/a\", \"x\": 1}]}", "known keys: host, sandbox, mode" },
	{ "{\"limits\": {\"memroy\": 1}}",
	  "did you mean 'memory'? known keys: memory, pids, cpu, home, snapshots" },
	{ "{\"limits\": {\"cpu\": \"2\"}}", "for example: \"cpu\": \"200%\"" },
	{ "{\"limits\": {\"pids\": 2}}", "for example: \"pids\": 2000" },
	{ "{\"network\": \"lan\"}", "for example: \"network\": \"inet\"" },
	{ "{\"network\": \"INET\"}", "did you mean 'inet'?" },
	{ "{\"network\": \"offline\"}", "did you mean 'none'?" },
	{ "{\"terminal\": \"filter\"}", "did you mean 'filtered'?" },
	{ "{\"terminal\": \"raw\"}", "for example: \"terminal\": \"direct\"" },
	{ "{\"confirm\": \"change\"}", "did you mean 'changed'?" },
	{ "{\"project\": \"readonly\"}", "did you mean 'read-only'?" },
	{ "{\"project\": \"ro\"}", "did you mean 'read-only'?" },
	{ "{\"mounts\": [{\"host\": \"/a\", \"mode\": \"readonly\"}]}", "did you mean 'ro'?" },
	{ "{\"mounts\": [{\"host\": \"/a\", \"mode\": \"offline\"}]}",
	  "for example: \"mode\": \"ro\"" },
	{ "{\"mounts\": [{\"host\": \"\"}]}", "for example: \"host\": \"~/notes\"" },
	{ "{\"name\": \"play\"}", "rename the file, or change or remove the name" },
	{ "{\"publish\": [80]}", "add \"network\": \"inet\", or remove the ports" },
	{ "", "the smallest profile is {}" },
	{ "{\"description\": \"\xff\"}", "save the file as UTF-8" },
};

static bool parse(const char *text, struct error *error)
{
	profile_chain chain = { 0 };
	struct config config = { 0 };
	bool ok;

	*error = (struct error){ .arena = &arena };
	vec_push(&arena, &chain, (struct profile){ "work", "work.json", text });
	ok = profile_parse(&chain.items[0], error) &&
	     profile_apply(&config, &arena, chain.items, 1, error);
	profile_release(&chain);
	return ok;
}

static void check_message(const char *text, const char *wanted, const char *what)
{
	struct error error;
	bool ok = parse(text, &error);

	CHECK_CASE_STRING(ok ? "accepted" : error.message,
			  arena_printf(&arena, "profile 'work.json': %s", wanted), what);
	CHECK_CASE(!ok && error.hint && *error.hint && error.status == EXIT_NOT_STARTED, what);
	CHECK_CASE(!ok && !strpbrk(error.message, "\n\x1b") && !strstr(error.message, "hunter2"),
		   what);
}

static const char *repeat(const char *piece, size_t count, const char *before, const char *after)
{
	struct text out = { .arena = &arena };

	text_add(&out, before);
	for (size_t i = 0; i < count; i++)
		text_add(&out, piece);
	text_add(&out, after);
	return text_get(&out);
}

// Repeats the format with different numbers in place of '%'.
static const char *number(const char *format, size_t count, const char *before, const char *after)
{
	const char *sign = strchr(format, '%');
	struct text out = { .arena = &arena };

	text_add(&out, before);
	for (size_t i = 1; i <= count; i++)
		text_printf(&out, "%s%.*s%zu%s", i > 1 ? "," : "", (int)(sign - format), format, i,
			    sign + 1);
	text_add(&out, after);
	return text_get(&out);
}

static void test_too_long(void)
{
	static const struct {
		const char *before;
		const char *after;
		size_t most;
		const char *wanted;
	} rows[] = {
		{ "{\"extends\": \"", "\"}", 64,
		  "line 1, column 13: 'extends' is longer than 64 bytes" },
		{ "{\"description\": \"", "\"}", 200,
		  "line 1, column 17: 'description' is longer than 200 bytes" },
		{ "{\"env\": {\"A\": \"", "\"}}", 16384,
		  "line 1, column 15: 'env.A' is longer than 16384 bytes" },
		{ "{\"extra_env_passthrough\": [\"", "\"]}", 256,
		  "line 1, column 28: 'extra_env_passthrough[0]' is longer than 256 bytes" },
		{ "{\"mounts\": [{\"host\": \"", "\"}]}", 4095,
		  "line 1, column 22: 'mounts[0].host' is longer than 4095 bytes" },
		{ "{\"mounts\": [{\"host\": \"/a\", \"sandbox\": \"", "\"}]}", 4095,
		  "line 1, column 39: 'mounts[0].sandbox' is longer than 4095 bytes" },
		{ "{\"packages\": [\"", "\"]}", 100,
		  "line 1, column 15: 'packages[0]' is longer than 100 bytes" },
		{ "{\"nixpkgs\": \"", "\"}", 300,
		  "line 1, column 13: 'nixpkgs' is longer than 300 bytes" },
		{ "{\"env\": {\"", "\": \"\"}}", 256,
		  "line 1, column 10: 'env': 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa... (257 bytes)' is too long" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error error;

		CHECK_CASE(parse(repeat("a", rows[i].most, rows[i].before, rows[i].after), &error),
			   rows[i].before);
		check_message(repeat("a", rows[i].most + 1, rows[i].before, rows[i].after),
			      rows[i].wanted, rows[i].before);
	}
}

static void test_too_many(void)
{
	static const struct {
		const char *piece;
		const char *before;
		const char *after;
		size_t most;
		const char *wanted;
	} rows[] = {
		{ "%", "{\"network\": \"inet\", \"publish\": [", "]}", 16,
		  "line 1, column 32: 'publish' has more than 16 entries" },
		{ "%", "{\"network\": \"inet\", \"host_ports\": [", "]}", 16,
		  "line 1, column 35: 'host_ports' has more than 16 entries" },
		{ "\"A%\": \"\"", "{\"env\": {", "}}", 100,
		  "line 1, column 9: 'env' has more than 100 entries" },
		{ "\"A%\"", "{\"extra_env_passthrough\": [", "]}", 100,
		  "line 1, column 27: 'extra_env_passthrough' has more than 100 entries" },
		{ "{\"host\": \"/%\"}", "{\"mounts\": [", "]}", 64,
		  "line 1, column 12: 'mounts' has more than 64 entries" },
		{ "\"a%\"", "{\"packages\": [", "]}", 100,
		  "line 1, column 14: 'packages' has more than 100 entries" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error error;

		CHECK_CASE(parse(number(rows[i].piece, rows[i].most, rows[i].before, rows[i].after),
				 &error),
			   rows[i].before);
		check_message(number(rows[i].piece, rows[i].most + 1, rows[i].before,
				     rows[i].after),
			      rows[i].wanted, rows[i].before);
	}
}

// The hint for an unknown key lists every key of the table.
static void test_known_keys(void)
{
	struct text wanted = { .arena = &arena };
	struct error error;

	text_add(&wanted, "did you mean 'name'? known keys:");
	for (size_t i = 0; i < profile_table_count; i++)
		text_printf(&wanted, "%s %s", i ? "," : "", profile_table[i].key);
	CHECK(!parse("{\"nmae\": 1}", &error));
	CHECK_STRING(error.hint, text_get(&wanted));
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		check_message(bad[i][0], bad[i][1], bad[i][0]);
	for (size_t i = 0; i < ARRAY_SIZE(hints); i++) {
		struct error error;

		CHECK_CASE(!parse(hints[i][0], &error), hints[i][0]);
		CHECK_CASE_STRING(error.hint, hints[i][1], hints[i][0]);
	}
	test_known_keys();
	test_too_long();
	test_too_many();
	check_message(repeat("[", 100000, "{\"env\": ", ""),
		      "line 1, column 2056: maximum parsing depth reached near '['", "deep");
	arena_free(&arena);
	return check_done();
}
