#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the missing packages of one or more groups of the table below.
#
# When nothing is missing it prints nothing and uses neither the network nor the package manager.
set -u

# nft lies there, and an ordinary user's PATH need not have it.
PATH=$PATH:/usr/sbin:/sbin

# The column 'check' gives how a dependency is recognised: cmd:NAME on PATH, file:PATH, pc:MODULE of pkg-config, hdr:HEADER of
# C, link:FLAG a program links with -fsanitize=FLAG, clang:FLAG a fuzz target links with clang, ca:bundle the TLS root
# certificates. '-': no package, and not needed. NAME@MACHINE: on that machine (uname -m) only. For dnf a file may stand for a
# package whose name differs between releases.
table='
# groups     check                    apt              dnf                 pacman
build        cmd:cc                   gcc              gcc                 gcc
build        hdr:stdio.h              libc6-dev        glibc-devel         glibc
build        cmd:make                 make             make                make
build        cmd:meson                meson            meson               meson
build        cmd:ninja                ninja-build      ninja-build         ninja
build        cmd:pkg-config           pkg-config       pkgconf-pkg-config  pkgconf
build        pc:jansson               libjansson-dev   jansson-devel       jansson
build        pc:libmd                 libmd-dev        libmd-devel         libmd
build        pc:libseccomp            libseccomp-dev   libseccomp-devel    libseccomp
build,test   file:/usr/bin/python3    python3          python3             python
install,test cmd:scdoc                scdoc            scdoc               scdoc
run          cmd:bwrap                bubblewrap       bubblewrap          bubblewrap
run,fresh    cmd:git                  git              git-core            git
run          cmd:bash                 bash             bash                bash
run,npm      ca:bundle                ca-certificates  ca-certificates     ca-certificates
run,test     cmd:pasta                passt            passt               passt
run,test     cmd:nft                  nftables         nftables            nftables
bench        cmd:slirp4netns          slirp4netns      slirp4netns         slirp4netns
test         cmd:tmux                 tmux             tmux                tmux
test         cmd:screen               screen           screen              screen
test,peers   cmd:ip                   iproute2         iproute             iproute2
test,peers,fresh cmd:unshare          util-linux       util-linux          util-linux
test         cmd:newuidmap            uidmap           shadow-utils        shadow
test         cmd:ps                   procps           procps-ng           procps-ng
test         cmd:strace               strace           strace              strace
test         cmd:gdb                  gdb              gdb                 gdb
test         cmd:perl                 perl             perl                perl
test         cmd:zsh                  zsh              zsh                 zsh
test         cmd:fish                 fish             fish                fish
test         cmd:git-lfs              git-lfs          git-lfs             git-lfs
test         cmd:openssl              openssl          openssl             openssl
test,peers   cmd:socat                socat            socat               socat
test         cmd:linux.uml            user-mode-linux@x86_64 -             -
test         cmd:systemd-run          systemd          systemd             systemd
test         cmd:curl                 curl             curl                curl
test         cmd:jq                   jq               jq                  jq
test         cmd:nix-daemon           nix-bin          /usr/bin/nix-daemon nix
test,npm     cmd:node                 nodejs           /usr/bin/node       nodejs
test,npm     cmd:npm                  npm              /usr/bin/npm        npm
test         file:/usr/bin/cargo      cargo            cargo               rust
test         file:/usr/bin/go         golang-go        golang              go
test         file:/usr/bin/javac      default-jdk-headless java-latest-openjdk-devel jdk-openjdk
test         file:/usr/bin/mvn        maven            maven               maven
test         file:/usr/bin/pip3       python3-pip      python3-pip         python-pip
test         cmd:rbenv                rbenv            -                   rbenv
test         cmd:pipx                 pipx             pipx                python-pipx
peers        cmd:rg                   ripgrep          ripgrep             ripgrep
peers        cmd:firejail             firejail         firejail            firejail
programs     cmd:chromium             chromium         -                   chromium
programs     cmd:podman               podman           podman              podman
programs     cmd:crun                 crun             crun                crun
lint         cmd:clang-format         clang-format     clang-tools-extra   clang
lint         cmd:clang-tidy           clang-tidy       clang-tools-extra   clang
lint         cmd:cppcheck             cppcheck         cppcheck            cppcheck
lint         cmd:shellcheck           shellcheck       ShellCheck          shellcheck
lint         cmd:xargs                findutils        findutils           findutils
sanitize     link:address             gcc              libasan             libasan
sanitize     link:undefined           gcc              libubsan            libubsan
fuzz         cmd:clang                clang            clang               clang
fuzz         clang:fuzzer             libclang-rt-dev  compiler-rt         compiler-rt
package      cmd:dh                   debhelper        -                   -
package      file:/usr/share/build-essential/list build-essential  -       -
fresh        cmd:lintian              lintian          -                   -
fresh        cmd:debootstrap          debootstrap      debootstrap         debootstrap
arm          cmd:qemu-system-aarch64  qemu-system-arm  -                   -
arm          cmd:aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu -             -
arm          cmd:mmdebstrap           mmdebstrap       -                   -
arm          cmd:modprobe             kmod             -                   -
arm          cmd:cpio                 cpio             -                   -
arm          cmd:mke2fs               e2fsprogs        -                   -
arm          cmd:npm                  npm              -                   -
'

