#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Purity is tested, not promised: what the pure libraries call and include. Speaks TAP; SOURCE and BUILD say where."""
import fnmatch
import os
import pathlib
import re
import subprocess
import sys

# Each library may use what is defined in itself and in those before it.
LAYERS = ("base", "config", "plan")

# Symbols of other libraries, by the reason why they touch nothing. '*' stands for any ending.
ALLOWED = {
    "memory": "calloc free abort",
    "bytes and strings": "memcmp memchr memcpy memmove memset strchr strcmp strcspn strlen strncmp strpbrk strrchr "
                         "strspn strstr strcasestr",
    "letters, by table": "toupper tolower __ctype_b_loc __ctype_toupper_loc __ctype_tolower_loc",
    "text into memory": "vsnprintf snprintf",
    "the checked forms that the compiler puts in": "__memcpy_chk __memmove_chk __memset_chk __vsnprintf_chk "
                                                   "__snprintf_chk __stack_chk_fail __stack_chk_guard",
    "atomic counters that gcc calls on ARM": "__aarch64_ldadd*",
    "addresses as text": "inet_pton inet_ntop",
    "SHA-256 of memory": "SHA256Data",
    "JSON values in memory": "json_array* json_object* json_string* json_integer* json_true json_false json_null json_real* "
                             "json_pack json_equal json_deep_copy json_copy json_delete json_boolean_value",
    "JSON text in memory": "json_loads json_loadb json_dumpb",
    "sanitizers and coverage": "__asan_* __ubsan_* __lsan_* __sanitizer_* __gcov_* __tsan_*",
    "made by the linker": "_GLOBAL_OFFSET_TABLE_",
}

# Headers of the C library that a pure file has no use for.
ACTING_HEADERS = ("unistd.h", "fcntl.h", "dirent.h", "stdlib.h", "time.h", "errno.h", "signal.h", "spawn.h", "poll.h",
                  "pwd.h", "sys/stat.h", "sys/wait.h", "sys/mman.h", "sys/file.h", "sys/time.h", "sys/socket.h")
HEADER_EXCEPTIONS = {
    ("base/arena.c", "stdlib.h"): "calloc, free, abort",
}
# For code that acts; it lies in base because host and run share it.
ACTING_FILES = ("base/cleanup.h",)
# Tables without code, which the program in the box shares.
TABLES = ("prove/attacks.def", "prove/classes.def")

count = failures = 0


def check(ok, what):
    global count, failures
    count += 1
    failures += not ok
    print(f"{'ok' if ok else 'not ok'} {count} - {what}")


def symbols(library):
    """(defined, undefined) of a library."""
    listing = subprocess.run(["nm", "--format=posix", library], stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = [line.split() for line in listing.splitlines() if not line.endswith(":")]
    rows = [(row[0], row[1]) for row in rows if len(row) >= 2]
    return ({name for name, kind in rows if kind.isupper() and kind != "U"},
            {name for name, kind in rows if kind in "Uwv"})


def allowed(symbol):
    name = symbol.split("@")[0]
    return any(fnmatch.fnmatchcase(name, pattern) for group in ALLOWED.values() for pattern in group.split())


def check_symbols(build):
    known = set()
    used = set()
    for layer in LAYERS:
        defined, undefined = symbols(build / f"lib{layer}.a")
        known |= defined
        foreign = sorted(undefined - known)
        used |= set(foreign)
        check(defined and undefined, f"lib{layer}.a can be read")
        for symbol in foreign:
            check(allowed(symbol), f"lib{layer}.a uses {symbol}")
    # A test that cannot fail is none: these must be known as impure.
    for symbol in ("open", "getenv", "time", "fork", "json_load_file", "json_dump_file", "printf", "read", "json_dumpf"):
        check(not allowed(symbol), f"{symbol} is not allowed")
    check(any(symbol.startswith("json_") for symbol in used), "calls into other libraries are seen")


def check_includes(source):
    for place, layer in enumerate(LAYERS):
        files = sorted((source / layer).glob("*.[ch]"))
        check(files, f"src/{layer} has files")
        for file in files:
            name = f"{layer}/{file.name}"
            if name in ACTING_FILES:
                continue
            text = file.read_text()
            for header in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.M):
                check(header in TABLES or header.split("/")[0] in LAYERS[:place + 1] and header not in ACTING_FILES,
                      f"src/{name} includes \"{header}\"")
            for header in re.findall(r"^\s*#\s*include\s*<([^>]+)>", text, re.M):
                if header in ACTING_HEADERS:
                    check((name, header) in HEADER_EXCEPTIONS, f"src/{name} includes <{header}>")


def check_listed(source, build):
    """A file that no library holds would escape the look at its symbols."""
    for layer in LAYERS:
        members = subprocess.run(["nm", "--format=posix", build / f"lib{layer}.a"], stdout=subprocess.PIPE, text=True,
                                 check=True).stdout
        for file in sorted((source / layer).glob("*.c")):
            check(f"src_{layer}_{file.name}.o" in members, f"src/{layer}/{file.name} is in lib{layer}.a")


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
