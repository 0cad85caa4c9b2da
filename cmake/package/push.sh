#!/bin/bash
# Builds the folder for acquisition programs and FOLDER.zip: the push library for Windows (mingw-w64) and for Linux,
# headers, the client in Python, samples. usage: push.sh FOLDER
set -euo pipefail
out=$1
top=$(cd "$(dirname "$0")/../.." && pwd)
source=$top/plugins/push_library/echolux_sender.c
flags=(-std=c11 -O2 -Wall -Wextra -Wconversion -Werror -shared -s)
rm -rf "$out"
mkdir -p "$out"/{windows,linux,include,python,samples}

x86_64-w64-mingw32-gcc "${flags[@]}" -static-libgcc -o "$out/windows/echolux_push.dll" "$source" -lws2_32 \
    -Wl,--out-implib,"$out/windows/echolux_push.lib",--output-def,"$out/windows/echolux_push.def",--no-insert-timestamp
cc "${flags[@]}" -fPIC -fvisibility=hidden -pthread -o "$out/linux/libecholux_push.so" "$source"
cp "$top"/plugins/echolux_push.h "$top"/plugins/echolux_push_tcp.h "$top"/plugins/push_library/echolux_sender.h "$out/include"
cp "$top"/python/echolux/push.py "$out/python"
cp "$top"/plugins/push_library/samples/* "$out/samples"
sed -i 's,"\.\./echolux_sender\.h","../include/echolux_sender.h",' "$out/samples/sender.c"
cp "$top"/LICENSE "$out"
cp "$top"/docs/pictures/windows-wiring.svg "$out"
# The links lead to the files here; those to other pages become text.
sed -E 's,\(pictures/windows-wiring\.svg\),(windows-wiring.svg),; s,\(\.\./plugins/push_library/samples/,(samples/,g
    s,\(\.\./plugins/(push_library/)?(echolux_[a-z_]*\.h)\),(include/\2),g; s,\[([^]]*)\]\([a-z-]*\.md[^)]*\),\1,g' "$top/docs/windows.md" \
    >"$out/README.md"
rm -f "$out.zip"
(cd "$(dirname "$out")" && cmake -E tar cf "$(basename "$out").zip" --format=zip "$(basename "$out")")
