#!/usr/bin/env python3
"""Reports violations of the architecture (docs/architecture.md): includes that rooms must not have, CUDA or POSIX
headers outside the few places meant for them, types named with a word of another room, files without an opening
comment, and files that are too long.

usage: check_layers.py ROOT      prints one line per finding; exit status 1 if there is one
"""
import re
import sys
from pathlib import Path

ROOMS = ["assets", "compute", "engine", "render", "app", "library", "python", "bench", "ui"]

# Rooms that each room may include from. Tests may include from all.
ARROWS = {
    "assets": {"assets"},
    "compute": {"compute"},
    "engine": {"engine", "compute", "assets"},
    "render": {"render", "compute", "shaders", "assets"},
    "app": {"app", "engine", "render", "compute", "assets"},
    "library": {"library", "echolux", "app", "engine", "render", "compute", "assets"},
    "python": {"python", "echolux"},  # the public interface only
    "bench": {"bench", "app", "engine", "render", "compute", "assets"},
    "ui": {"ui", "bench", "app", "engine", "render", "compute", "assets"},
    "shaders": {"shaders"},
}

# Headers of compute that the renderer may include: places, descriptions, the parallel loop, container indices and the
# empty value. It must not depend on the computation of voxels.
COMPUTE_FOR_RENDER = {"types.h", "plan/describe.h", "plan/described.h", "error.h", "plural.h", "voxel_target.h", "sharing.h", "parallel_for.h",
                      "indexing.h", "empty_value.h"}

# Public headers: the C interface needs only these and its own headers, and the C++ interface only the C interface. The
# copy of an earlier version is a single header of any length and is kept unchanged.
INTERFACE = Path("include/echolux")
INTERFACE_NEEDS = {"stddef.h", "stdint.h"}

# engine and render meet in app only; front ends use what app provides.
FRONT_ENDS = {"bench", "ui"}

CUDA = re.compile(r"^(cuda|cufft|cublas|cupti|nvrtc|nvtx|cub/|thrust/|cooperative_groups)")
VULKAN = re.compile(r"^vulkan/")

# POSIX headers are allowed only where handles are wrapped, to keep ports to other systems small.
POSIX = re.compile(
    r"^(unistd|fcntl|dlfcn|pthread|sched|poll|dirent|glob|pwd|termios|aio|mqueue|semaphore|signal|strings|netdb)\.h$"
    r"|^(sys|netinet|arpa|linux)/"
)
POSIX_PLACES = [
    "engine/scan/raw_spectra.cpp",
    "engine/io/atomic_file.cpp",
    "engine/io/durable_file.cpp",
    "engine/io/contained/",
    "engine/io/hdf5/hdf5_file.cpp",
    "engine/io/foreign/gdcm/dicom_codec.cpp",
    "engine/reader/",
    "engine/io/movie/ffmpeg/encoder.cpp",
    "engine/live/recording_files.cpp",
    "python/src/work.cpp",
    "engine/acquire/wrapped_sources.cpp",
    "engine/acquire/plugin_source.cpp",
    "engine/acquire/genicam/gentl.cpp",
    "engine/acquire/shared_source.cpp",
    "engine/net/tcp.cpp",
    "render/vk/driver_files.cpp",
    "render/vk/memory.cpp",
    "compute/voxel_target.cpp",
    "compute/cuda/toolkit.cpp",
    "compute/sharing.cpp",
    "ui/cli/",
]

# External input is opened and parsed in one place per kind, which handles FIFOs, lengths and depths. The other places
# listed here read only files written by this program, embedded data, manifests of drivers, or kernel interfaces.
ONE_PLACE = [
    (re.compile(r"json::parse\(", re.IGNORECASE), "JSON of others is read by parsed_json() of engine/io/json_text.h",
     {"engine/io/json_text.cpp", "render/vk/driver_files.cpp", "ui/cli/command_record.cpp"}),
    (re.compile(r"toml::parse(_file)?\("), "TOML is read by toml_entries() and toml_tables() of engine/scan/settings.h",
     {"engine/scan/settings.cpp", "render/view/curve.cpp"}),
    (re.compile(r"\bifstream(\s+\w+)?\((?!\))|\bifstream\s+\w+\{"),
     "files are opened by regular_stream() or open_file() of engine/io/regular_file.h",
     {"engine/io/regular_file.cpp", "engine/io/regular_file.h", "engine/reader/serve.cpp", "engine/memory.cpp", "render/view/curve.cpp", "render/vk/driver_files.cpp", "bench/run.cpp",
      "ui/cli/output.cpp", "ui/workspace/user_folders.cpp"}),
]