usage='usage: deps.sh [--dry-run [--manager apt|dnf|pacman] [--all]] GROUP...'

die() {
	printf 'claudebox: %s\n' "$1" >&2
	[ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2
	exit 1
}

misuse() {
	printf 'claudebox: %s\n%s\n' "$1" "$usage" >&2
	exit 2
}

has_link() {
	scratch=$(mktemp -d) || return 1
	echo "int $3(void); int $3(void) { return 0; }" |
		"$2" "-fsanitize=$1" -x c - -o "$scratch/a" 2>/dev/null
	set -- $?
	rm -rf "$scratch"
	return "$1"
}

has() {
	what=${1#*:}
	case $1 in
	cmd:*) command -v "$what" >/dev/null ;;
	pc:*) pkg-config --exists "$what" 2>/dev/null ;;
	hdr:*) [ -e "/usr/include/$what" ] || echo "#include <$what>" | cc -E -x c - >/dev/null 2>&1 ;;
	file:*) [ -e "$what" ] ;;
	ca:*) [ -e /etc/ssl/certs/ca-certificates.crt ] || [ -e /etc/pki/tls/certs/ca-bundle.crt ] ;;
	link:*) has_link "$what" cc main ;;
	clang:*) has_link "$what" clang LLVMFuzzerTestOneInput ;;
	esac
}

describe() {
	case $1 in
	cmd:*) echo "the command '${1#*:}'" ;;
	pc:*) echo "the pkg-config module '${1#*:}'" ;;
	hdr:*) echo "the header <${1#*:}>" ;;
	file:*) echo "the file '${1#*:}'" ;;
	ca:*) echo 'the TLS root certificates' ;;
	link:* | clang:*) echo "the library for -fsanitize=${1#*:}" ;;
	esac
}

# Sets `packages` (names for $manager) and `missing` (one line per dependency) for the requested groups.
find_missing() {
	machine=$(uname -m)
	packages=
	missing=
	while read -r in_groups check apt dnf pacman; do
		case $in_groups in '' | '#'*) continue ;; esac
		wanted=no
		for group in $groups; do
			case ",$in_groups," in *",$group,"*) wanted=yes ;; esac
		done
		[ $wanted = yes ] || continue
		[ "$1" = all ] || ! has "$check" || continue
		case $manager in dnf) name=$dnf ;; apt) name=$apt ;; *) name=$pacman ;; esac
		case $name in
		*"@$machine") name=${name%@*} ;;
		*@*) name=- ;;
		esac
		[ "$name" != - ] || continue
		case " $packages " in *" $name "*) ;; *) packages="$packages${packages:+ }$name" ;; esac
		missing="$missing
  $name: $(describe "$check")"
	done <<-EOT
		$table
	EOT
}

