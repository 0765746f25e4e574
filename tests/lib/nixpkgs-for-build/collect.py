# SPDX-License-Identifier: MIT
"""Makes a store path of programs of this machine: collect.py LAUNCHER.c --libraries NAME... | --programs LIBRARIES NAME[=PROGRAM]...

$out is where; below $ROOT, if it is given. A program keeps its bytes; what is on PATH starts it with the loader and the libraries that were collected for all.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys


ROOT = os.environ.get("ROOT", "")
# Debian's node reads some of its own scripts there. In a copy they are where the launcher opens them: a path of the same length.
SCRIPTS, OPENED = b"/usr/share/nodejs/", b"/proc/self/fd/99//"


def where(name):
    found = shutil.which(name)
    if not found:
        sys.exit(f"{name} is not on this machine")
    return os.path.realpath(found)


def libraries(out, names):
    """The loader, and every library that one of the programs asks for."""
    place = pathlib.Path(f"{ROOT}{out}/lib")
    place.mkdir(parents=True)
    files = set()
    for name in names:
        text = subprocess.run(["ldd", where(name)], stdout=subprocess.PIPE, text=True, check=True).stdout
        files |= set(re.findall(r"(/\S+) \(0x", text))
    for file in [file for file in files if file.endswith("/libc.so.6")]:  # it consists of more, for programs that are not collected here
        files |= {f"{os.path.dirname(file)}/{name}" for name in ("libdl.so.2", "libm.so.6", "libnss_dns.so.2", "libpthread.so.0", "librt.so.1")}
    for file in files:
        content = pathlib.Path(file).read_bytes()
        for script in set(re.findall(SCRIPTS + rb"([\w./-]+\.js)\0", content)):
            copy = place / "nodejs" / os.fsdecode(script)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SCRIPTS + script, copy)
        copy = place / os.path.basename(file)
        copy.write_bytes(content.replace(SCRIPTS, OPENED))
        shutil.copymode(file, copy)


def programs(out, source, prefix, names):
    """A launcher and the program itself for each name."""
    root = pathlib.Path(f"{ROOT}{out}")
    for place in ("bin", "libexec"):
        (root / place).mkdir(parents=True)
    libs = f"{prefix}/lib"
    loader = next(pathlib.Path(f"{ROOT}{libs}").glob("ld-linux*")).name
    for entry in names:
        name, _, target = entry.partition("=")
        if target:
            (root / "bin" / name).symlink_to(target)
            continue
        launcher = root / "bin" / name
        scripts = [f'-DSCRIPTS="{libs}/nodejs"'] if name == "node" else []
        subprocess.run(["gcc", *scripts, "-O1", "-static", "-nostdlib", "-ffreestanding", "-fno-stack-protector", "-fno-pie", "-no-pie", "-fno-builtin",
                        "-fno-tree-loop-distribute-patterns", f'-DLOADER="{libs}/{loader}"', f'-DLIBRARIES="{libs}"', f'-DPREFIX="{out}"',
                        "-o", launcher, source], check=True)
        shutil.copy(where(name), root / "libexec" / name)
        if name == "bwrap":  # claudebox reads in it which options there are
            with launcher.open("ab") as file:
                file.write((root / "libexec" / name).read_bytes())


def main():
    source, kind, *names = sys.argv[1:]
    out = os.environ["out"]
    if kind == "--libraries":
        libraries(out, names)
    else:
        programs(out, source, names[0], names[1:])


if __name__ == "__main__":
    main()