# A word may head types in one room only, so that it means one thing. None: no type is named with it.
ROOM_OF_WORD = {
    "Exhibit": None,
    "Feeder": "app",
    "Place": None,
    "Session": "engine",
    "Stage": "compute",
    "StandIn": None,
    "Viewer": "app",
    "VoxelTarget": "compute",
}
# Types are named Request, Options, Display or Result, not with a participle.
PARTICIPLES = re.compile("(Asked|Done|Found|Shown|Taken|Told|ToCome|Wanted)$")

MAX_LINES = 1200
TYPE = re.compile(r"(?:struct|class|enum class) (?:alignas\(\d+\) )?(\w+)(?: final)?(?: : [^{;(]*)?\s*\{")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def sources(root):
    for room in ROOMS + ["include", "examples", "shaders", "tests"]:
        for path in sorted((root / room).rglob("*")):
            if path.suffix in {".h", ".hpp", ".c", ".cpp", ".cu", ".cuh", ".glsl", ".comp"} and path.is_file():
                yield path.relative_to(root)


def includes(text):
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def wrong_include(path, quote, name):
    """Returns the reason why this file must not have this include, or None."""
    room = path.parts[0]
    target = name.split("/")[0]
    if CUDA.match(name) and path.parts[:2] != ("compute", "cuda") and path.parts[:2] != ("tests", "gpu"):
        return "CUDA headers stay in compute/cuda"
    if room == "tests":
        return None
    if room in {"include", "examples"}:
        return wrong_outside(path, quote, name)
    if VULKAN.match(name) and room != "render":
        return "Vulkan stays in render"
    if POSIX.match(name) and not any(path.as_posix().startswith(place) for place in POSIX_PLACES):
        return "POSIX headers stay in handle code (POSIX_PLACES in tests/layers/check_layers.py)"
    if target in ARROWS and "/" in name and target not in ARROWS[room]:
        return f"{room} may include from {', '.join(sorted(ARROWS[room]))} only"
    if room == "render" and target == "compute" and name.removeprefix("compute/") not in COMPUTE_FOR_RENDER:
        return f"render sees of compute only {', '.join(sorted(COMPUTE_FOR_RENDER))}"
    if quote == '"' and "/" not in name and room != "shaders":
        return "our headers are included by their path from the root"
    if name.startswith(".."):
        return "our headers are included by their path from the root"
    return None


def wrong_outside(path, quote, name):
    """As wrong_include(), for the public headers and their examples."""
    is_interface = path.parent == INTERFACE
    if is_interface and path.suffix == ".h" and not (name in INTERFACE_NEEDS if quote == "<" else name.endswith(".h")):
        return f"the C interface includes {', '.join(sorted(INTERFACE_NEEDS))} and itself only"
    if quote == '"' and not (is_interface and "/" not in name):
        return "nothing of the inside is seen from outside"
    return None


def meets_elsewhere(path, text):
    """True if a front end includes both engine and render, which only app may do."""
    targets = {name.split("/")[0] for _, _, name in includes(text)}
    return path.parts[0] in FRONT_ENDS and {"engine", "render"} <= targets


def place_of(path, folders):
    """Returns the node of a file in the include graph: its folder if that has no subfolders, otherwise the file."""
    folder = Path(path).parent
    return folder if folder in folders and len(folder.parts) > 1 else Path(path)


