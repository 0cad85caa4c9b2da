// Simulated scans in memory, and their ground truth.
#include <array>
#include <optional>

#include "app/operations/operation.h"
#include "compute/indexing.h"
#include "engine/memory.h"
#include "engine/simulate/instrument.h"
#include "engine/simulate/truth.h"
#include "library/call.h"

using namespace echolux;
using namespace echolux::library;

struct echolux_simulation : Handle<Kind::simulation> {
    echolux_simulation(const Simulation& simulation, std::vector<std::string> wanted)
        : instrument(simulation), settings(std::move(wanted)) {}

    const Truth& ground_truth() {
        if (!truth) truth = truth_of(instrument.simulation(), instrument.scenery(), instrument.pitch_um());
        return *truth;
    }

    Instrument instrument;
    std::vector<std::string> settings;  // scene and assignments
    std::optional<Truth> truth;         // computed on first use
};

namespace {

Simulation simulation_of(const std::string& scene, const std::vector<std::string>& assignments) {
    Simulation simulation;
    Settings settings;
    settings.bind("simulation", simulation);
    settings.set("simulation.scene", scene, "scene");
    for (const std::string& assignment : assignments) settings.set_assignment(assignment);
    return simulation;
}

// The interface has calibration in double precision.
std::vector<double> in_double(std::span<const float> values) {
    return {values.begin(), values.end()};
}

// Describes spectra in memory, without file headers and flyback.
Scan in_memory(const Instrument& instrument) {
    Scan scan = instrument.scan();
    scan.file = {};
    scan.geometry.volumes = 1;
    scan.geometry.flyback_lines = 0;
    scan.geometry.flyback_frames = 0;
    scan.calibration.background = in_double(instrument.camera().background());
    scan.calibration.dark = in_double(instrument.camera().dark());
    scan.calibration.wavelengths_nm = instrument.spectrometer().wavelengths_nm;
    return scan;
}

// The instrument records whole frames with flyback, of which only the kept lines are copied.
void record(Instrument& instrument, std::int64_t volume, std::int64_t first, std::int64_t b_scans, std::byte* to,
            Progress& progress) {
    const Simulation& s = instrument.simulation();
    const std::int64_t frame = instrument.pattern().lines_per_frame() * s.samples;
    const std::int64_t kept = s.a_scans * s.a_repeats * s.samples;  // flyback lines are at the end
    std::vector<std::uint16_t> counts(index(frame));
    progress.begin("simulate", b_scans * s.b_repeats * instrument.pattern().lines_per_frame(), "A-scans");
    for (std::int64_t f = first * s.b_repeats; f < (first + b_scans) * s.b_repeats; ++f) {
        instrument.record(volume, f, 1, counts, progress);
        const auto bytes = index(kept) * sizeof(counts[0]);
        std::memcpy(to, counts.data(), bytes);
        to += bytes;
    }
    progress.end();
}

// On the voxels of the scan's volume, where repeats are combined to one position.
Volume velocities_of(echolux_simulation& simulation) {
    Scan scan = in_memory(simulation.instrument);
    if (scan.geometry.a_repeats * scan.geometry.b_repeats > 1) scan.recipe.average = Average::power;
    return true_flow(simulation.ground_truth(), planned_grid(scan.spec(1)));
}

// A ground-truth array and its description for the caller.
struct TruthArray {
    echolux_truth described{};
    std::vector<std::byte> values;
};

template <class T>
TruthArray array_of(const std::vector<T>& values, std::int32_t voxel, const std::array<std::int64_t, 4>& shape) {
    const auto bytes = std::as_bytes(std::span(values));
    TruthArray array{{}, {bytes.begin(), bytes.end()}};
    array.described.bytes = std::ssize(array.values);
    array.described.voxel = voxel;
    std::ranges::copy(shape, array.described.shape);
    return array;
}

TruthArray truth_named(echolux_simulation& simulation, const std::string& name) {
    const Truth& truth = simulation.ground_truth();
    const TruthFacts& f = truth.facts;
    if (name == "boundaries_um") {
        return array_of(truth.boundaries_um, ECHOLUX_F32, {f.boundaries, f.b_scans, f.a_scans, 0});
    }
    if (name == "tubes") {
        return array_of(truth.axes, ECHOLUX_F32, {std::ssize(f.tube_radius_um), f.b_scans, f.a_scans, 3});
    }
    if (name == "labels") return array_of(truth.labels, ECHOLUX_U8, {f.b_scans, f.a_scans, f.depth_bins, 0});
    if (name == "en_face") return array_of(truth.en_face, ECHOLUX_U8, {f.b_scans, f.a_scans, 0, 0});
    if (name == "velocity_mm_s") {
        const Volume flow = velocities_of(simulation);
        return array_of(flow.voxels, ECHOLUX_F32, {flow.grid.b_scans, flow.grid.a_scans, flow.grid.depth, 0});
    }
    throw Error(ErrorCode::bad_setting, "the truth has no array of this name", name,
                "boundaries_um, tubes, labels, en_face or velocity_mm_s");
}

}  // namespace

