// SPDX-License-Identifier: MIT
// Tells the user where MCP servers went that were added in a box.
#include "state/added_servers.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/mcp/account.h"
#include "plan/plan.h"
#include "sys/files.h"
#include "sys/output.h"

#include <string.h>

// A box writes the file.
enum { ACCOUNT_LIMIT = 64 * 1024 * 1024, SHOWN_SERVERS = 5 };

static bool is_known(const struct plan *plan, const char *name)
{
	vec_each(known, &plan->state.server_names) {
		if (str_equal(*known, name))
			return true;
	}
	return false;
}

void report_added_servers(const struct plan *plan, struct arena *arena)
{
	const char *root = plan->state.canonical_root;
	const char *text = file_read(arena, path_join(arena, plan->state.claude, ".claude.json"),
				     ACCOUNT_LIMIT, 0);
	JSON_OWNED *account = json_read_object(account_reduce(arena, text, root), 0);
	strings names = account_server_names(arena, account, root);
	struct text list = { .arena = arena };
	size_t count = 0;

	vec_each(name, &names) {
		// "user NAME" or "local NAME"
		if (!is_known(plan, *name) && count++ < SHOWN_SERVERS)
			text_printf(&list, "%s'%s'", list.length ? ", " : "",
				    quote_word(arena, strchr(*name, ' ') + 1, 60));
	}
	if (count > SHOWN_SERVERS)
		text_printf(&list, " and %zu more", count - SHOWN_SERVERS);
	if (count)
		output_message("claudebox",
			       "MCP server%s %s: added for the boxes of this project only. Run "
			       "`claude mcp add` outside of the box to have %s everywhere.",
			       count > 1 ? "s" : "", text_get(&list), count > 1 ? "them" : "it");
}
