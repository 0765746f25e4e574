#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints the Debian mirror that this machine's own apt is configured for.
#
# usage: apt-mirror.sh
set -u
mirror=$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\) .*/\2/p' \
	/etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null | head -n 1)
[ -n "$mirror" ] || {
	echo 'claudebox: cannot find a Debian mirror: apt is not configured for one on this machine' >&2
	echo 'hint: run this on Debian, or write /etc/apt/sources.list' >&2
	exit 1
}
printf '%s\n' "$mirror"
