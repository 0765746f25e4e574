#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns a file into a C array: embed.py INPUT OUTPUT NAME."""
import sys

source, target, name = sys.argv[1:]
with open(source, "rb") as file:
    data = file.read()
with open(target, "w", encoding="ascii") as out:
    out.write("#include <stddef.h>\n")
    out.write(f"extern const unsigned char {name}[];\nextern const size_t {name}_size;\n")
    out.write(f"const size_t {name}_size = {len(data)};\nconst unsigned char {name}[] = {{\n")
    for at in range(0, len(data), 16):
        out.write(",".join(str(byte) for byte in data[at : at + 16]) + ",\n")
    out.write("};\n")
