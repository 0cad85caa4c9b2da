#!/usr/bin/env bash
# archives.sh FOLDER VERSION: packs an installed FOLDER as a tarball and a Debian package next to it. First adds a
# README with the requirements of the target machine, and the licences of the bundled libraries.
set -euo pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
folder=$1 version=$2
out=$(dirname "$folder")
tarball=$out/echolux-$version-linux-x86_64.tar.gz
package=$out/echolux_${version}_amd64.deb
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct 2>/dev/null || date +%s)}

# newest PREFIX: prints the highest version of the symbols with this prefix that a program or library here requires.
newest() {
    find "$folder/bin" "$folder/lib" -type f \( -name 'echolux*' -o -name '*.so*' \) -print0 |
        xargs -0 -n 1 objdump -T 2>/dev/null | grep -oP "\(?$1_\K[0-9.]+" | sort -uV | tail -n 1
}

# Finds the package of a library by its name, because the paths of the linker and of dpkg may differ by a merged /usr.
licences() {
    local library owner
    mkdir -p "$folder/share/licences"
    for library in "$folder"/lib/*.so*; do
        [[ $library != */libecholux* ]] || continue
        owner=$(dpkg-query -S "*/${library##*/}" 2>/dev/null | sed -n '1s/[:,].*//p')
        if [[ -z $owner || ! -e /usr/share/doc/$owner/copyright ]]; then
            echo "${library##*/}: the package that it is from, and so its licence, was not found" >&2
            return 1
        fi
        cp -L "/usr/share/doc/$owner/copyright" "$folder/share/licences/$owner"
    done
}

control() {  # Debian versions libstdc++6 like GCC: 3.4.30 came with 12
    cat <<END
Package: echolux
Version: $version
Architecture: amd64
Maintainer: Echolux contributors <noreply@example.org>
Installed-Size: $(du -sk "$folder" | cut -f 1)
Depends: libc6 (>= $glibc), libstdc++6 (>= 12), libgcc-s1
Recommends: libvulkan1, mesa-vulkan-drivers | vulkan-icd
Suggests: ffmpeg, nvidia-driver (>= 580)
Section: science
Priority: optional
Description: OCT spectra to volumes, live and in 4-D
 Reconstructs spectra of optical coherence tomography on NVIDIA GPUs or processors, and shows the volumes as they come.
 It lies in /opt/echolux with the libraries it needs; licences are in /opt/echolux/share/licences.
END
}

glibc=$(newest GLIBC)
glibcxx=$(newest GLIBCXX)
sed "s/@VERSION@/$version/; s/@GLIBC@/$glibc/; s/@GLIBCXX@/$glibcxx/" "$here/README.in" >"$folder/README"
licences

tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
    --transform="s,^${folder##*/},echolux-$version," -C "$out" -czf "$tarball" "${folder##*/}"

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
mkdir -p "$root/DEBIAN" "$root/opt" "$root/usr/bin" "$root/usr/share/doc/echolux"
cp -a "$folder" "$root/opt/echolux"
ln -s ../../opt/echolux/bin/echolux "$root/usr/bin/echolux"
cp "$folder/LICENSE" "$root/usr/share/doc/echolux/copyright"
control >"$root/DEBIAN/control"
dpkg-deb --root-owner-group -Zxz --build "$root" "$package"
