#!/bin/sh
# Installs the library into an empty prefix, builds the examples with that prefix only, through find_package and
# pkg-config, and runs them: as a user without the source tree would.
# usage: check_install.sh SOURCES BUILD PROGRAM(may be empty)
set -eu
sources=$1 build=$2 program=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --component library --prefix "$work/prefix" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
lib=$(dirname "$(find "$work/prefix" -name 'libecholux.so.0')")

# The first program of docs/library.md ends with an error if its scan does not exist.
sed -n '/^```c$/,/^```$/p' "$sources/docs/library.md" | sed '1d;/^```$/,$d' > "$work/first.c"
export PKG_CONFIG_PATH="$lib/pkgconfig"
cc -std=c11 -Wall -Wextra -pedantic -Werror "$work/first.c" -o "$work/first" $(pkg-config --cflags --libs echolux)
if (cd "$work" && LD_LIBRARY_PATH=$lib ./first 2> first.log); then exit 1; fi
grep -q "scan.toml: does not exist" "$work/first.log"

# Each header must compile by itself.
for header in "$work"/prefix/include/echolux/*.h; do
    cc -std=c99 -Wall -Wextra -pedantic -Werror -fsyntax-only -x c "$header"
done
for header in "$work"/prefix/include/echolux/*.h*; do
    c++ -std=c++17 -Wall -Wextra -pedantic -Werror -fsyntax-only -x c++ "$header"
done
test -f "$work/prefix/include/echolux/echolux.h"

cmake -S "$sources/examples" -B "$work/examples" -DCMAKE_PREFIX_PATH="$work/prefix" > "$work/log" 2>&1 &&
    cmake --build "$work/examples" >> "$work/log" 2>&1 || { cat "$work/log"; exit 1; }

cc -std=c11 -Wall -Wextra -pedantic -Werror "$sources/examples/camera.c" -o "$work/camera" \
    $(pkg-config --cflags --libs echolux) -lm
test "$(pkg-config --modversion echolux)" != ""

LD_LIBRARY_PATH=$lib "$work/camera" | tee "$work/rows"
"$work/examples/camera" | cmp - "$work/rows"
grep -q "^volume 2: the mirror is at row 72 of 248" "$work/rows"

test -n "$program" || exit 0
cd "$work"
"$program" simulate layers --out sim/scan.toml --samples 256 --a-scans 24 --b-scans 6 > log 2>&1 || { cat log; exit 1; }
scan=sim/scan.toml
"$program" reconstruct "$scan" -o by_program.nrrd --backend cpu
examples/reconstruct "$scan" by_library.nrrd
cmp by_program.nrrd by_library.nrrd
examples/blocks "$scan"
examples/layers by_library.nrrd our_surfaces.nrrd layers.count=3 | grep -q "^layer 1: "
"$program" segment by_library.nrrd -o their_surfaces.nrrd --preset layers --set layers.count=3 > log 2>&1 || { cat log; exit 1; }
cmp our_surfaces.nrrd their_surfaces.nrrd
status=0
examples/picture by_library.nrrd picture.ppm view.mode=mip || status=$?
test $status = 77 || { test $status = 0 && test "$(wc -c < picture.ppm)" = 230415; }