# By the name of the distribution: apt-get can be installed on any of them.
find_manager() {
	ID='' ID_LIKE=''
	# shellcheck source=/dev/null
	[ ! -r /etc/os-release ] || . /etc/os-release
	for name in $ID $ID_LIKE; do
		case $name in
		debian | ubuntu) manager=apt && return ;;
		fedora | rhel | centos) manager=dnf && return ;;
		arch) manager=pacman && return ;;
		esac
	done
}

act() {
	if [ $dry_run = yes ]; then
		printf '%s\n' "$*"
	else
		"$@" </dev/null >&2
	fi
}

install_with() {
	as_root=$1
	shift
	# shellcheck disable=SC2086 # either empty or one word
	case $manager in
	apt)
		# An unreachable source (exit status 100) matters only when the install then fails.
		act $as_root apt-get -q update || [ $? -eq 100 ] || return
		act $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
			install --no-install-recommends "$@"
		;;
	dnf) act $as_root dnf -q -y --setopt=install_weak_deps=False install "$@" ;;
	pacman)
		# Arch does not support new lists without an upgrade; only a new system has no lists.
		refresh=
		ls /var/lib/pacman/sync/*.db >/dev/null 2>&1 || refresh=y
		act $as_root pacman "-S$refresh" --needed --noconfirm "$@"
		;;
	esac
}

dry_run=no
state=missing
manager=
groups=
known=$(printf '%s' "$table" | sed -n 's/^\([a-z,]*\) .*/\1/p' | tr ',' '\n' | sort -u | paste -s -d ' ' -)

while [ $# -gt 0 ]; do
	case $1 in
	--dry-run) dry_run=yes ;;
	--all) state=all ;;
	--manager)
		[ $# -gt 1 ] || misuse "'--manager' needs a value"
		manager=$2
		shift
		case $manager in apt | dnf | pacman) ;; *) misuse "unknown manager '$manager'" ;; esac
		;;
	--help)
		printf '%s\ngroups: %s\n' "$usage" "$known"
		exit 0
		;;
	-*) misuse "unknown option '$1'" ;;
	*)
		case " $known " in *" $1 "*) groups="$groups $1" ;; *) misuse "unknown group '$1' (there are: $known)" ;; esac
		;;
	esac
	shift
done
[ -n "$groups" ] || misuse "no group given (there are: $known)"
[ $dry_run = yes ] || [ "$state$manager" = missing ] || misuse "'--all' and '--manager' go with '--dry-run'"

[ -n "$manager" ] || find_manager
find_missing $state
[ -n "$packages" ] || exit 0

[ -n "$manager" ] ||
	die 'cannot install the missing packages: this is not Debian, Ubuntu, Fedora or Arch' \
		"install these by hand (names as on Arch):$missing"

# Prints what is missing and the commands for root, and exits.
print_for_root() {
	printf 'claudebox: %s\nhint: as root, install these:%s\nhint: that is:\n' "$1" "$missing" >&2
	dry_run=yes
	# shellcheck disable=SC2086 # a list of words
	install_with '' $packages >&2
	exit 1
}

as_root=
through=
if [ "$(id -u)" -ne 0 ]; then
	[ $dry_run = yes ] || command -v sudo >/dev/null || print_for_root 'cannot install the missing packages: not root, and there is no sudo'
	as_root=sudo
	through=' through sudo'
fi

if [ $dry_run = yes ]; then
	echo "claudebox: would install with $manager$through: $packages"
else
	echo "claudebox: installing with $manager$through: $packages" >&2
fi
# shellcheck disable=SC2086 # a list of words
if ! install_with "$as_root" $packages; then
	[ -z "$as_root" ] || print_for_root "$manager failed through sudo"
	die "$manager failed to install: $packages"
fi
[ $dry_run = no ] || exit 0

find_missing missing
[ -z "$packages" ] || die "still missing after the install:$missing"
