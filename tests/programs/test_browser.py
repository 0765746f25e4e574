# SPDX-License-Identifier: MIT
"""Chromium in the box: with its own sandbox in a nested box, else without; by hand and driven by Playwright, in every tier.

All of it in a world of its own, so that no browser ever speaks to a real network.
"""
import json
import shutil
import subprocess
import unittest

from lib.inet import InetTest

TIERS = ("full", "inet", "none")
PLAYWRIGHT = "playwright-core@1.49.1"
CHROMIUM = "/usr/bin/chromium"

# Serves a page and lets a browser print it. While the page waits for its script, the renderer processes are examined.
BROWSE = r"""
import http.server, json, os, pathlib, re, subprocess, sys, tempfile, threading

NAMESPACES = ("user", "pid", "net")
renderers = []


def look(process):
    status = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines() if ":\t" in line)
    return {"namespaces": {name: os.readlink(process / "ns" / name) for name in NAMESPACES}, "filters": int(status["Seccomp_filters"]),
            "capabilities": int(status["CapEff"], 16), "root": os.readlink(process / "root")}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        script = self.path == "/script.js"
        if script:
            for process in pathlib.Path("/proc").iterdir():
                if process.name.isdigit() and re.match(rb"[^\0 ]*chromium[\0 ]--type=renderer", (process / "cmdline").read_bytes()):
                    renderers.append(look(process))
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if script else "text/html")
        self.end_headers()
        self.wfile.write(b"document.body.textContent = 'scripted ' + 6 * 7" if script else b"<body><script src=/script.js></script>")

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
flags = ["--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--user-data-dir=" + tempfile.mkdtemp()]
done = subprocess.run(["chromium", *flags, *sys.argv[1:], "--dump-dom", f"http://127.0.0.1:{server.server_port}/"], stdin=subprocess.DEVNULL,
                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100)
print(json.dumps({"status": done.returncode, "page": done.stdout, "said": done.stderr, "renderers": renderers,
                  "outside": look(pathlib.Path("/proc/self"))}))
"""

PLAY = r"""
const { chromium } = require("playwright-core"), http = require("http");
(async () => {
  const server = http.createServer((_, answer) => {
    answer.setHeader("content-type", "text/html");
    answer.end("<p id=p>before</p><button onclick='fetch(\"/\").then(r => r.text()).then(t => p.textContent = \"fetched \" + (t.length > 0))'>go</button>");
  }).listen(0, "127.0.0.1");
  await new Promise(done => server.on("listening", done));
  const browser = await chromium.launch({ executablePath: process.argv[2], chromiumSandbox: process.argv[3] === "true" });
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.click("button");
  await page.waitForFunction(() => p.textContent.startsWith("fetched"));
  const picture = await page.screenshot();
  console.log(await page.textContent("#p"), picture.length > 100);
  await browser.close();
  server.close();
})().catch(error => { console.error(String(error)); process.exit(1); });
"""


@unittest.skipUnless(shutil.which("chromium"), "no chromium")
class Chromium(InetTest):
    def browse(self, tier, *flags):
        done = self.claudebox("--network", tier, "--yes", "--exec", "/usr/bin/python3", "-c", BROWSE, *flags, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr[-800:])
        seen = json.loads(done.stdout)
        return seen, seen["outside"]

    def test_with_its_own_sandbox(self):
        self.profile(nested=True)
        for tier in TIERS:
            with self.subTest(tier):
                seen, outside = self.browse(tier)
                self.assertIn("scripted 42", seen["page"], seen["said"][-800:])
                self.assertTrue(seen["renderers"])
                for renderer in seen["renderers"]:
                    for name, namespace in outside["namespaces"].items():
                        self.assertNotEqual(renderer["namespaces"][name], namespace, name)
                    self.assertGreater(renderer["filters"], outside["filters"])
                    self.assertEqual(renderer["capabilities"], 0)
                    self.assertRegex(renderer["root"], "^/proc/.*/fdinfo$")  # of a process that is gone: nothing is there

    def test_without(self):
        """The counterpart: only the box confines it."""
        for tier in TIERS:
            with self.subTest(tier):
                seen, outside = self.browse(tier, "--no-sandbox")
                self.assertIn("scripted 42", seen["page"], seen["said"][-800:])
                self.assertTrue(seen["renderers"])
                for renderer in seen["renderers"]:
                    self.assertEqual(renderer, outside)

    def test_its_sandbox_in_an_ordinary_box_fails_with_a_message(self):
        seen, _ = self.browse("none")
        self.assertNotEqual(seen["status"], 0)
        self.assertRegex(seen["said"], "(?i)sandbox")
        self.assertEqual(seen["renderers"], [])

    def test_no_settings_with_keys_are_mounted(self):
        found = self.claudebox("--yes", "--exec", "sh", "-c", "cd /etc/chromium.d 2>/dev/null && ls").stdout.split()
        self.assertLessEqual(set(found), {"default-flags", "dev-shm"})


@unittest.skipUnless(shutil.which("chromium") and shutil.which("npm"), "no chromium or no npm")
class Playwright(InetTest):
    """Playwright starts a browser without a sandbox by default."""

    def setUp(self):
        super().setUp()
        # No downloaded code runs outside the box.
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", PLAYWRIGHT], cwd=self.project, env=self.env,
                       stdin=subprocess.DEVNULL, check=True, timeout=120)
        (self.project / "play.js").write_text(PLAY)

    def play(self, tier, sandbox):
        return self.claudebox("--network", tier, "--yes", "--exec", "node", "play.js", CHROMIUM, sandbox, timeout=120)

    def test_without_a_sandbox_in_every_tier(self):
        for tier in TIERS:
            with self.subTest(tier):
                done = self.play(tier, "false")
                self.assertEqual((done.stdout, done.returncode), ("fetched true true\n", 0), done.stderr[-800:])

    def test_with_one_in_a_nested_box_only(self):
        self.assertNotEqual(self.play("none", "true").returncode, 0)
        self.profile(nested=True)
        done = self.play("none", "true")
        self.assertEqual((done.stdout, done.returncode), ("fetched true true\n", 0), done.stderr[-800:])


if __name__ == "__main__":
    unittest.main()
