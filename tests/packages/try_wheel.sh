#!/usr/bin/env bash
# Tries a wheel of `./dev wheel` as a new user would, in a separate bare Debian with Python but without a compiler or
# our packages: installs it with pip in a virtual environment, imports it, runs the code of the tutorial
# (docs/python.md), and uninstalls it.
# usage: try_wheel.sh WHEEL [ROOT]
# ROOT is kept and reused. Exit status 77: no debootstrap, not root, no archive, or no PyPI.
# RELEASE in the environment selects another Debian release than the one whose Python the wheel is for (trixie for
# abi3).
set -euo pipefail

wheel=$(readlink -f "$1")
root=${2:-$(mktemp -d)/root}
sources=$(readlink -f "$(dirname "$0")/../..")
case ${wheel##*/} in
    *-abi3-*) release=${RELEASE:-trixie} ;;
    *) release=${RELEASE:-bookworm} ;;
esac
[[ $EUID == 0 ]] || { echo "it takes root to make a bare system"; exit 77; }
command -v debootstrap >/dev/null || { echo "there is no debootstrap here"; exit 77; }

say() { printf '%s\n' "$*"; }
fail() { say "FAILED: $*"; exit 1; }
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }

[[ -e $root/etc/debian_version ]] || debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates "$release" "$root" >/dev/null ||
    { say "debootstrap cannot reach its archive"; exit 77; }
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
trap 'umount "$root/proc"' EXIT
# Use the host's network settings and certificates.
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
pip() { inside env PIP_CERT=/etc/ssl/certs/ca-certificates.crt ${PIP_INDEX_URL:+PIP_INDEX_URL="$PIP_INDEX_URL"} /trial/env/bin/pip -q --disable-pip-version-check "$@"; }

inside sh -c 'command -v cc || command -v gcc || command -v c++ || command -v cmake' >/dev/null && fail "there is a compiler"
rm -rf "$root/trial"
mkdir -p "$root/trial"
cp "$wheel" "$root/trial/"
inside python3 -m venv /trial/env
pip install numpy matplotlib "dask[array]" || { say "PyPI is out of reach"; exit 77; }
pip install --no-index "/trial/${wheel##*/}" ||
    fail "pip cannot install ${wheel##*/}"
say "$(inside /trial/env/bin/python3 -c 'import platform, echolux; print(platform.platform(), "Python", platform.python_version(), "echolux", echolux.__version__)')"
inside sh -c 'ldd /trial/env/lib/python3*/site-packages/echolux/*.so*' >"$root/trial/libraries"
! grep 'not found' "$root/trial/libraries" | sort -u || fail "libraries are missing"

# Pictures need a Vulkan driver, which a bare system lacks: the test skips them with a message and runs the rest.
mkdir -p "$root/trial/tests/python" "$root/trial/docs"
cp "$sources"/tests/python/{support,test_tutorial}.py "$sources"/tests/support/scans.py "$root/trial/tests/python/"
cp "$sources/docs/python.md" "$root/trial/docs/"
inside sh -c 'cd /trial/tests/python && /trial/env/bin/python3 -m unittest test_tutorial' >"$root/trial/said" 2>&1 ||
    { tail -n 15 "$root/trial/said"; fail "the tutorial"; }
said=$(grep -v '^\(-*\|OK\|Ran .*\|\.\)$' "$root/trial/said" | tail -n 1)
say "the tutorial ran${said:+, but for its pictures: $said}"

pip uninstall -y echolux
[[ -z $(inside sh -c 'ls -d /trial/env/lib/python3*/site-packages/echolux*' 2>/dev/null) ]] || fail "something is left of it"
say "installed and removed: ${wheel##*/}, $(du -h "$wheel" | cut -f 1)"
