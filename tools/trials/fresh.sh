#!/bin/sh
# SPDX-License-Identifier: MIT
# Creates a fresh Debian 12 and runs the commands of README there as an ordinary user.
#
# usage: fresh.sh PART... (as root), where a PART is
#   deb      installs, uses and purges the package in build-deb, on a minimal system
#   readme   runs and installs this commit in every documented way, from a clone, on a system with git and make
#   test     runs all tests in that clone
#
# The new system is entered by pivot_root, because the kernel refuses user namespaces in a chroot, and in namespaces of its own,
# so that no mount and no process can be left behind. It has this machine's network, package mirror and certificates, and is
# removed at the end.
# shellcheck disable=SC2016,SC2088 # many strings are scripts for the new system
set -eu
cd "$(dirname "$0")/../.."

child=
api=
answer=
usual=claudebox # the user's directory where commands run
place=$usual
begun=$(date +%s)

die() {
	printf 'claudebox: %s\n' "$1" >&2
	exit "${2:-1}"
}

# Kills the first process of the namespaces; unshare then ends when all processes there have ended.
clean_up() {
	first=
	if [ -n "$child" ]; then
		read -r first 2>/dev/null <"/proc/$child/task/$child/children" || :
		[ -z "$first" ] || kill -KILL "${first%% *}" 2>/dev/null || :
		wait "$child" || :
	fi
	rm -rf --one-file-system "$work"
}

# Runs a command in namespaces of its own, in the background, so that a signal takes effect at once.
apart() {
	status=0
	env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TERM=xterm DEBIAN_FRONTEND=noninteractive \
		unshare --mount --propagation private --pid --fork --kill-child --ipc --uts --cgroup "$@" </dev/null &
	child=$!
	wait "$child" || status=$?
	child=
	return "$status"
}

# Mounts the file systems of a running system and makes the directory the root. The shell stays to reap orphans.
enter='
	set -eu
	mount --bind "$1" "$1"
	mount -o remount,bind,suid,dev,exec "$1"
	cd "$1"
	shift
	mount -t proc proc proc
	mount -t sysfs sysfs sys
	mount -t cgroup2 cgroup2 sys/fs/cgroup
	mount -t devpts -o newinstance,gid=5,mode=620,ptmxmode=666 devpts dev/pts
	mount -t tmpfs -o mode=755 tmpfs run
	mount -t tmpfs -o mode=1777 tmpfs dev/shm
	mount -t tmpfs -o mode=1777 tmpfs tmp
	hostname fresh
	pivot_root . .
	umount -l .
	cd /
	"$@"
'

inside() {
	apart sh -c "$enter" sh "$root" "$@"
}

install_inside() {
	inside sh -c 'apt-get -q update && apt-get -q -y install --no-install-recommends "$@"' sh "$@"
}

quoted() {
	printf "'"
	printf %s "$1" | sed "s/'/'\\\\''/g"
	printf "'"
}

# Runs a line in a login shell. With $api, a stand-in serves Claude's API; with $answer, it runs on a terminal and gets that
# input.
as_user() {
	line=$1
	[ -z "$api" ] || line="python3 tests/lib/standin.py $line"
	[ -z "$answer" ] || line="echo $answer | script -qefc $(quoted "$line") /dev/null"
	inside runuser -l user -c "cd $place && $line"
}

# in_place DIRECTORY COMMAND...: runs the command there. typing ANSWER COMMAND...: runs it with that input.
in_place() {
	place=$1
	shift
	"$@"
	place=$usual
}

typing() {
	answer=$1
	shift
	"$@"
	answer=
}

fails() {
	! "$@"
}

show_log() {
	tail -n 60 "$log" >&2
}

# timed WORDS COMMAND...: runs a command that must succeed; its output is in $log.
timed() {
	words=$1
	start=$(date +%s)
	shift
	"$@" >"$log" 2>&1 || {
		show_log
		die "failed: $words"
	}
	took=$(($(date +%s) - start))
	printf '%4d s  %s\n' "$took" "$words"
}

prints() {
	for text in "$@"; do
		grep -q -e "$text" "$log" || {
			show_log
			die "missing in the output: $text"
		}
	done
}

# works COMMAND [TEXT...]: runs a command as the user; it must succeed and print each text.
works() {
	told=$1
	shift
	timed "$told" as_user "$told"
	prints "$@"
}

