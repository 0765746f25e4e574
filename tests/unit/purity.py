#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks which functions the pure libraries call and which headers they include.

Prints TAP. SOURCE and BUILD are the source and the build directory.
"""
import fnmatch
import os
import pathlib
import re
import subprocess
import sys

# Pure libraries and the directory of each. A library may use its own symbols and those of the
# libraries before it.
LAYERS = {"base": "base", "config": "config", "plan": "plan", "render": "render"}
# The pure parts of acting directories, by source file. Each may use the layers above, and itself.
PARTS = {
    "network_pure": ("network", ("dns", "refusals")),
    "terminal_pure": ("terminal", ("filter", "modes", "payload", "reset", "rules")),
    "prove_pure": ("prove", ("attacks", "canaries", "protocol", "render", "verdicts")),
}

# Allowed symbols of other libraries, grouped by the reason why they have no side effect.
ALLOWED = {
    "memory": "calloc malloc free abort",
    "bytes and strings": "memcmp memchr memcpy memmove memset strchr strcmp strcspn strlen strncmp strpbrk strrchr "
                         "strspn strstr strcasestr strcasecmp strncasecmp memmem memrchr strnlen",
    "letters, by table": "toupper tolower __ctype_b_loc __ctype_toupper_loc __ctype_tolower_loc",
    "text into memory": "vsnprintf snprintf",
    "checked forms that the compiler inserts": "__memcpy_chk __memmove_chk __memset_chk __vsnprintf_chk "
                                                   "__snprintf_chk __stack_chk_fail __stack_chk_guard",
    "atomic counters that gcc calls on ARM": "__aarch64_ldadd*",
    "addresses as text": "inet_pton inet_ntop",
    "digests of memory": "SHA256Data SHA1Init SHA1Update SHA1End",
    "JSON values in memory": "json_array* json_object* json_string* json_integer* json_true json_false json_null json_real* "
                             "json_pack json_equal json_deep_copy json_copy json_delete json_boolean_value",
    "JSON text in memory": "json_loads json_loadb json_dumpb",
    "sanitizers and coverage": "__asan_* __ubsan_* __lsan_* __sanitizer_* __gcov_* __tsan_*",
    "defined by the linker": "_GLOBAL_OFFSET_TABLE_",
}

# Headers of the C library that a pure file does not need.
ACTING_HEADERS = ("unistd.h", "fcntl.h", "dirent.h", "stdlib.h", "time.h", "errno.h", "signal.h", "spawn.h", "poll.h",
                  "pwd.h", "sys/stat.h", "sys/wait.h", "sys/mman.h", "sys/file.h", "sys/time.h", "sys/socket.h")
HEADER_EXCEPTIONS = {
    ("base/arena.c", "stdlib.h"): "calloc, malloc, free, abort",
}
# Tables without code, which the programs in the box and the build share.
TABLES = ("gitwrap/places.h", "prove/attacks.def", "seccomp/programs.h")

count = failures = 0


def check(ok, what):
    global count, failures
    count += 1
    failures += not ok
    print(f"{'ok' if ok else 'not ok'} {count} - {what}")


def symbols(library):
    """Returns the defined and the undefined symbols of a library."""
    listing = subprocess.run(["nm", "--format=posix", library], stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = [line.split() for line in listing.splitlines() if not line.endswith(":")]
    rows = [(row[0], row[1]) for row in rows if len(row) >= 2]
    return ({name for name, kind in rows if kind.isupper() and kind != "U"},
            {name for name, kind in rows if kind in "Uwv"})


def allowed(symbol):
    name = symbol.split("@")[0]
    return any(fnmatch.fnmatchcase(name, pattern) for group in ALLOWED.values() for pattern in group.split())


def libraries():
    """Yields name, directory, file names (None: all) and allowed include directories of each library."""
    above = []
    for name, directory in LAYERS.items():
        above.append(directory)
        yield name, directory, None, tuple(above)
    for name, (directory, files) in PARTS.items():
        yield name, directory, files, tuple(above)


def archive(build, name, directory):
    return build / "src" / directory / f"lib{name}.a"


def sources(source, directory, files, suffix):
    """Returns the source files of a library, including those in subdirectories."""
    found = sorted((source / directory).rglob(f"*{suffix}"))
    return [file for file in found if files is None or file.parent == source / directory and file.stem in files]


def check_symbols(build):
    layers = set()
    used = set()
    for name, directory, files, _ in libraries():
        defined, undefined = symbols(archive(build, name, directory))
        known = layers | defined
        if files is None:
            layers = known
        foreign = sorted(undefined - known)
        used |= set(foreign)
        check(defined and undefined, f"lib{name}.a can be read")
        for symbol in foreign:
            check(allowed(symbol), f"lib{name}.a uses {symbol}")
    # The check itself works: these symbols are not allowed.
    for symbol in ("open", "getenv", "time", "fork", "json_load_file", "json_dump_file", "printf", "read", "json_dumpf"):
        check(not allowed(symbol), f"{symbol} is not allowed")
    check(any(symbol.startswith("json_") for symbol in used), "calls into other libraries are found")


def check_includes(source):
    for name, directory, files, above in libraries():
        found = sources(source, directory, files, ".c") + sources(source, directory, files, ".h")
        check(found, f"lib{name}.a has files")
        own = tuple(f"{directory}/{stem}.h" for stem in files or ())
        for file in found:
            path = str(file.relative_to(source))
            text = file.read_text()
            for header in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.M):
                check(header in TABLES or header in own or header.split("/")[0] in above, f"src/{path} includes \"{header}\"")
            for header in re.findall(r"^\s*#\s*include\s*<([^>]+)>", text, re.M):
                if header in ACTING_HEADERS:
                    check((path, header) in HEADER_EXCEPTIONS, f"src/{path} includes <{header}>")


def check_listed(source, build):
    """Each source file is in its library, so its symbols have been checked."""
    for name, directory, files, _ in libraries():
        members = subprocess.run(["nm", "--format=posix", archive(build, name, directory)], stdout=subprocess.PIPE, text=True, check=True).stdout
        for file in sources(source, directory, files, ".c"):
            object_name = str(file.relative_to(source / directory)).replace("/", "_") + ".o"
            check(f"/{object_name}]" in members, f"src/{file.relative_to(source)} is in lib{name}.a")


def main():
    build = pathlib.Path(os.environ["BUILD"])
    source = pathlib.Path(os.environ["SOURCE"]) / "src"
    check_symbols(build)
    check_includes(source)
    check_listed(source, build)
    print(f"1..{count}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
