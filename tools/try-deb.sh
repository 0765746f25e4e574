#!/bin/bash
# SPDX-License-Identifier: MIT
# Installs a .deb into a fresh Debian 12 and starts a box there as an ordinary user, with README's commands.
#
# usage: try-deb.sh PACKAGE.deb (as root)
#
# The new system is entered by pivot_root, as bwrap does, and not by chroot: a process in a chroot may not make user
# namespaces. It uses this machine's package sources and certificates, and is removed at the end.
set -euo pipefail
[ -f "${1:-}" ] || {
	echo 'usage: try-deb.sh PACKAGE.deb' >&2
	exit 2
}
[ "$(id -u)" -eq 0 ] || {
	echo 'claudebox: a fresh system can be made only by root' >&2
	exit 1
}

work=$(mktemp -d /var/tmp/claudebox-try-deb.XXXXXX)
trap 'rm -rf --one-file-system "$work"' EXIT
root=$work/root
mirror=$(sed -n 's/^URIs: *//p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\) .*/\2/p' \
	/etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null | head -n 1 || :)

say() {
	printf '== %s\n' "$*"
}

# Runs a command in the new system, as root or, with -u, as its user.
inside() {
	local as=(env HOME=/root)
	if [ "$1" = -u ]; then
		as=(setpriv --reuid 1000 --regid 1000 --clear-groups env HOME=/home/user USER=user)
		shift
	fi
	env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
		bwrap --bind "$root" / --dev-bind /dev /dev --bind /proc /proc --perms 1777 --tmpfs /tmp --tmpfs /run \
		--ro-bind /etc/resolv.conf /etc/resolv.conf --share-net --cap-add ALL --die-with-parent --chdir / \
		-- "${as[@]}" "$@"
}

say 'a fresh Debian 12'
debootstrap --variant=minbase --include=ca-certificates bookworm "$root" "${mirror:-http://deb.debian.org/debian}" >"$work/log" 2>&1 || {
	tail -n 20 "$work/log" >&2
	exit 1
}
cp -R /etc/apt/sources.list.d/. "$root/etc/apt/sources.list.d/"
cp -R /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
cp "$1" "$root/claudebox.deb"

say 'apt install'
inside sh -c 'apt-get -q update && apt-get -q -y install ./claudebox.deb' >"$work/log" 2>&1 || {
	tail -n 20 "$work/log" >&2
	exit 1
}
inside dpkg -s claudebox | sed -n 's/^\(Status\|Version\|Depends\):/  &/p'

say 'an ordinary user starts a box'
inside useradd -m -s /bin/bash user
# shellcheck disable=SC2016 # for the inner shell
inside -u sh -euc '
	cd && mkdir project && cd project && git init -q
	printf "#!/bin/sh\necho \"claude in \$PWD: \$*\"\n" >~/claude && chmod +x ~/claude
	export CLAUDEBOX_CLAUDE=$HOME/claude
	claudebox --version
	claudebox --check
	claudebox --yes -p hello 2>/dev/null
	echo secret >~/.ssh-key
	claudebox --yes --exec sh -c "echo made in the box >made; test ! -e ~/.ssh-key; id" 2>/dev/null
	cat made
	claudebox --yes --network none --exec true 2>/dev/null
	for file in $(dpkg -L claudebox | grep /share/man/.*gz); do gzip -t "$file"; echo "$file"; done
'

say 'apt purge'
inside apt-get -q -y purge claudebox >"$work/log" 2>&1
left=$(inside sh -c 'find / -xdev -name "*claudebox*" -not -path "/proc/*" -not -path "/home/*" -not -path "/var/log/*" -not -path /claudebox.deb')
[ -z "$left" ] || {
	printf 'claudebox: left behind:\n%s\n' "$left" >&2
	exit 1
}
say 'the package works'
