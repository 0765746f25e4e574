#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs every fuzz target of a build directory. The targets share the time; an input that makes one
# fail is kept in the build directory.
#
# usage: run.sh BUILD_DIRECTORY SECONDS
set -u
here=$(dirname "$0")
build=$1
status=0
targets=$(find "$build/tests" -maxdepth 1 -type f -name 'fuzz_*' | wc -l)
seconds=$(($2 / (targets ? targets : 1)))
[ "$seconds" -gt 0 ] || seconds=1

for program in "$build"/tests/fuzz_*; do
	[ -f "$program" ] || continue
	name=${program##*/fuzz_}
	# libFuzzer writes new inputs to the first directory only; the corpus of the sources stays as it is.
	mkdir -p "$build/corpus/$name" || exit 1
	log=$build/fuzz_$name.log
	result='nothing found'
	UBSAN_OPTIONS=halt_on_error=1 "$program" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=2048 -max_len=8192 \
		-dict="$here/$name.dict" -artifact_prefix="$build/found-$name-" \
		"$build/corpus/$name" "$here/corpus/$name" >"$log" 2>&1 || {
		status=1
		result="FOUND: $build/found-$name-*"
		tail -n 40 "$log"
	}
	runs=$(sed -n 's/^Done \([0-9]*\) runs in.*/\1/p' "$log")
	echo "fuzz: $name: ${runs:-?} runs in $seconds s, $result"
done
exit $status
