#include "engine/acquire/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "assets/assets.h"
#include "compute/error.h"
#include "engine/acquire/joined_source.h"
#include "engine/acquire/shared_ring.h"
#include "engine/acquire/source_kinds.h"
#include "engine/parts.h"

namespace echolux {

template <>
const std::vector<Field<SourceSettings>>& describe<SourceSettings>() {
    using S = SourceSettings;
    constexpr Effect effect = Effect::file;
    constexpr std::int64_t max = std::int64_t{1} << 24;
    static const std::vector<Field<S>> fields{
        number("line_rate_hz", &S::line_rate_hz, 0, 1e9, "Hz", effect, "lines per second; 0: that of the source")
            .special(0, "unchanged")
            .soft(1000, 2e6),
        number("exposure_us", &S::exposure_us, 0, 1e7, "us", effect,
               "exposure time of a camera; 0: as set in the camera")
            .special(0, "unchanged")
            .soft(1, 1000),
        integer("block_b_scans", &S::block_b_scans, 0, max, "", effect,
                "B-scan positions in a block; 0: chosen for low latency")
            .special(0, "auto")
            .soft(0, 64),
        integer("pool_blocks", &S::pool_blocks, 0, max, "", effect,
                "blocks that may be in use at a time before the source drops some; 0: a few volumes")
            .special(0, "auto")
            .soft(0, 256),
        flag("loop", &S::loop, effect, "start a replay again after its last volume"),
        number("keep_gb", &S::keep_gb, 0, 4096, "GB", effect,
               "memory of the display that keeps the last volumes, to pause and step back; as many as fit, 0: none")
            .special(0, "none")
            .soft(0, 16),
    };
    return fields;
}

SourceName::SourceName(const std::string& name) {
    const auto split = [](const std::string& text, char at) {
        const std::size_t end = std::min(text.find(at), text.size());
        return std::pair(text.substr(0, end), text.substr(std::min(end + 1, text.size())));
    };
    std::tie(kind, rest) = split(name, ':');
    std::tie(id, options) = split(rest, ',');
}

namespace {

// "A+B", each opened by itself.
std::unique_ptr<Source> open_joined(const SourceWanted& wanted, const std::string& names) {
    if (names.find('+') == std::string::npos)
        throw Error(ErrorCode::bad_setting, "joins a single source", wanted.name, "name them all: join:A+B");
    std::vector<std::unique_ptr<Source>> parts;
    for (std::size_t begin = 0; begin <= names.size();) {
        const std::size_t end = std::min(names.find('+', begin), names.size());
        SourceWanted one = wanted;
        one.name = names.substr(begin, end - begin);
        parts.push_back(open_source(one));
        begin = end + 1;
    }
    return std::make_unique<JoinedSource>(std::move(parts));
}

}  // namespace

std::unique_ptr<Source> open_source(const SourceWanted& wanted) {
    const SourceName name(wanted.name);
    const std::string& kind = name.kind;
    const bool says_which = !name.rest.empty();
    check(wanted.settings, "source");
    if (kind == "sim") return open_simulator(wanted);
    if (kind == "genicam") {
        if constexpr (has(Part::genicam)) return open_genicam(wanted);
        refuse_missing(Part::genicam, wanted.name);
    }
    if (kind == "replay" && says_which) return open_replay(wanted);
    if (kind == "plugin" && says_which) return open_plugin(wanted);
    if (kind == "shm" && says_which) return open_shared_memory(wanted);
    if (kind == "tcp" && says_which) return open_tcp(wanted);
    if (kind == "join" && says_which) return open_joined(wanted, name.rest);
    constexpr std::array<std::string_view, 7> kinds{"sim", "replay", "genicam", "plugin", "shm", "tcp", "join"};
    const std::string nearest = nearest_name(kind, kinds);
    const bool is_known = nearest == kind;  // and the file is missing
    throw Error(ErrorCode::bad_setting, fmt::format("expected {}, got \"{}\"", source_names, wanted.name), "source",
                is_known || nearest.empty() ? "" : "did you mean " + nearest + "?");
}

std::vector<std::string> sources_found() {
    std::string scenes;
    for (const std::string& name : asset_names(scene_files)) scenes += (scenes.empty() ? "" : ", ") + name;
    std::vector<std::string> found{
        "sim: simulated spectra; sim:SCENE (" + scenes + "), or sim:scan.toml of an earlier simulation",
        "replay:scan.toml: a scan on disk, at the rate of its lines"};
    if constexpr (has(Part::genicam)) {
        const std::vector<std::string> cameras = genicam_cameras();
        found.insert(found.end(), cameras.begin(), cameras.end());
        if (cameras.empty())
            found.emplace_back("genicam, genicam:ID: a GenICam camera (GigE Vision, USB3 Vision); none is found now");
    } else {
        found.emplace_back("genicam: not in this build (build with -DECHOLUX_GENICAM=ON)");
    }
    found.emplace_back("plugin:FILE.so: an instrument's own library (docs/plugins.md)");
    found.emplace_back("tcp://ADDRESS:PORT: what an acquisition program sends to this address (docs/push.md)");
    found.emplace_back("join:A+B: instruments that record the same volumes together, a block of B-scans each in turn");
    const std::vector<std::string> rings = shared_rings();
    for (const std::string& name : rings) found.push_back("shm:" + name + ": a program that pushes its spectra");
    if (rings.empty())
        found.emplace_back("shm:NAME: what a program on this machine pushes; none does now (docs/push.md)");
    return found;
}

}  // namespace echolux
