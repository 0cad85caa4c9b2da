// The simulator as a live source. Simulating while displaying would slow down both, so a few volumes are simulated once
// or taken from an earlier recording, and are sent repeatedly. Blood flow is continuous between volumes, and jumps
// where the first volume follows the last.
#include <algorithm>
#include <cstring>
#include <sstream>
#include <string_view>

#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/acquire/source_kinds.h"
#include "engine/acquire/stored_volumes.h"
#include "engine/simulate/instrument.h"
#include "engine/simulate/scene.h"
#include "engine/simulate/truth.h"

namespace echolux {
namespace {

class LiveSimulator : public PacedSource {
  public:
    LiveSimulator(const Simulation& simulation, Scan scan, const Pacing& pacing, std::unique_ptr<BlockFeed> feed,
                  std::shared_ptr<PacingClock> clock)
        : PacedSource("simulator (" + std::get<std::string>(value_of(simulation, "scene")) + ")", std::move(scan),
                      {.sets_line_rate = true, .has_truth = true}, pacing, std::move(feed), std::move(clock)),
          simulation_(simulation) {}

    void write_truth(const std::filesystem::path& folder) const override {
        const Instrument instrument(simulation_);
        echolux::write_truth(folder, instrument.simulation(), instrument.scenery(), instrument.pitch_um());
    }

  private:
    Simulation simulation_;
};

// Small enough to simulate within a few seconds on two cores.
Simulation live_defaults() {
    return {.a_scans = 96, .b_scans = 64, .volumes = 4};
}

// The prefixes simulation and scan are equivalent.
bool is_of_scan(std::string_view assignment) {
    return assignment.starts_with("simulation.") || assignment.starts_with("scan.");
}

// Returns the scene's recommended settings, followed by the user's.
std::vector<std::string> assignments_of(const SourceWanted& wanted, const std::string& scene) {
    std::vector<std::string> all;
    std::istringstream words(scene.empty() ? "" : scene_named(scene).scene.live);
    for (std::string word; words >> word;) all.push_back(word);
    all.insert(all.end(), wanted.assignments.begin(), wanted.assignments.end());
    return all;
}

// Applies scene, assignments and line rate to the defaults, in this order.
Simulation simulation_of(const SourceWanted& wanted, const std::string& scene) {
    Simulation simulation = live_defaults();
    Settings settings;
    settings.bind("simulation", simulation);
    if (!scene.empty()) settings.set("simulation.scene", scene, "source");
    for (const std::string& assignment : assignments_of(wanted, scene)) {
        const std::string key = assignment.substr(assignment.find('.') + 1);
        if (is_of_scan(assignment)) settings.set_assignment("simulation." + key);
    }
    if (wanted.settings.line_rate_hz > 0) simulation.line_rate_hz = wanted.settings.line_rate_hz;
    return simulation;
}

// Assignments outside of simulation and scan are calibration and recipe settings.
void set_processing(Scan& scan, const std::vector<std::string>& assignments) {
    Settings settings;
    settings.bind("calibration", scan.calibration);
    bind_recipe(settings, scan);
    for (const std::string& assignment : assignments) {
        if (!is_of_scan(assignment)) settings.set_assignment(assignment);
    }
}

// Copies lines of B-scans after the space for their headers.
void expose(Instrument& instrument, std::int64_t volume, std::int64_t first_frame, std::span<std::byte> block,
            Progress& progress) {
    const std::int64_t frame_samples = instrument.pattern().lines_per_frame() * instrument.simulation().samples;
    const std::int64_t stride = frame_header_bytes + 2 * frame_samples;
    const std::int64_t frames = static_cast<std::int64_t>(block.size()) / stride;
    std::vector<std::uint16_t> counts(static_cast<std::size_t>(frames * frame_samples));
    instrument.record(volume, first_frame, frames, counts, progress);
    for (std::int64_t frame = 0; frame < frames; ++frame) {
        std::memcpy(block.data() + frame * stride + frame_header_bytes, counts.data() + frame * frame_samples,
                    static_cast<std::size_t>(2 * frame_samples));
    }
}

// Simulates volumes of a scene. Background, dark spectrum and wavelengths are those of the simulated instrument.
std::unique_ptr<Source> simulated(const SourceWanted& wanted, const std::string& scene,
                                  std::shared_ptr<PacingClock> clock) {
    const auto shared = std::make_shared<Instrument>(simulation_of(wanted, scene));  // also used by the thread
    Instrument& instrument = *shared;
    const Simulation& s = instrument.simulation();
    Scan scan = instrument.scan();
    scan.path = "simulator";
    const std::vector<float> background = instrument.camera().background();
    const std::vector<float> dark = instrument.camera().dark();
    scan.calibration.background.assign(background.begin(), background.end());
    scan.calibration.dark.assign(dark.begin(), dark.end());
    scan.calibration.wavelengths_nm = instrument.spectrometer().wavelengths_nm;
    set_processing(scan, assignments_of(wanted, scene));
    const Pacing pacing = paced(wanted.settings, scan, s.line_rate_hz);

    SilentProgress silent;
    Progress& progress = wanted.progress != nullptr ? *wanted.progress : silent;
    const std::int64_t made_first = wanted.begins_early ? 1 : s.volumes;
    progress.begin("simulate", instrument.pattern().lines() * made_first, "A-scans");
    const auto load = [shared, made_first, heard = &progress](std::int64_t volume, std::int64_t first, std::int64_t,
                                                              std::span<std::byte> block) {
        SilentProgress nobody_hears;
        // The caller's progress object may not exist later.
        Progress& hears = volume < made_first ? *heard : nobody_hears;
        expose(*shared, volume, first * shared->simulation().b_repeats, block, hears);
    };
    auto feed = std::make_unique<StoredVolumes>(scan, pacing.block_b_scans, wanted.memory, load, wanted.begins_early);
    progress.end();
    return std::make_unique<LiveSimulator>(s, std::move(scan), pacing, std::move(feed), std::move(clock));
}

// Loads the volumes from a recording of the simulator.
std::unique_ptr<Source> simulated_before(const SourceWanted& wanted, const std::string& path,
                                         std::shared_ptr<PacingClock> clock) {
    Scan scan = open_scan(path, wanted.assignments);
    const double wanted_hz = wanted.settings.line_rate_hz;
    const Pacing pacing = paced(wanted.settings, scan, wanted_hz > 0 ? wanted_hz : scan.geometry.line_rate_hz);
    SpectraReader reader(scan);
    auto feed = std::make_unique<StoredVolumes>(
        scan, pacing.block_b_scans, wanted.memory,
        [&](std::int64_t volume, std::int64_t first, std::int64_t count, std::span<std::byte> block) {
            reader.read_recorded(volume, first, count, block);
        });
    return std::make_unique<PacedSource>("simulator (" + path + ")", std::move(scan),
                                         SourceCapabilities{.sets_line_rate = true}, pacing, std::move(feed),
                                         std::move(clock));
}

}  // namespace

std::unique_ptr<Source> open_simulator(const SourceWanted& wanted, std::shared_ptr<PacingClock> clock) {
    const std::string what = SourceName(wanted.name).rest;
    const bool is_file = what.find_first_of("./") != std::string::npos;
    return is_file ? simulated_before(wanted, what, std::move(clock)) : simulated(wanted, what, std::move(clock));
}

}  // namespace echolux
