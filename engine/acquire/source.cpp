#include "engine/acquire/source.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "assets/assets.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/acquire/shared_source.h"
#include "engine/acquire/wrapped_sources.h"
#include "engine/build.h"
#include "engine/scan/raw_spectra.h"
#include "engine/scan/scan.h"

namespace echolux {

template <>
const std::vector<Field<SourceSettings>>& describe<SourceSettings>() {
    using S = SourceSettings;
    constexpr Effect effect = Effect::file;
    constexpr std::int64_t max = std::int64_t{1} << 24;
    static const Fields<S> fields{
        number("line_rate_hz", &S::line_rate_hz, 0, 1e9, "Hz", effect, "lines per second; 0: set by the source")
            .special(0, "unchanged")
            .soft(1000, 2e6)
            .in("Source"),
        number("exposure_us", &S::exposure_us, 0, 1e7, "us", effect,
               "exposure time of a camera; 0: as set in the camera")
            .special(0, "unchanged")
            .soft(1, 1000),
        integer("block_b_scans", &S::block_b_scans, 0, max, "", effect,
                "B-scan positions per block; 0: chosen for low latency")
            .special(0, "auto")
            .soft(0, 64),
        integer("pool_blocks", &S::pool_blocks, 0, max, "", effect,
                "max blocks in use at once, beyond which the source drops blocks; 0: enough for a few volumes")
            .special(0, "auto")
            .soft(0, 256),
        integer("near_gpu", &S::near_gpu, -1, 1023, "", effect,
                "GPU index: blocks are allocated on its memory node, on hosts with several nodes; joined instruments "
                "use consecutive GPUs")
            .special(-1, "anywhere")
            .soft(-1, 7),
        flag("loop", &S::loop, effect, "repeat a replay after its last volume"),
        number("keep_gb", &S::keep_gb, 0, 4096, "GB", effect,
               "memory for the latest volumes, to pause and step back: GPU memory with a display, host memory for "
               "programs; 0: keep none")
            .special(0, "none")
            .soft(0, 16),
    };
    return fields.list();
}

std::vector<std::filesystem::path> Source::played_files() const {
    return scan().spectra.empty() ? std::vector<std::filesystem::path>{} : raw_files(scan());
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

// Whether the name consists of several sources.
bool puts_together(const std::string& kind) {
    return kind == "join" || kind == "interleave";
}

constexpr std::int64_t interleaved_pool_blocks = 16;  // per instrument, until the lines of the others arrive

// Adapts settings for the parts. Blocks with interleaved lines are only copied by the CPU, so they need no pinned
// memory and no large pool.
SourceRequest wanted_of_each(SourceRequest wanted, bool interleaved) {
    if (interleaved) {
        wanted.memory = MemoryKind::host;
        if (wanted.settings.pool_blocks == 0) wanted.settings.pool_blocks = interleaved_pool_blocks;
    }
    return wanted;
}

// Opens each instrument; with near_gpu, each near the next GPU.
std::unique_ptr<Source> open_together(const SourceRequest& wanted, const std::string& kind) {
    const std::vector<std::string> names = sources_in(wanted.name);
    if (names.size() < 2) {
        throw Error(ErrorCode::bad_setting, "is a single source", wanted.name,
                    fmt::format("name all of them: {}:A+B", kind));
    }
    std::vector<std::unique_ptr<Source>> parts;
    SourceRequest one = wanted_of_each(wanted, kind == "interleave");
    for (const std::string& name : names) {
        one.name = name;
        parts.push_back(open_source(one));
        if (one.settings.near_gpu >= 0) ++one.settings.near_gpu;
    }
    if (kind == "join") return std::make_unique<JoinedSource>(std::move(parts));
    return std::make_unique<InterleavedSource>(std::move(parts), wanted.settings, wanted.memory);
}

std::unique_ptr<Source> open_near_gpu(SourceRequest wanted) {
    NearGpu where = near_gpu(std::exchange(wanted.settings.near_gpu, -1), surveyed_gpus());
    return std::make_unique<NumaSource>(std::move(where), [&] { return open_source(wanted); });
}

}  // namespace

std::vector<std::string> sources_in(const std::string& name) {
    const SourceName whole(name);
    if (!puts_together(whole.kind)) return {name};
    std::vector<std::string> names;
    for (std::size_t begin = 0; begin <= whole.rest.size();) {
        const std::size_t end = std::min(whole.rest.find('+', begin), whole.rest.size());
        names.push_back(whole.rest.substr(begin, end - begin));
        begin = end + 1;
    }
    return names;
}

std::unique_ptr<Source> open_source(const SourceRequest& wanted) {
    const SourceName name(wanted.name);
    const std::string& kind = name.kind;
    const bool names_one = !name.rest.empty();
    check(wanted.settings, "source");
    const bool joins = kind == "join" && names_one;  // each near another GPU
    if (wanted.settings.near_gpu >= 0 && !joins) return open_near_gpu(wanted);
    if (puts_together(kind) && names_one) return open_together(wanted, kind);
    if (kind == "sim") return open_simulator(wanted);
    if (kind == "genicam") {
        if constexpr (has(Part::genicam)) return open_genicam(wanted);
        refuse_missing(Part::genicam, wanted.name);
    }
    if (kind == "gentl" && names_one) {
        if constexpr (has(Part::genicam)) return open_gentl(wanted);
        refuse_missing(Part::genicam, wanted.name);
    }
    if (kind == "replay" && names_one) return open_replay(wanted);
    if (kind == "plugin" && names_one) return open_plugin(wanted);
    if (kind == "shm" && names_one) return open_shared_memory(wanted);
    if (kind == "tcp" && names_one) return open_tcp(wanted);
    constexpr std::array<std::string_view, 9> kinds{"sim", "replay", "genicam", "gentl",     "plugin",
                                                    "shm", "tcp",    "join",    "interleave"};
    const std::string nearest = nearest_name(kind, kinds);
    const bool is_known = nearest == kind;  // and its argument is missing
    throw Error(ErrorCode::bad_setting, fmt::format("expected {}, got \"{}\"", source_names, wanted.name), "source",
                is_known || nearest.empty() ? "" : "did you mean " + nearest + "?");
}

std::vector<std::filesystem::path> gentl_producers() {
    const char* folders = std::getenv("GENICAM_GENTL64_PATH");
    std::vector<std::filesystem::path> found;
    std::istringstream list(folders == nullptr ? "" : folders);
    for (std::string folder; std::getline(list, folder, ':');) {
        std::error_code problem;
        for (std::filesystem::directory_iterator file(folder, problem), end; !problem && file != end;
             file.increment(problem)) {
            if (file->path().extension() == ".cti") found.push_back(file->path());
        }
    }
    std::ranges::sort(found);
    return found;
}

std::vector<std::string> sources_found() {
    std::string scenes;
    for (const std::string& name : asset_names(scene_files)) scenes += (scenes.empty() ? "" : ", ") + name;
    std::vector<std::string> found{
        "sim: simulated spectra; sim:SCENE (" + scenes + "), or sim:scan.toml of an earlier simulation",
        "replay:scan.toml: a scan on disk, at its line rate"};
    if constexpr (has(Part::genicam)) {
        const std::vector<std::string> cameras = genicam_cameras();
        found.insert(found.end(), cameras.begin(), cameras.end());
        if (cameras.empty())
            found.emplace_back("genicam, genicam:ID: a GenICam camera (GigE Vision, USB3 Vision); none found");
        const std::vector<std::filesystem::path> producers = gentl_producers();
        for (const std::filesystem::path& producer : producers)
            found.push_back("gentl:" + producer.string() + ": a frame grabber through its GenTL producer");
        if (producers.empty())
            found.emplace_back("gentl:FILE.cti: a frame grabber; no GenTL producer in GENICAM_GENTL64_PATH");
    } else {
        found.emplace_back("genicam: not in this build (build with -DECHOLUX_GENICAM=ON)");
    }
    found.emplace_back("plugin:FILE.so: an instrument's shared library (docs/plugins.md)");
    found.emplace_back("tcp://ADDRESS:PORT: spectra that an acquisition program sends to this address (docs/push.md)");
    found.emplace_back("join:A+B: instruments that record the same volumes together, alternating blocks of B-scans");
    found.emplace_back("interleave:A+B: instruments that alternate line by line");
    const std::vector<std::string> rings = shared_rings();
    for (const std::string& name : rings) found.push_back("shm:" + name + ": a program that pushes its spectra");
    if (rings.empty())
        found.emplace_back("shm:NAME: spectra that a program on this machine pushes; none found (docs/push.md)");
    return found;
}

namespace {

class SteadyPacingClock : public PacingClock {
  public:
    double now_s() override {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }

    bool sleep_until(double time_s, const std::stop_token& stop) override {
        using Time = std::chrono::steady_clock::time_point;
        const Time time(std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(time_s)));
        std::unique_lock lock(mutex_);
        woken_.wait_until(lock, stop, time, [] { return false; });
        return !stop.stop_requested();
    }

  private:
    std::mutex mutex_;
    std::condition_variable_any woken_;
};

}  // namespace

std::shared_ptr<PacingClock> steady_pacing_clock() {
    return std::make_shared<SteadyPacingClock>();
}

}  // namespace echolux
