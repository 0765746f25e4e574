#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes doc/audit.svg from a real run: picture.py CLAUDEBOX OUTPUT.

claudebox runs on a terminal of its own, in a world made by an outer bwrap where the user is called ann.
"""
import fcntl
import html
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios

COMMAND = "claudebox --mount-rw ~/notes"
PROGRAMS = (".nvm/versions/node/v22.9.0/bin", ".cargo/bin", "bin", ".local/bin")
# Settings of the machine where the picture is made do not belong in it.
SETTINGS = ("/etc/npmrc", "/usr/etc/npmrc", "/usr/local/etc/npmrc", "/etc/pip.conf")
ROWS, COLUMNS, LINE, WIDTH = 24, 80, 17, 7.85
STYLES = {"1": "font-weight:bold", "2": "fill:#8b949e", "33": "fill:#e3b341", "35": "fill:#d2a8ff", "36": "fill:#76e3ea",
          "1;31": "font-weight:bold;fill:#ff7b72"}


def world(claudebox, scratch):
    """The command that starts claudebox for ann in ~/shop."""
    with open(f"{scratch}/passwd", "w", encoding="utf-8") as file:
        file.write(f"ann:x:{os.getuid()}:{os.getgid()}:Ann:/home/ann:/bin/bash\n")
    with open(f"{scratch}/claude", "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n")
    os.chmod(f"{scratch}/claude", 0o755)
    setup = ("mkdir -p ~/shop ~/notes ~/bin ~/.cargo/bin ~/.nvm/versions/node/v22.9.0/bin ~/.local/bin ~/.claude && "
             "for program in .local/bin/claude bin/deploy .cargo/bin/cargo .nvm/versions/node/v22.9.0/bin/node; do "
             "cp /tmp/picture/claude ~/$program; done && touch ~/.claude/CLAUDE.md && "
             "mkdir -m 700 ~/.claudebox && echo {} >~/.claude/.credentials.json && "
             "cd ~/shop && git init -q && git config --global user.name Ann && git config --global user.email ann@example.org && "
             f"touch .env && exec /tmp/picture/{COMMAND}")
    open(f"{scratch}/empty", "w", encoding="utf-8").close()
    hidden = [word for name in SETTINGS if os.path.exists(name) for word in ("--ro-bind", f"{scratch}/empty", name)]
    return ["bwrap", "--dev-bind", "/", "/", *hidden, "--tmpfs", "/home", "--dir", "/home/ann", "--tmpfs", "/tmp",
            "--ro-bind", scratch, "/tmp/picture", "--ro-bind", claudebox, "/tmp/picture/claudebox",
            "--ro-bind", f"{scratch}/passwd", "/etc/passwd", "--clearenv", "--setenv", "HOME", "/home/ann",
            "--setenv", "PATH", ":".join(f"/home/ann/{name}" for name in PROGRAMS) + ":/usr/bin:/bin", "--setenv", "TERM", "xterm-256color",
            "--setenv", "LANG", "en_GB.UTF-8", "--setenv", "GH_TOKEN", "ghp_" + "0123456789abcdefghijklmnopqrstuvwxyz",
            "--setenv", "CLAUDEBOX_EXTRA_ENV", "GH_TOKEN", "--", "/bin/sh", "-c", setup]


def screen_of(command):
    """What the command writes to a terminal until it asks."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    output = b""
    while b"everything) " not in output and select.select([terminal], [], [], 20)[0]:
        try:
            output += os.read(terminal, 65536)
        except OSError:
            break
    os.write(terminal, b"n\n")
    os.waitpid(pid, 0)
    return output.decode().replace("\r", "")


def line_of(text):
    """One line as SVG spans."""
    spans, style = [], ""
    for part in re.split(r"(\x1b\[[\d;]*m)", text):
        code = re.fullmatch(r"\x1b\[([\d;]*)m", part)
        if code:
            style = STYLES.get(code[1], "")
        elif part:
            spans.append(f'<tspan style="{style}">{html.escape(part)}</tspan>' if style else html.escape(part))
    return "".join(spans)


def main():
    claudebox, target = os.path.abspath(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as scratch:
        open(f"{scratch}/claudebox", "w", encoding="utf-8").close()
        text = screen_of(world(claudebox, scratch))
    lines = [f"$ {COMMAND}", *text.rstrip().split("\n")]
    width, height = round(COLUMNS * WIDTH) + 30, len(lines) * LINE + 30
    with open(target, "w", encoding="utf-8") as out:
        out.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" aria-label="The audit">\n'
                  '<rect width="100%" height="100%" rx="8" fill="#0d1117"/>\n'
                  '<g font-family="ui-monospace,DejaVu Sans Mono,monospace" font-size="13" fill="#e6edf3" xml:space="preserve">\n')
        for number, line in enumerate(lines):
            out.write(f'<text x="15" y="{27 + number * LINE}">{line_of(line)}</text>\n')
        out.write("</g>\n</svg>\n")
    subprocess.run(["grep", "-q", "Not in the box", target], check=True)


if __name__ == "__main__":
    main()
