#!/usr/bin/env bash
# Checks that every source is formatted as .clang-format specifies. `./dev format` fixes it.
set -euo pipefail
cd "$1"
if ! command -v clang-format >/dev/null; then
    echo "SKIP: clang-format is not installed"
    exit 77
fi
find assets compute engine render app include library examples bench ui tests \( -name '*.h' -o -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print0 |
    xargs -0 clang-format --dry-run --Werror