def cycles(root):
    """Returns groups of places that include each other, directly or indirectly."""
    files = {path for path in sources(root) if path.parts[0] in ROOMS}
    folders = {path.parent for path in files}
    leaves = {folder for folder in folders if not any(folder in other.parents for other in folders)}
    arrows = {}
    for path in sorted(files):
        place = place_of(path, leaves)
        arrows.setdefault(place, set())
        for _, _, name in includes((root / path).read_text(encoding="utf-8")):
            target = place_of(Path(name), leaves)
            if Path(name) in files and target != place:
                arrows[place].add(target)
    reached = {place: reachable(place, arrows) for place in arrows}
    return sorted({tuple(sorted(other for other in reached[place] if place in reached[other]))
                   for place in arrows if place in reached[place]})


def reachable(start, arrows):
    found, waiting = set(), list(arrows[start])
    while waiting:
        place = waiting.pop()
        if place not in found:
            found.add(place)
            waiting += arrows.get(place, ())
    return found


def opening_comment_missing(root, path):
    """True if a file does not begin with a comment. A source with a header of the same name needs none."""
    header = (root / path).with_suffix(".h")
    if path.suffix == ".cpp" and header.exists():
        return False
    text = (root / path).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith(("#version", "#!"))]
    return not lines or not lines[0].startswith(("//", "/*"))


def elsewhere_than_its_place(path, text):
    if path.parts[0] not in ROOMS:
        return
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, reason, places in ONE_PLACE:
            if pattern.search(line.split("//")[0]) and path.as_posix() not in places:
                yield f"{path}:{number}: {reason}"


def types_defined(path, text):
    """Yields types at the left margin of a named namespace. They can be linked into other files, so their names must be
    unique."""
    spaces = []
    for number, line in enumerate(text.splitlines(), 1):
        if match := re.match(r"namespace ([\w:]*)\s*\{", line):
            spaces.append(match[1])
        elif line.startswith("}  // namespace") and spaces:
            spaces.pop()
        elif (match := TYPE.match(line)) and "" not in spaces:
            yield "::".join([*spaces, match[1]]), f"{path}:{number}"


def types_with_wrong_words(path, text):
    """Yields types of the product that are named with a word of another room, or with a participle."""
    if path.parts[0] not in ROOMS:
        return
    for number, line in enumerate(text.splitlines(), 1):
        match = TYPE.match(line.strip())
        if not match:
            continue
        place, name = f"{path}:{number}", match[1]
        for word, room in ROOM_OF_WORD.items():
            if re.search(rf"{word}s?(?![a-z])", name) and path.parts[0] != room:
                reason = f"only {room} has types named {word}" if room else f"no type is named {word}"
                yield f"{place}: {name}: {reason}"
        if PARTICIPLES.search(name):
            yield f"{place}: {name}: participle: name it Request, Options, Display or Result"


def types_defined_twice(root):
    """Yields types defined twice in the rooms, or in the rooms and a test, because test programs link both. Each test
    is a separate program, so tests may share names."""
    types = {}
    for of_tests in (False, True):
        for path in sources(root):
            if path.parts[0] not in ({"tests"} if of_tests else ROOMS):
                continue
            for name, place in types_defined(path, (root / path).read_text(encoding="utf-8")):
                if name in types:
                    yield f"{place}: {name} is defined in {types[name]} too; a program that holds both is undefined behaviour"
                elif not of_tests:
                    types[name] = place


def findings(root):
    yield from types_defined_twice(root)
    for path in sources(root):
        text = (root / path).read_text(encoding="utf-8")
        yield from elsewhere_than_its_place(path, text)
        yield from types_with_wrong_words(path, text)
        for number, quote, name in includes(text):
            reason = wrong_include(path, quote, name)
            if reason:
                yield f"{path}:{number}: includes {name}: {reason}"
        if meets_elsewhere(path, text):
            yield f"{path}: includes engine and render: they meet in app only"
        if opening_comment_missing(root, path):
            yield f"{path}:1: no opening comment that says what the file is"
        if len(text.splitlines()) > MAX_LINES:
            yield f"{path}: {len(text.splitlines())} lines; more than {MAX_LINES} are hard to live in: split it"
    for group in cycles(root):
        yield "these include each other: " + ", ".join(place.as_posix() for place in group)


def main():
    root = Path(sys.argv[1]).resolve()
    found = list(findings(root))
    print("\n".join(found) if found else f"{sum(1 for _ in sources(root))} files keep to the plan")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
