// SPDX-License-Identifier: MIT
// Tells the user about MCP servers that were added or removed in a box.
#include "state/changed_servers.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/mcp/account.h"
#include "plan/plan.h"
#include "plan/state/instances.h"
#include "sys/files.h"
#include "sys/output.h"

#include <fcntl.h>
#include <string.h>

// A box writes the file.
enum { ACCOUNT_LIMIT = 64 * 1024 * 1024, SHOWN_SERVERS = 5 };

static bool has(const strings *names, const char *wanted)
{
	vec_each(name, names) {
		if (str_equal(*name, wanted))
			return true;
	}
	return false;
}

// Lists the names ("user NAME", "local NAME") that the other lists lack. Returns their number.
static size_t list_new(struct arena *arena, const strings *names, const strings *others,
		       const strings *more, const char **ret_list)
{
	struct text list = { .arena = arena };
	size_t count = 0;

	vec_each(name, names) {
		if (!has(others, *name) && !has(more, *name) && count++ < SHOWN_SERVERS)
			text_printf(&list, "%s'%s'", list.length ? ", " : "",
				    quote_word(arena, strchr(*name, ' ') + 1, 60));
	}
	if (count > SHOWN_SERVERS)
		text_printf(&list, " and %zu more", count - SHOWN_SERVERS);
	*ret_list = text_get(&list);
	return count;
}

void report_changed_servers(const struct plan *plan, struct arena *arena)
{
	const char *root = plan->state.canonical_root;
	const char *text = file_read_single_at(arena, AT_FDCWD,
					       path_join(arena, plan->state.claude, ".claude.json"),
					       ACCOUNT_LIMIT);
	const char *base = path_join(arena, plan->state.instance, INSTANCE_ACCOUNT_BASE);
	JSON_OWNED *account = json_read_object(account_reduce(arena, text, root), 0);
	// A start beside this box may have added servers of the host.
	JSON_OWNED *host = json_read_object(file_read(arena, base, ACCOUNT_LIMIT, 0), 0);
	strings of_host = account_server_names(arena, host, root);
	strings names = account_server_names(arena, account, root);
	const char *list;
	size_t count = list_new(arena, &names, &plan->state.server_names, &of_host, &list);

	if (count)
		output_message("claudebox",
			       "MCP server%s %s: added for the boxes of this project only. Run "
			       "`claude mcp add` outside of the box to have %s everywhere.",
			       count > 1 ? "s" : "", list, count > 1 ? "them" : "it");
	count = account ? list_new(arena, &plan->state.server_names, &names, &names, &list) : 0;
	if (count)
		output_message("claudebox",
			       "MCP server%s %s: removed for the boxes of this project only. "
			       "`claude mcp add` in a box brings %s back.",
			       count > 1 ? "s" : "", list, count > 1 ? "them" : "it");
}
