#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints the path of a usable `claude`, installing Claude Code from the npm registry when there is none.
# With --needs, prints only the group of deps.sh that the install needs, or nothing.
#
# The install happens in a temporary directory beside the prefix and moves into place when
# `claude --version` works there, so an interrupted install leaves nothing behind.
set -u

usage='usage: claude.sh [--needs] [--version X] [--prefix DIR]'
package=@anthropic-ai/claude-code

die() {
	printf 'claudebox: %s\n' "$1" >&2
	[ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2
	exit "${3:-1}"
}

runnable() {
	[ -f "$1" ] && [ -x "$1" ]
}

# A package whose install script was skipped has an executable that only prints an error.
works() {
	runnable "$1" || return
	case $(version_of "$1") in *[0-9].[0-9]*) ;; *) return 1 ;; esac
}

version_of() {
	DISABLE_AUTOUPDATER=1 "$1" --version </dev/null 2>/dev/null
}

found() {
	[ $only_needs = yes ] || printf '%s\n' "$1"
	exit 0
}

only_needs=no
version=
prefix=${XDG_DATA_HOME:-${HOME:-}/.local/share}/claudebox/claude-code
while [ $# -gt 0 ]; do
	case $1 in
	--version | --prefix)
		[ -n "${2:-}" ] || die "'$1' needs a value" "$usage" 2
		case $1 in --version) version=$2 ;; *) prefix=$2 ;; esac
		shift
		;;
	--needs) only_needs=yes ;;
	--help) echo "$usage" && exit 0 ;;
	*) die "unknown argument '$1'" "$usage" 2 ;;
	esac
	shift
done
case $version in *[!0-9A-Za-z.+-]*) die "not a version: '$version'" "$usage" 2 ;; esac
while [ "$prefix" != "${prefix%/}" ]; do prefix=${prefix%/}; done
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
prefix=$prefix${version:+-$version}
claude=$prefix/node_modules/.bin/claude

if [ -n "$version" ]; then
	! works "$claude" || found "$claude"
elif [ -n "${CLAUDEBOX_CLAUDE:-}" ]; then
	runnable "$CLAUDEBOX_CLAUDE" ||
		die "CLAUDEBOX_CLAUDE is not an executable file: '$CLAUDEBOX_CLAUDE'"
	found "$CLAUDEBOX_CLAUDE"
else
	for candidate in "$(command -v claude)" ~/.local/bin/claude ~/.claude/local/claude "$claude"; do
		! works "$candidate" || found "$candidate"
		[ $only_needs = yes ] || [ ! -e "$candidate" ] || printf "claudebox: ignoring '%s': it does not work\n" "$candidate" >&2
	done
fi

[ $only_needs = no ] || { echo npm && exit 0; }
sh "$(dirname "$0")/deps.sh" npm >&2 || exit 1
mkdir -p "$(dirname "$prefix")" || exit 1
stage=$(mktemp -d "$prefix.XXXXXX") || exit 1
npm=
trap '[ -z "$npm" ] || { kill -KILL "$npm"; wait "$npm"; } 2>/dev/null; rm -rf "$stage"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

printf "claudebox: installing Claude Code %s from the npm registry into '%s'\n" \
	"${version:-(latest)}" "$prefix" >&2
# npm 11 skips install scripts by default and older versions run them: skip them always, and run the
# one that installs the real program below. npm runs in the background so that a signal takes effect
# at once. Without '@latest' npm prefers a version that names the installed node, which the program
# does not use. The options override the user's .npmrc.
npm install --prefix "$stage/new" --cache "$stage/cache" --ignore-scripts --include=optional \
	--global=false --bin-links --engine-strict=false --no-save --no-package-lock --no-audit --no-fund \
	--no-update-notifier --loglevel=error "$package@${version:-latest}" </dev/null >&2 &
npm=$!
wait "$npm" || die 'npm failed to install Claude Code'
npm=

script=$stage/new/node_modules/$package/install.cjs
[ ! -f "$script" ] || node "$script" >&2 || die 'the install script of Claude Code failed'
staged=$stage/new/node_modules/.bin/claude
mkdir "$stage/home" || exit 1
got=$(HOME=$stage/home version_of "$staged") || die 'the installed claude does not work' \
	"its output: $(HOME=$stage/home "$staged" --version </dev/null 2>&1 | head -n 3)"
case $got in "$version"*) ;; *) die "expected Claude Code $version, npm installed '$got'" ;; esac

# The prefix may be empty, a broken older install, a working install of a concurrent run, or not ours.
if [ -d "$prefix/node_modules/$package" ] && ! works "$claude"; then
	mv -T "$prefix" "$stage/old"
fi
mv -T "$stage/new" "$prefix" 2>/dev/null || works "$claude" ||
	die "cannot move Claude Code into '$prefix'" 'it holds other files; choose another with --prefix'
printf 'claudebox: installed Claude Code %s\n' "$got" >&2
found "$claude"
