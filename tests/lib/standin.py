# SPDX-License-Identifier: MIT
"""A fake of the Anthropic API on 127.0.0.1, for tests. It uses the standard library only.

    with Standin(log_path="x.jsonl") as s:
        env = {"ANTHROPIC_BASE_URL": s.url, "ANTHROPIC_API_KEY": "sk-ant-x"}

Its answers follow rules: a user text "RUN: <command>" becomes a call of the Bash tool, "CALL: <tool>"
one of another tool, the result of the tool becomes "DONE <result>", any other text becomes "ECHO
<text>".

Login (oauth=True): Claude Code has a fixed address for its token endpoint, so the fake API is also
an HTTPS proxy (CONNECT) that answers for every host, with a certificate that it generates at the
start (needs openssl). Set s.proxy_env() for Claude Code; no request then leaves the machine.
Refresh tokens work once. /v1/messages requires an access token that was issued here.

As a program, standin.py COMMAND [ARG...], it runs a command with the variables for the fake API.
"""
import gzip
import http.server
import json
import os
import re
import secrets
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time

NAMES = "anthropic.com claude.com claude.ai".split()
SCOPES = ("user:inference user:profile user:sessions:claude_code "
          "user:mcp_servers user:file_upload").split()


class Standin:
    """The server and its state. refreshes, reused and unauthorised count the requests of these kinds."""

    def __init__(self, port=0, log_path=None, oauth=False, refresh_delay=0.0,
                 expires_in=28800, turn_delay=0.0, listener=None):
        self.log_path, self.oauth = log_path, oauth
        self.refresh_delay, self.expires_in, self.turn_delay = refresh_delay, expires_in, turn_delay
        self.lock = threading.Lock()
        self.access = {}             # access token -> time of expiry
        self.refresh = {}            # refresh token -> whether it is unused
        self.refreshes = self.reused = self.unauthorised = 0
        self.requests = []           # the same as in the log
        self.dir = self.tls = None
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler, bind_and_activate=listener is None)
        if listener:  # may be in another network namespace
            self.server.socket.close()
            self.server.socket = listener
            self.server.server_address = listener.getsockname()
        self.server.daemon_threads = True
        self.server.standin = self
        self.port = self.server.server_address[1]
        self.url = "http://%s:%d" % self.server.server_address[:2]

    def __enter__(self):
        self._make_certificate()
        threading.Thread(target=self.server.serve_forever, args=(0.1,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        shutil.rmtree(self.dir, ignore_errors=True)

    def _make_certificate(self):
        self.dir = tempfile.mkdtemp(prefix="standin-")
        os.chmod(self.dir, 0o755)                       # claude may run as another user
        self.ca_file, key = self.dir + "/ca.pem", self.dir + "/key.pem"
        san = ",".join("DNS:%s,DNS:*.%s" % (n, n) for n in NAMES)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                        "/CN=stand-in", "-addext", "subjectAltName=" + san,
                        "-keyout", key, "-out", self.ca_file],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(self.ca_file, key)
        os.chmod(self.ca_file, 0o644)

    def proxy_env(self):
        """Returns an environment that sends every HTTPS request of Claude Code here."""
        return {"HTTPS_PROXY": self.url, "HTTP_PROXY": self.url, "NO_PROXY": "127.0.0.1,localhost",
                "NODE_EXTRA_CA_CERTS": self.ca_file}

    def grant(self, expires_in=None):
        """Issues a new pair of tokens and returns it in the format of .credentials.json."""
        expiry = time.time() + (self.expires_in if expires_in is None else expires_in)
        access = "sk-ant-oat01-" + secrets.token_hex(16)
        refresh = "sk-ant-ort01-" + secrets.token_hex(16)
        with self.lock:
            self.access[access] = expiry
            self.refresh[refresh] = True
        return {"claudeAiOauth": {
            "accessToken": access, "refreshToken": refresh,
            "expiresAt": int(expiry * 1000), "scopes": SCOPES, "subscriptionType": "max"}}

    def good(self, access):
        """Returns whether /v1/messages accepts this access token."""
        return self.access.get(access, 0) > time.time()

    def revoke(self, access):
        """Makes an access token invalid."""
        self.access.pop(access, None)

    def do_refresh(self, token):
        """Handles a refresh_token grant. Returns (status, answer)."""
        with self.lock:
            good = self.refresh.get(token, False)
            if good:
                self.refresh[token] = False
                self.refreshes += 1
            else:
                self.reused += 1
        time.sleep(self.refresh_delay)
        if not good:
            return 400, {"error": "invalid_grant", "error_description": "Refresh token not found or invalid"}
        new = self.grant()["claudeAiOauth"]
        return 200, {"token_type": "Bearer", "access_token": new["accessToken"],
                     "refresh_token": new["refreshToken"], "expires_in": self.expires_in,
                     "scope": " ".join(SCOPES),
                     "account": {"uuid": "00000000-0000-4000-8000-000000000001",
                                 "email_address": "user@example.com"},
                     "organization": {"uuid": "00000000-0000-4000-8000-000000000002",
                                      "name": "Example"}}

    def log(self, entry):
        with self.lock:
            self.requests.append(entry)
            if self.log_path:
                with open(self.log_path, "a", encoding="utf-8") as f:
                    f.write(json.dumps(entry) + "\n")


def text_of(content):
    """Returns the text blocks of a message's content, without those that Claude Code adds."""
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    texts = [b["text"] for b in content if b.get("type") == "text"]
    return "\n".join(t for t in texts if not t.lstrip().startswith("<system-reminder>"))


def answer(request):
    """Returns the content block that answers a /v1/messages request."""
    users = [m["content"] for m in request.get("messages", []) if m.get("role") == "user"]
    last = users[-1] if users else ""
    if not isinstance(last, str):
        results = [b for b in last if b.get("type") == "tool_result"]
        if results:
            return {"type": "text", "text": "DONE " + "\n".join(
                text_of(b.get("content") or "") for b in results)}
    text = text_of(last)
    run = re.search(r"^RUN: (.+)$", text, re.M)
    if run and any(t.get("name") == "Bash" for t in request.get("tools") or []):
        return {"type": "tool_use", "id": "toolu_" + secrets.token_hex(8), "name": "Bash",
                "input": {"command": run.group(1), "description": "scripted"}}
    call = re.search(r"^CALL: (\S+)$", text, re.M)
    if call and any(t.get("name") == call.group(1) for t in request.get("tools") or []):
        return {"type": "tool_use", "id": "toolu_" + secrets.token_hex(8), "name": call.group(1), "input": {}}
    return {"type": "text", "text": "ECHO " + text}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except (OSError, ValueError):        # the client has disconnected
            pass

    def body(self):
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Content-Encoding") == "gzip":
            data = gzip.decompress(data)
        try:
            return json.loads(data or b"null")
        except ValueError:
            return data.decode("utf-8", "replace")

    def reply(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def do_CONNECT(self):
        """Handles a proxy request for an HTTPS host by acting as that host."""
        self.send_response(200)
        self.end_headers()
        self.target = self.path
        self.connection = self.server.standin.tls.wrap_socket(self.connection, server_side=True)
        self.rfile = self.connection.makefile("rb")
        self.wfile = self.connection.makefile("wb", 0)
        self.close_connection = False

    def do_any(self):
        s, path, body = self.server.standin, self.path.split("?")[0], self.body()
        entry = {"time": time.time(), "method": self.command, "path": self.path, "body": body,
                 "host": getattr(self, "target", None),
                 "auth": self.headers.get("Authorization") or self.headers.get("x-api-key")}
        s.log(entry)
        body = body if isinstance(body, dict) else {}
        if path == "/v1/messages" and self.command == "POST":
            bearer = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
            if s.oauth and not s.good(bearer):
                s.unauthorised += 1
                return self.reply(401, {"type": "error", "error": {
                    "type": "authentication_error", "message": "Invalid authentication credentials"}})
            time.sleep(s.turn_delay)
            return self.messages(body)
        if path == "/v1/messages/count_tokens":
            return self.reply(200, {"input_tokens": 10})
        if path == "/v1/oauth/token" and body.get("grant_type") == "refresh_token":
            return self.reply(*s.do_refresh(body.get("refresh_token")))
        if path in ("/", "/api/hello", "/v1/oauth/hello"):
            return self.reply(200, {})
        return self.reply(404, {"type": "error", "error": {
            "type": "not_found_error", "message": "not in the fake API"}})

    do_HEAD = do_GET = do_POST = do_PUT = do_any

    def messages(self, request):
        block = answer(request)
        stop = "tool_use" if block["type"] == "tool_use" else "end_turn"
        message = {"id": "msg_" + secrets.token_hex(8), "type": "message", "role": "assistant",
                   "model": request.get("model"), "content": [block], "stop_reason": stop,
                   "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 5}}
        if not request.get("stream"):
            return self.reply(200, message)
        if block["type"] == "text":
            empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = dict(block, input={})
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")     # the stream has no length
        self.end_headers()
        for event in (
                {"type": "message_start", "message": dict(message, content=[], stop_reason=None)},
                {"type": "content_block_start", "index": 0, "content_block": empty},
                {"type": "content_block_delta", "index": 0, "delta": delta},
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None},
                 "usage": {"output_tokens": 5}},
                {"type": "message_stop"}):
            self.wfile.write(("event: %s\ndata: %s\n\n" % (event["type"], json.dumps(event))).encode())
        self.close_connection = True


def main():
    with Standin() as api:
        variables = {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "sk-ant-stand-in", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                     "CLAUDEBOX_EXTRA_ENV": "ANTHROPIC_BASE_URL,CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"}
        return subprocess.run(sys.argv[1:], env=os.environ | variables, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
