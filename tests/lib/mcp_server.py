# SPDX-License-Identifier: MIT
"""A small MCP server on standard input and output, for tests. Its tool `look` returns its arguments and the variables whose names
start with MCP_."""
import json
import os
import sys


def result(request):
    method = request["method"]
    if method == "initialize":
        return {"protocolVersion": request["params"]["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "test", "version": "1"}}
    if method == "tools/list":
        return {"tools": [{"name": "look", "description": "looks around", "inputSchema": {"type": "object", "properties": {}}}]}
    if method == "tools/call":
        variables = {name: value for name, value in os.environ.items() if name.startswith("MCP_")}
        return {"content": [{"type": "text", "text": json.dumps({"arguments": sys.argv[1:], "variables": variables})}]}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result(message)}), flush=True)