# refuses COMMAND [TEXT...]: the same for a command that must fail.
refuses() {
	told=$1
	shift
	timed "$told (is refused)" fails as_user "$told"
	prints "$@"
}

make_system() {
	mirror=$(tools/apt-mirror.sh)
	timed 'a fresh Debian 12: the smallest one, with git and make' \
		apart debootstrap --variant=minbase --include=git,make bookworm "$root" "$mirror"
	mkdir "$root/dev/net"
	mknod -m 666 "$root/dev/net/tun" c 10 200
	cp -L /etc/resolv.conf "$root/etc/"
	[ ! -d /usr/local/share/ca-certificates ] || cp -R /usr/local/share/ca-certificates "$root/usr/local/share/"
	! command -v apt-config >/dev/null ||
		apt-config dump --no-empty --format '%F "%v";%n' Acquire::http Acquire::https >"$root/etc/apt/apt.conf.d/machine"
	echo '127.0.0.1 localhost fresh' >"$root/etc/hosts"
	inside useradd --create-home --shell /bin/bash user
}

# Without a password: no terminal can ask for one.
add_sudo() {
	[ -e "$root/usr/bin/sudo" ] || timed 'sudo' install_inside sudo
	echo 'user ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/user"
}

clone() {
	[ ! -d "$root/home/user/claudebox" ] || return 0
	[ -z "$(git -c safe.directory="$PWD" status --porcelain)" ] || echo '  note: uncommitted changes are not tried'
	git -c safe.directory="$PWD" bundle create -q "$root/claudebox.bundle" HEAD
	in_place . works 'git clone -q /claudebox.bundle claudebox'
}

# use_it [COMMAND-FOR-ZSH [COMMAND-FOR-FISH]]: uses an installed claudebox; the commands set up these shells.
use_it() {
	place=my-project
	works 'claudebox --check' 'claudebox can start here'
	works 'claudebox --check --network inet' '^ok  *inet '
	works 'claudebox --prove' ' blocked, 0 leaked'
	typing y works 'claudebox --exec sh -c "echo made in the box >made"' 'Start?'
	works 'cat made' '^made in the box'
	typing n refuses 'claudebox' 'Start?' 'not started'
	works 'claudebox --dry-run --exec cat made | sh' '^made in the box'
	works 'install -d -m 700 ~/.claudebox ~/.claudebox/profiles'
	works "echo '{ \"network\": \"none\" }' >~/.claudebox/profiles/offline.json"
	works 'claudebox --profile offline --yes --exec true' '^  none: '
	works 'claudebox --instances' '~/my-project'
	works 'claudebox --gc' 'Nothing to remove'
	works 'for page in claudebox claudebox-profile claudebox-security; do man $page; done' 'claudebox(1)' 'claudebox-profile(5)' 'claudebox-security(7)'
	works "bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader claudebox; complete -p claudebox'" _claudebox
	works "zsh -c '${1:-:}; autoload -Uz compinit; compinit -u; echo \$_comps[claudebox]'" _claudebox
	works "fish -c '${2:-:}; complete -C \"claudebox --dry\"'" --dry-run=
	place=$usual
}

nothing_left() {
	timed 'nothing is left' fails inside sh -c 'find /etc /usr /var/lib/dpkg /home/user/.local -path "*/claude-code" -prune -o -name "*claudebox*" \
		! -path /home/user/.local/share/claudebox -print | grep .'
}

# Prints the command that the last error or check recommended.
printed_command() {
	sed -n 's/.*`\(.*\)`.*/\1/p' "$log" | head -n 1
}

without_claude() {
	place=my-project
	rm -r "$root/home/user/.local/share/claudebox"
	refuses 'claudebox --yes' '^claudebox: claude .* is not installed' '^hint: install it'
	works "$(printed_command)"
	works 'claudebox --check' 'claudebox can start here'
	place=$usual
}

without_tun() {
	place=my-project
	rm -r "$root/dev/net"
	refuses 'claudebox --check --network inet' "inet .* '/dev/net/tun'"
	refuses 'claudebox --yes --network inet --exec true' "^claudebox: .* '/dev/net/tun'" '^hint: run `sudo'
	works "$(printed_command)"
	works 'claudebox --check --network inet' '^ok  *inet '
	place=$usual
}

