// Puts the simulated instrument together and writes its recording, some B-scans at a time.
#include "engine/acquire/simulator.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>

#include "compute/error.h"
#include "compute/parallel_for.h"
#include "engine/acquire/blood.h"
#include "engine/acquire/camera.h"
#include "engine/acquire/counter_random.h"
#include "engine/acquire/frame_header.h"
#include "engine/acquire/output_file.h"
#include "engine/acquire/tissue.h"
#include "engine/acquire/truth.h"
#include "engine/io/atomic_file.h"
#include "engine/memory_budget.h"
#include "engine/scan.h"

namespace echolux {
namespace {

constexpr std::int64_t group_bytes = std::int64_t{32} << 20;  // of spectra in memory at a time

Simulation validated(const Simulation& simulation) {
    check(simulation, "simulation");
    Simulation s = with_scene_defaults(simulation);
    // The product is taken in long double: it can neither overflow nor wrap.
    const long double bytes = 2.0L * s.samples * s.a_scans * s.b_scans * s.volumes * s.a_repeats * s.b_repeats;
    const long double frame_bytes = 2.0L * s.samples * s.a_scans * s.a_repeats;
    if (frame_bytes >= 0x1p32L) {
        throw Error(ErrorCode::bad_setting, "one B-scan would be larger than 4 GiB", "simulation.a_scans",
                    "choose fewer A-scans, repeats or samples");
    }
    if (bytes > 0x1p50L) {
        throw Error(ErrorCode::bad_setting, "the recording would be larger than a petabyte", "simulation.volumes",
                    "choose fewer volumes, B-scans or A-scans");
    }
    require_memory(static_cast<std::int64_t>(frame_bytes) * s.b_repeats, "simulation",
                   "choose fewer A-scans, repeats or samples");
    return s;
}

// What one thread needs for a line, kept from line to line.
struct Workspace {
    SlabLists lists;
    std::vector<float> fixed;    // moments of tissue
    std::vector<float> moments;  // and of blood
    std::vector<float> fringes;
};

// All parts in the order in which they need one another.
class Instrument {
  public:
    explicit Instrument(const Simulation& simulation)
        : s_(validated(simulation)), spectrometer_(s_), scenery_(s_, spectrometer_.z_max_um() / s_.refractive_index),
          camera_(s_, spectrometer_), sum_(spectrometer_, scenery_.deepest_um * s_.refractive_index),
          arm_(s_, scenery_, spectrometer_, sum_), tissue_(arm_, hashed(seed(), 1)), blood_(arm_, hashed(seed(), 2)) {
        add_reflectors();
    }

    // Spectra of B-scan positions [first, first + count) of a volume, frame after frame.
    void record(std::int64_t volume, std::int64_t first, std::int64_t count, std::span<std::uint16_t> counts,
                Progress& progress);

    const Simulation& simulation() const { return s_; }
    const Spectrometer& spectrometer() const { return spectrometer_; }
    const Scenery& scenery() const { return scenery_; }
    const Camera& camera() const { return camera_; }

    std::int64_t lines_per_frame() const { return s_.a_scans * s_.a_repeats; }
    double time_s(std::int64_t line) const { return static_cast<double>(line) / s_.line_rate_hz; }
    double pitch_um() const { return spectrometer_.pitch_um / s_.refractive_index; }

  private:
    std::uint64_t seed() const { return static_cast<std::uint64_t>(s_.seed); }
    void add_reflectors();

    // One A-scan position of one frame: all its repeats. `line` counts all lines of the recording.
    void expose(const Blood::Section& section, std::int64_t a_scan, std::int64_t line, Workspace& work,
                std::span<std::uint16_t> counts) const;
    void add(const SlabLists& lists, std::vector<float>& moments) const;

