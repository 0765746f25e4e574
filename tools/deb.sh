#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the Debian package from a clean copy of the tree, below build-deb; prints its path.
#
# packaging/debian becomes debian/ in that copy. The changelog is generated, because meson.build alone has the version.
set -eu
cd "$(dirname "$0")/.."
place=$PWD/build-deb

version=$(sed -n "s/^  version: '\(.*\)',\$/\1/p" meson.build)
seconds=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
tree=$place/claudebox-$version

rm -rf "$place"
mkdir -p "$tree"
tar -c --exclude='./build*' --exclude=./.git --exclude=./result --exclude='./result-*' --exclude=__pycache__ . | tar -x -C "$tree"
cp -R packaging/debian "$tree/debian"
cat >"$tree/debian/changelog" <<EOT
claudebox ($version-1) unstable; urgency=medium

  * Version $version: see changelog.gz.

 -- $(sed -n 's/^Maintainer: //p' packaging/debian/control)  $(LC_ALL=C date -u -R -d "@$seconds")
EOT

if ! (cd "$tree" && dpkg-buildpackage --build=binary --unsigned-changes --no-pre-clean) >"$place/log" 2>&1; then
	cat "$place/log" >&2
	exit 1
fi
find "$place" -maxdepth 1 -name "claudebox_*.deb"