in_a_chroot() {
	timed 'claudebox --check, in a chroot (is refused)' fails apart chroot "$root" runuser -l user -c 'cd my-project && claudebox --check'
	prints 'this is a chroot'
}

shells='zsh fish bash-completion man-db'

try_deb() {
	usual=.
	place=$usual
	timed lintian lintian --fail-on error,warning build-deb/claudebox_*.deb
	# shellcheck disable=SC2086 # words
	timed "$shells" install_inside $shells
	add_sudo
	cp build-deb/claudebox_*.deb "$root/home/user/"
	typing y works 'sudo apt install ./claudebox_*.deb'
	works 'mkdir -p my-project'
	in_place my-project refuses 'claudebox --check' '^missing  *claude '
	works 'mkdir -p .local/bin && printf "#!/bin/sh\necho 1.0" >.local/bin/claude && chmod +x .local/bin/claude'
	use_it
	without_tun
	in_a_chroot
	works 'cp /usr/share/doc/claudebox/examples/*.json .claudebox/profiles/'
	in_place my-project works 'claudebox --profile review --dry-run'
	works 'rm .local/bin/claude'
	typing y works 'sudo apt purge claudebox'
	nothing_left
}

try_readme() {
	clone
	refuses 'command -v python3 || command -v cc || command -v sudo'
	refuses 'make run' 'there is no sudo' '^  python3: ' '^  npm: ' '^apt-get .*update' 'apt-get .*install .*bubblewrap'
	timed sudo install_inside sudo
	refuses 'make run' 'failed through sudo' '^  npm: ' 'apt-get .*install .*bubblewrap'
	add_sudo

	works 'make run ARGS=--version' 'installing with apt through sudo' '^claudebox [0-9]'
	works 'make run ARGS=--version' '^claudebox [0-9]'
	if [ "$(wc -l <"$log")" -ne 1 ] || [ "$took" -gt 5 ]; then
		show_log
		die 'the second make run does more than start'
	fi
	works 'mkdir ~/my-project && ! make run </dev/null' 'there is no terminal'
	typing n refuses 'make run' 'Start?' 'not started'
	api=yes
	typing y works "make run DIR=~/my-project ARGS='-p \"explain this code\"'" 'Start?' 'ECHO explain this code'
	api=

	# shellcheck disable=SC2086 # words
	timed "$shells" install_inside $shells
	works 'make static'
	works 'mkdir ~/bin && cp build-static/claudebox ~/bin'
	in_place my-project works 'claudebox --check && claudebox --yes --exec true' 'claudebox can start here'
	works 'rm ~/bin/claudebox'

	works 'sudo make install'
	refuses 'find . ! -user user | grep .'
	use_it '' 'set -p fish_complete_path /usr/local/share/fish/vendor_completions.d'
	works 'sudo make uninstall'
	nothing_left

	works 'make install PREFIX=$HOME/.local'
	use_it 'fpath+=(~/.local/share/zsh/site-functions)'
	works 'for profile in doc/profiles/*.json; do cp $profile ~/.claudebox/profiles/ && claudebox --profile $(basename $profile .json) --dry-run; done'
	works 'make uninstall PREFIX=$HOME/.local'
	nothing_left

	typing y works 'make deb && sudo apt install ./build-deb/claudebox_*.deb'
	use_it
	without_claude
	without_tun
	in_a_chroot
	typing y works 'sudo apt purge claudebox'
	nothing_left
}

try_test() {
	clone
	add_sudo
	works 'CI=true make test' ' passed, 0 failed$'
	grep ' passed, 0 failed$' "$log" | tail -n 1
}

[ $# -gt 0 ] || die 'usage: fresh.sh deb|readme|test...' 2
for part in "$@"; do
	case $part in
	deb) ls build-deb/claudebox_*.deb >/dev/null 2>&1 || die "there is no package: run 'make deb'" ;;
	readme | test) ;;
	*) die "unknown part '$part'" 2 ;;
	esac
done
[ "$(id -u)" -eq 0 ] || die 'only root can create a fresh system'

work=$(mktemp -d /var/tmp/claudebox-fresh.XXXXXX)
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
root=$work/root
log=$work/log
mkdir "$root"
make_system
for part in "$@"; do
	echo "== $part"
	usual=claudebox
	place=$usual
	"try_$part"
done
printf '%4d s  in total; %s on the disk\n' "$(($(date +%s) - begun))" "$(du -sh "$root" | cut -f 1)"