    Simulation s_;
    Spectrometer spectrometer_;
    Scenery scenery_;
    Camera camera_;
    SpectrumSum sum_;
    SampleArm arm_;
    Tissue tissue_;
    Blood blood_;
    std::vector<float> mirror_fringes_;  // the same for all lines
};

void Instrument::add_reflectors() {
    mirror_fringes_.resize(static_cast<std::size_t>(s_.samples));
    for (std::size_t p = 0; p < mirror_fringes_.size(); ++p) {
        double fringe = 0;
        for (const Reflector& reflector : scenery_.reflectors) {
            const double phase = 2 * spectrometer_.k_per_um[p] * s_.refractive_index * reflector.depth_um;
            fringe += reflector.amplitude * arm_.sensitivity(reflector.depth_um) *
                      std::cos(phase + spectrometer_.theta_rad[p]);
        }
        mirror_fringes_[p] = static_cast<float>(fringe);
    }
}

void Instrument::add(const SlabLists& lists, std::vector<float>& moments) const {
    for (std::int64_t slab = 0; slab < sum_.slabs(); ++slab) {
        const SlabLists::List& list = lists.lists[static_cast<std::size_t>(slab)];
        sum_.add(slab,
                 {list.u.data(), list.real.data(), list.imaginary.data(), static_cast<std::int64_t>(list.u.size())},
                 moments);
    }
}

void Instrument::expose(const Blood::Section& section, std::int64_t a_scan, std::int64_t line, Workspace& work,
                        std::span<std::uint16_t> counts) const {
    const auto samples = static_cast<std::size_t>(s_.samples);
    const double x = static_cast<double>(a_scan) * s_.spacing_a_um;
    work.lists.lists.resize(static_cast<std::size_t>(sum_.slabs()));
    work.fringes.resize(samples);
    work.fixed.assign(sum_.moments(), 0);
    work.lists.clear();
    tissue_.gather(x, section.y, work.lists);
    add(work.lists, work.fixed);
    for (std::int64_t repeat = 0; repeat < s_.a_repeats; ++repeat) {
        work.moments = work.fixed;
        work.lists.clear();
        blood_.gather(section, x, time_s(line + repeat), work.lists);
        add(work.lists, work.moments);
        sum_.fringes(work.moments, work.fringes);
        for (std::size_t p = 0; p < samples; ++p) work.fringes[p] += mirror_fringes_[p];
        camera_.expose(work.fringes, static_cast<std::uint64_t>(line + repeat),
                       counts.subspan(static_cast<std::size_t>(repeat) * samples, samples));
    }
}

void Instrument::record(std::int64_t volume, std::int64_t first, std::int64_t count, std::span<std::uint16_t> counts,
                        Progress& progress) {
    const double first_um = static_cast<double>(first) * s_.spacing_b_um;
    tissue_.prepare(first_um, first_um + static_cast<double>(count - 1) * s_.spacing_b_um);
    std::vector<Blood::Section> sections(static_cast<std::size_t>(count));
    parallel_for(0, count, [&](std::int64_t b) {
        sections[static_cast<std::size_t>(b)] = blood_.section(first_um + static_cast<double>(b) * s_.spacing_b_um);
    });
    const std::int64_t first_frame = (volume * s_.b_scans + first) * s_.b_repeats;
    const std::int64_t place_samples = s_.a_repeats * s_.samples;  // all lines of one place
    constexpr std::int64_t batch = 64;                             // places between two looks at the progress
    const std::int64_t places = count * s_.b_repeats * s_.a_scans;
    std::mutex progress_mutex;
    parallel_for(0, (places + batch - 1) / batch, [&](std::int64_t piece) {
        const std::int64_t end = std::min(places, (piece + 1) * batch);
        Workspace work;
        for (std::int64_t place = piece * batch; place < end; ++place) {
            const std::int64_t frame = place / s_.a_scans;
            const std::int64_t a_scan = place % s_.a_scans;
            const Blood::Section& section = sections[static_cast<std::size_t>(frame / s_.b_repeats)];
            const std::int64_t line = (first_frame + frame) * lines_per_frame() + a_scan * s_.a_repeats;
            expose(section, a_scan, line, work,
                   counts.subspan(static_cast<std::size_t>(place * place_samples),
                                  static_cast<std::size_t>(place_samples)));
        }
        const std::lock_guard lock(progress_mutex);
        progress.advance((end - piece * batch) * s_.a_repeats);
    });
}

// B-scan positions that are computed together: enough for all threads, few enough for memory. The beam reaches a few
// B-scans anyway, so twice its reach of tissue costs little.
std::int64_t group_size(const Simulation& s) {
    const std::int64_t by_bytes = group_bytes / (2 * s.samples * s.a_scans * s.a_repeats * s.b_repeats);
    const auto by_tissue = static_cast<std::int64_t>(std::min(8 * s.beam_radius_um / s.spacing_b_um, 1e6)) + 1;
    return std::clamp<std::int64_t>(std::min(by_bytes, by_tissue), 1, s.b_scans);
}

void write_spectra(Instrument& instrument, OutputFile& file, Progress& progress) {
    const Simulation& s = instrument.simulation();
    const std::int64_t frame_samples = instrument.lines_per_frame() * s.samples;
    const std::int64_t group = group_size(instrument.simulation());
    std::vector<std::uint16_t> counts(static_cast<std::size_t>(group * s.b_repeats * frame_samples));
    std::int64_t sequence = 0;
    for (std::int64_t volume = 0; volume < s.volumes; ++volume) {
        for (std::int64_t first = 0; first < s.b_scans; first += group) {
            const std::int64_t count = std::min(group, s.b_scans - first);
            instrument.record(volume, first, count, counts, progress);
            for (std::int64_t frame = 0; frame < count * s.b_repeats; ++frame, ++sequence) {
                const auto bytes = std::as_bytes(std::span(counts).subspan(
                    static_cast<std::size_t>(frame * frame_samples), static_cast<std::size_t>(frame_samples)));
                const double time_s = instrument.time_s(sequence * instrument.lines_per_frame());
                file.write(frame_header(static_cast<std::uint64_t>(sequence), time_s, bytes));
                file.write(bytes);
            }
        }
    }
}

// The TOML that makes `reconstruct` work without any further setting.
Scan described(const Instrument& instrument, const std::filesystem::path& scan_toml) {
    const Simulation& s = instrument.simulation();
    const std::string stem = scan_toml.stem().string();
    Scan scan;
    scan.path = scan_toml;
    scan.file = {.file = stem + ".raw", .frame_offset_bytes = 32};
    scan.format.bits = s.adc_bits;
    scan.geometry = {.samples = s.samples,
                     .a_scans = s.a_scans,
                     .b_scans = s.b_scans,
                     .volumes = s.volumes,
                     .a_repeats = s.a_repeats,
                     .b_repeats = s.b_repeats,
                     .spacing_a_um = s.spacing_a_um,
                     .spacing_b_um = s.spacing_b_um,
                     .refractive_index = s.refractive_index,
                     .line_rate_hz = s.line_rate_hz};
    scan.calibration_files.background = stem + ".background.f32";
    scan.calibration_files.dark = stem + ".dark.f32";
    scan.calibration_files.wavelengths = stem + ".wavelengths.f64";
    scan.recipe.background = Background::stored;
    scan.recipe.a2_rad = s.a2_rad;
    scan.recipe.a3_rad = s.a3_rad;
    const double deepest_bin = std::ceil(instrument.scenery().deepest_um / instrument.pitch_um());
    scan.recipe.depth_end = std::min(static_cast<std::int64_t>(deepest_bin), s.samples / 2);
    return scan;
}

}  // namespace

void simulate(const Simulation& simulation, const std::filesystem::path& scan_toml, Progress& progress) {
    if (scan_toml.extension() != ".toml") {
        throw Error(ErrorCode::bad_setting, "the name of a scan ends in .toml", scan_toml.string(),
                    "for example scan.toml");
    }
    check_can_be_written(scan_toml);
    Instrument instrument(simulation);
    const Scan scan = described(instrument, std::filesystem::absolute(scan_toml));
    const std::filesystem::path folder = scan.path.parent_path();
    const auto begun = [&](const std::string& name, auto bytes) {
        auto file = std::make_unique<OutputFile>(folder / name);
        file->write(bytes);
        file->close();
        return file;
    };
    const std::vector<float> background = instrument.camera().background();
    const std::vector<float> dark = instrument.camera().dark();
    const CalibrationFiles& names = scan.calibration_files;
    const Simulation& s = instrument.simulation();

    OutputFile spectra(folder / scan.file.file);
    const std::array calibration{
        begun(names.background, std::as_bytes(std::span(background))),
        begun(names.dark, std::as_bytes(std::span(dark))),
        begun(names.wavelengths, std::as_bytes(std::span(instrument.spectrometer().wavelengths_nm)))};
    progress.begin("simulate", instrument.lines_per_frame() * s.b_scans * s.b_repeats * s.volumes, "A-scans");
    write_spectra(instrument, spectra, progress);
    write_truth(folder / "truth", s, instrument.scenery(), instrument.pitch_um());
    for (const auto& file : calibration) file->commit();
    spectra.commit();
    write_scan_toml(scan);
    progress.end();
}

}  // namespace echolux