echolux_status echolux_simulation_create(const char* scene, const char* const* assignments, size_t count,
                                         echolux_simulation** simulation, echolux_error* error) {
    return guarded(error, [&] {
        required(simulation, "simulation") = nullptr;
        const std::vector<std::string> wanted = texts_argument(assignments, count, "assignments");
        std::vector<std::string> all = wanted;
        all.insert(all.begin(), text_argument(scene, "scene"));
        *simulation = new echolux_simulation(simulation_of(all.front(), wanted), all);
    });
}

echolux_status echolux_simulation_free(echolux_simulation* simulation) {
    return free_handle(simulation);
}

echolux_status echolux_simulation_scan(const echolux_simulation* simulation, echolux_scan** scan,
                                       echolux_error* error) {
    return guarded(error, [&] {
        required(scan, "scan") = nullptr;
        *scan = new echolux_scan(in_memory(checked_handle(simulation, "simulation").instrument));
    });
}

echolux_status echolux_simulation_record(echolux_simulation* simulation, int64_t volume, int64_t first, int64_t b_scans,
                                         void* spectra, size_t bytes, echolux_progress progress, void* user,
                                         echolux_error* error) {
    return guarded(error, [&] {
        Instrument& instrument = checked_handle(simulation, "simulation").instrument;
        const Simulation& s = instrument.simulation();
        if (volume < 0) throw BadArgument("cannot be negative", "volume");
        if (first < 0 || b_scans < 1 || first > s.b_scans - b_scans)
            throw BadArgument("there are B-scans 0 to " + std::to_string(s.b_scans), "first");
        // Two bytes per u16 sample.
        const std::int64_t each = s.b_repeats * s.a_scans * s.a_repeats * s.samples * 2;
        if (bytes != index(b_scans * each))
            throw BadArgument("are not those of so many B-scans", "bytes", std::to_string(each) + " each");
        CallerProgress progress_shown(progress, user);
        record(instrument, volume, first, b_scans, &required(static_cast<std::byte*>(spectra), "spectra"),
               progress_shown);
    });
}

echolux_status echolux_simulation_write(const echolux_simulation* simulation, const char* scan_toml, int32_t overwrite,
                                        echolux_progress progress, void* user, echolux_error* error) {
    return guarded(error, [&] {
        const echolux_simulation& from = checked_handle(simulation, "simulation");
        const std::unique_ptr<Operation> simulate = operation_named("simulate").make();
        // The scene is the first of the settings.
        simulate->set_text("scene", from.settings.front());
        for (std::size_t i = 1; i < from.settings.size(); ++i) simulate->set_assignment(from.settings[i]);
        simulate->set_text("output", text_argument(scan_toml, "scan_toml"));
        CallerProgress progress_shown(progress, user);
        Context context{progress_shown, {}, overwrite != 0};
        simulate->run(context);
    });
}

echolux_status echolux_simulation_facts(const echolux_simulation* simulation, char* buffer, size_t size, size_t* needed,
                                        echolux_error* error) {
    return guarded(error, [&] {
        const Instrument& instrument = checked_handle(simulation, "simulation").instrument;
        // Facts follow from the settings, so the arrays of the ground truth are not computed.
        const TruthFacts facts = facts_of(instrument.simulation(), instrument.scenery(), instrument.pitch_um());
        copy_text_out(toml_of(facts), buffer, size, needed);
    });
}

echolux_status echolux_simulation_truth(echolux_simulation* simulation, const char* name, echolux_truth* truth,
                                        void* values, size_t bytes, echolux_error* error) {
    return guarded(error, [&] {
        const TruthArray array = truth_named(checked_handle(simulation, "simulation"), text_argument(name, "name"));
        if (truth != nullptr) copy_out(truth, array.described, "truth");
        // Only the description was requested.
        if (values == nullptr && bytes == 0) return;
        if (bytes != array.values.size()) {
            throw BadArgument("are not those of the array", "bytes", std::to_string(array.values.size()));
        }
        if (bytes > 0) std::memcpy(&required(static_cast<std::byte*>(values), "values"), array.values.data(), bytes);
    });
}
