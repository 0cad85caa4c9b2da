#!/usr/bin/env bash
# Tries the packages of `./dev package` as a new user would, in a separate bare Debian 12: unpacks the tarball or
# installs the Debian package, starts the program, renders the demo's pictures on lavapipe, and removes it again.
# usage: try_package.sh OUT_FOLDER [ROOT]
# ROOT is kept and reused. Exit status 77: no debootstrap, or not root.
set -euo pipefail

out=$(readlink -f "$1")
root=${2:-$(mktemp -d)/root}
[[ $EUID == 0 ]] || { echo "it takes root to make a bare system"; exit 77; }
command -v debootstrap >/dev/null || { echo "there is no debootstrap here"; exit 77; }

say() { printf '%s\n' "$*"; }
fail() { say "FAILED: $*"; exit 1; }
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }
# Mounts a separate /proc: without it, programs cannot determine their own path.
began() {
    [[ -e $root/etc/debian_version ]] || debootstrap --variant=minbase bookworm "$root" >/dev/null ||
        { say "debootstrap cannot reach its archive"; exit 77; }
    mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
    trap 'umount "$root/proc"' EXIT
}

# tried PROGRAM: checks that it starts, lists embedded assets, renders pictures, and finds its reader process.
tried() {
    say "$(inside "$1" --version)"
    inside "$1" info --presets >"$root/tmp/presets" || fail "$1 info"
    inside sh -c "cd /tmp && rm -rf out && $1 demo" >"$root/tmp/demo" 2>&1 || { tail -n 5 "$root/tmp/demo"; fail "$1 demo"; }
    for picture in volume b-scan en-face; do
        [[ -s $root/tmp/out/demo/$picture.png ]] || fail "no $picture.png"
    done
    inside sh -c "cd /tmp && $1 convert out/demo/volume.nrrd v.h5 --overwrite && $1 info v.h5" >"$root/tmp/reader" 2>&1 ||
        { tail -n 5 "$root/tmp/reader"; fail "its reader process"; }
    say "demo: $(grep '^ray casting' "$root/tmp/demo")"
}

began
tarball=$(compgen -G "$out/echolux-*-linux-x86_64.tar.gz") || fail "no tarball in $out"
package=$(compgen -G "$out/echolux_*_amd64.deb") || fail "no Debian package in $out"
rm -rf "$root"/opt/echolux-*
tar -xzf "$tarball" -C "$root/opt"
unpacked=$(basename "$(compgen -G "$root/opt/echolux-*")")
inside "/opt/$unpacked/bin/echolux" --version >/dev/null || fail "the tarball's program does not start on a bare system"
say "starts on a bare system: $(du -sh "$root/opt/$unpacked" | cut -f 1) unpacked, $(du -h "$tarball" | cut -f 1) packed"
inside apt-get update -q >/dev/null
inside apt-get install -qy --no-install-recommends libvulkan1 mesa-vulkan-drivers >/dev/null
tried "/opt/$unpacked/bin/echolux"
rm -rf "$root/opt/$unpacked"

cp "$package" "$root/tmp/echolux.deb"
inside apt-get install -qy --no-install-recommends /tmp/echolux.deb >/dev/null || fail "apt cannot install the package"
tried echolux
inside apt-get remove -qy echolux >/dev/null
[[ ! -e $root/usr/bin/echolux && ! -e $root/opt/echolux ]] || fail "something is left after the package was removed"
say "installed and removed: ${package##*/}"
