#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the width of comments and Markdown, and words that make a sentence hard to read; prints only problems.

Comments and Markdown have at most 100 columns. Tables, code, and lines that only define or hold a link are exempt. A tab
counts as 8 columns.
"""
import pathlib
import re
import subprocess
import sys

COLUMNS = 100
# The subject of a sentence has a name. The account "nobody" is one.
WORDS = re.compile(r"\b(?:[Ww]hoever|[Ww]homever|[Ss]omebody|[Pp]atience|[Ww]hat was asked for)\b|(?<!user )(?<![\w\"'`:@/])[Nn]obody(?![\w\"'`:@])")
TEXT = ("src", "tests", "tools", "doc", "completions", "packaging", ".ci", "*.md", "Makefile", "meson.build", "meson_options.txt", "flake.nix")
DATA = ("tests/golden/", "tests/fuzz/corpus/", "doc/audit.svg", "tools/prose.py")


def wide_comments(lines):
    for number, line in lines:
        if re.match(r"\s*(?://|\*)", line) and len(line.expandtabs(8)) > COLUMNS:
            yield number, f"comment of {len(line.expandtabs(8))} columns"


def wide_markdown(lines):
    code = False
    for number, line in lines:
        if line.lstrip().startswith("```"):
            code = not code
        exempt = code or line.startswith("    ") or line.lstrip().startswith("|") or re.match(r"\s*\[[^]]*\]: |\S*https?://\S*$", line)
        if not exempt and len(line) > COLUMNS:
            yield number, f"line of {len(line)} columns"


def hard_words(lines):
    for number, line in lines:
        for word in WORDS.findall(line):
            yield number, f"'{word}': name the subject"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    listed = subprocess.run(["git", "ls-files", "-z", "--", *TEXT], cwd=root, stdout=subprocess.PIPE, check=True).stdout.decode().split("\0")
    problems = 0
    for name in filter(None, listed):
        path = root / name
        if name.startswith(DATA) or not path.is_file():
            continue
        try:
            lines = list(enumerate(path.read_text(encoding="utf-8").splitlines(), 1))
        except UnicodeDecodeError:
            continue
        found = list(hard_words(lines))
        if path.suffix in (".c", ".h", ".def"):
            found += wide_comments(lines)
        if path.suffix == ".md":
            found += wide_markdown(lines)
        for number, problem in found:
            print(f"{name}:{number}: {problem}")
        problems += len(found)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
