#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks the format of the C files, all C and shell code with static analysers, and the prose; prints only problems.
#
# usage: lint.sh BUILD_DIRECTORY (with its compile_commands.json)
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
[ -f "$build/compile_commands.json" ] || {
	echo "claudebox: no '$build/compile_commands.json': run make first" >&2
	exit 1
}
jobs=$(nproc)
status=0

c_files() {
	find "$@" -name '*.[ch]' -print0
}

c_files src tests | xargs -0 -r -n 16 -P "$jobs" clang-format --dry-run -Werror || status=1

# One process per file; its output is shown only on failure, because clang-tidy also reports suppressed warnings.
# shellcheck disable=SC2016 # for the inner shell
find src -name '*.c' -print0 | xargs -0 -r -n 1 -P "$jobs" sh -c '
	out=$(clang-tidy --quiet -p "$1" --warnings-as-errors="*" \
		--extra-arg=-Wno-unknown-warning-option "$2" 2>&1) && exit 0
	printf "%s\n" "$out" | grep -v "^[0-9]* warnings\{0,1\} .*generated\|^Suppressed "
	exit 1' tidy "$build" || status=1

# cppcheck reads no system headers: the loop macros of jansson are defined here.
c_files src tests | xargs -0 -r cppcheck --quiet -D'json_array_foreach(a,i,v)=for (i = 0; (v = json_array_get(a, i)); i++)' \
	-D'json_object_foreach(o,k,v)=for (k = ""; (v = json_object_get(o, k));)' \
	-D'json_object_foreach_safe(o,n,k,v)=for (k = "", n = NULL; (v = json_object_get(o, k));)' \
	-j "$jobs" --std=c11 --language=c -I src -D__x86_64__ \
	--enable=warning,performance,portability --inline-suppr --error-exitcode=1 || status=1

find . \( -name .git -o -name 'build*' \) -type d -prune -o -name '*.sh' -print0 |
	xargs -0 -r shellcheck .ci/run tools/try packaging/debian/claudebox.post* completions/claudebox.bash || status=1

tools/prose.py || status=1

[ $status -eq 0 ] || exit 1
echo 'lint: clean'
