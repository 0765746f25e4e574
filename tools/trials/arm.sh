#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds for ARM (aarch64) and runs tests in a Debian with its own kernel, in an emulated machine (qemu).
#
# usage: arm.sh [--suite bookworm|trixie] [NAME...] (as root); a NAME selects tests as for tests/run.py
#
# No ARM program runs on the host: the packages are unpacked and not configured, and the build is a cross build. The emulated
# machine has no network. Its clock counts instructions, so that slow emulation does not cause timeouts. The new system and the
# build take about 5 minutes on two processors, plus the tests. Everything is removed at the end.
set -eu
cd "$(dirname "$0")/../.."

suite=bookworm
[ "${1:-}" != --suite ] || {
	suite=${2:-}
	shift 2
}
case $suite in
bookworm | trixie) ;; # Linux 6.1, and 6.12 with all of Landlock
*)
	echo 'usage: arm.sh [--suite bookworm|trixie] [NAME...]' >&2
	exit 2
	;;
esac
[ "$(id -u)" -eq 0 ] || {
	echo 'claudebox: only root can create a fresh system' >&2
	exit 1
}
[ $# -gt 0 ] || set -- box/test_seccomp box/test_attacks box/test_attack_program cli/test_check.py

mirror=$(tools/apt-mirror.sh)
work=$(mktemp -d /var/tmp/claudebox-arm.XXXXXX)
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
root=$work/root

say() {
	printf '== %s\n' "$*"
}

quietly() {
	"$@" >"$work/log" 2>&1 || {
		tail -n 20 "$work/log" >&2
		exit 1
	}
}

# The packages that the tests need, from deps.sh. npm would add hundreds of packages, so it runs on the host instead.
say "a fresh Debian for ARM: $suite"
packages=$(tools/deps.sh --dry-run --manager apt --all build run test |
	sed -n 's/.*would install with apt[^:]*: //p' | tr ' ' '\n' | grep -vx 'npm\|user-mode-linux')
quietly mmdebstrap --mode=root --architecture=arm64 --variant=extract --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
	--include="base-files base-passwd bash busybox-static coreutils dash diffutils findutils grep gzip hostname kmod \
		libc-bin linux-image-arm64 login mawk mount ncurses-base ncurses-bin passwd sed tar $(echo "$packages" | tr '\n' ' ')" \
	"$suite" "$root" "$mirror"

# The part of the packages' own install scripts that is needed.
cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
cat "$root"/usr/share/ca-certificates/mozilla/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"
mkdir -p "$root/media" "$root/mnt" "$root/opt" "$root/srv"
echo '127.0.0.1 localhost' >"$root/etc/hosts"
echo 'nameserver 127.0.0.1' >"$root/etc/resolv.conf"
ln -sf gcc "$root/usr/bin/cc"
ln -sf mawk "$root/usr/bin/awk"
kernel=$(basename "$root"/lib/modules/*)
depmod -b "$root" "$kernel"

say 'Claude Code for ARM'
versions=$(sed -n '/^CLAUDE = /s/[^0-9. ]//gp' tests/run.py)
for version in $versions; do
	prefix=$root/var/cache/claudebox-test/claude-code-$version
	mkdir -p "$prefix"
	quietly npm install --prefix "$prefix" --cache "$work/npm" --os=linux --cpu=arm64 --libc=glibc --ignore-scripts --no-save \
		--no-audit --no-fund "@anthropic-ai/claude-code@$version"
	package=$prefix/node_modules/@anthropic-ai/claude-code
	[ ! -d "$package-linux-arm64" ] || ln -f "$package-linux-arm64/claude" "$package/bin/claude.exe"
done

say 'a cross build'
cat >"$work/cross" <<EOT
[binaries]
c = ['aarch64-linux-gnu-gcc', '--sysroot=$root', '-L$root/usr/lib/aarch64-linux-gnu']
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
[properties]
sys_root = '$root'
pkg_config_libdir = '$root/usr/lib/aarch64-linux-gnu/pkgconfig'
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
EOT
mkdir "$root/claudebox"
tar -c --exclude='./build*' --exclude=./.git . | tar -x -C "$root/claudebox"
quietly meson setup "$root/claudebox/build" "$root/claudebox" --cross-file "$work/cross" -Doptimization=3 -Ddebug=true -Dman=disabled
quietly ninja -C "$root/claudebox/build"

# The initrd has the modules for the disk; the disk has the system.
mkdir -p "$work/first/dev" "$work/first/modules" "$work/first/root"
cp "$root/bin/busybox" "$work/first/busybox"
number=10
for module in virtio_pci virtio_blk ext4; do
	modprobe -d "$root" -S "$kernel" --show-depends "$module"
done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | while read -r file; do
	number=$((number + 1))
	case $file in
	*.xz) xz -dc "$file" >"$work/first/modules/$number.ko" ;;
	*) cp "$file" "$work/first/modules/$number.ko" ;;
	esac
done
cat >"$work/first/init" <<'EOT'
#!/busybox sh
/busybox mount -t devtmpfs dev /dev
for module in /modules/*; do /busybox insmod "$module" 2>/dev/null; done
/busybox mount -t ext4 /dev/vda /root
/busybox mount --move /dev /root/dev
exec /busybox switch_root /root /bin/sh /init
EOT
cat >"$root/init" <<EOT
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t cgroup2 cgroup /sys/fs/cgroup
mkdir /dev/pts /dev/shm /dev/mqueue
mount -t devpts -o ptmxmode=666,mode=620,gid=5 pts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t mqueue mqueue /dev/mqueue
mount -t tmpfs -o mode=755 run /run
ln -s /proc/self/fd /dev/fd
ln -s fd/0 /dev/stdin
ln -s fd/1 /dev/stdout
ln -s fd/2 /dev/stderr
ip link set lo up
ip link add out type dummy
ip address add 192.0.2.9/24 dev out
ip link set out up
ip route add default via 192.0.2.1
modprobe -a tun nf_tables
chmod 666 /dev/net/tun
ldconfig
echo "== \$(uname -sr) on \$(uname -m)"
cd /claudebox
setsid -c -w python3 tests/run.py build $* </dev/console >/dev/console 2>&1 && echo '== the tests passed'
sync
echo o >/proc/sysrq-trigger
sleep 60
EOT
chmod +x "$work/first/init"
(cd "$work/first" && find . | cpio --quiet -o -H newc) >"$work/initrd"
truncate -s 6G "$work/disk"
quietly mke2fs -q -t ext4 -O ^has_journal -d "$root" "$work/disk"

say "tests: $*"
qemu-system-aarch64 -M virt -cpu cortex-a76 -m 3G -icount shift=1,sleep=off -nic none -nographic -no-reboot \
	-kernel "$root/boot/vmlinuz-$kernel" -initrd "$work/initrd" -append 'console=ttyAMA0 quiet panic=-1' \
	-drive "file=$work/disk,format=raw,if=virtio,cache=unsafe" </dev/null | tee "$work/log"
grep -q '== the tests passed' "$work/log"
