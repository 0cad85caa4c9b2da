// Describes the settings of the simulated instrument, and writes its spectra in groups of acquired B-scans.
#include "engine/simulate/simulator.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "engine/io/atomic_file.h"
#include "engine/io/output_rule.h"
#include "engine/scan/raw_spectra.h"
#include "engine/scan/scan.h"
#include "engine/simulate/instrument.h"
#include "engine/simulate/scene.h"
#include "engine/simulate/truth.h"

namespace echolux {
namespace {

constexpr std::int64_t group_bytes = std::int64_t{32} << 20;  // spectra in memory at a time

// Writes all frames with their headers. Memory is limited to one group of B-scans.
void write_spectra(Instrument& instrument, OutputFile& file, Progress& progress) {
    const Simulation& s = instrument.simulation();
    const ScanPattern& pattern = instrument.pattern();
    const std::int64_t frame_samples = pattern.lines_per_frame() * s.samples;
    const std::int64_t group = std::clamp<std::int64_t>(group_bytes / (2 * frame_samples), 1, pattern.frames());
    std::vector<std::uint16_t> counts(index(group * frame_samples));
    std::int64_t sequence = 0;
    for (std::int64_t volume = 0; volume < s.volumes; ++volume) {
        for (std::int64_t first = 0; first < pattern.frames(); first += group) {
            const std::int64_t count = std::min(group, pattern.frames() - first);
            instrument.record(volume, first, count, counts, progress);
            for (std::int64_t frame = 0; frame < count; ++frame, ++sequence) {
                const auto bytes =
                    std::as_bytes(std::span(counts).subspan(index(frame * frame_samples), index(frame_samples)));
                const double time_s = instrument.time_s(sequence * pattern.lines_per_frame());
                file.write(frame_header(static_cast<std::uint64_t>(sequence), time_s, bytes));
                file.write(bytes);
            }
        }
    }
}

// Returns the scan description with which `reconstruct` needs no further settings.
Scan described(const Instrument& instrument, const std::filesystem::path& scan_toml) {
    const std::string stem = scan_toml.stem().string();
    Scan scan = instrument.scan();
    scan.path = scan_toml;
    const auto& [raw, background, dark, wavelengths] = companion_endings;
    scan.file.file = stem + raw;
    scan.calibration_files.background = stem + background;
    scan.calibration_files.dark = stem + dark;
    scan.calibration_files.wavelengths = stem + wavelengths;
    return scan;
}

}  // namespace

void simulate(const Simulation& simulation, const std::filesystem::path& scan_toml, Progress& progress) {
    simulate(simulation, {}, scan_toml, progress);
}

void simulate(const Simulation& simulation, const BeamGeometry& beam, const std::filesystem::path& scan_toml,
              Progress& progress) {
    if (scan_toml.extension() != ".toml") {
        throw Error(ErrorCode::bad_setting, "the name of a scan ends in .toml", scan_toml.string(),
                    "for example scan.toml");
    }
    check_can_be_written(scan_toml);
    Instrument instrument(simulation, beam);
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
    progress.begin("simulate", instrument.pattern().lines() * s.volumes, "A-scans");
    write_spectra(instrument, spectra, progress);
    write_truth(folder / "truth", s, instrument.scenery(), instrument.pitch_um());
    for (const auto& file : calibration) file->commit();
    spectra.commit();
    BeamGeometry geometry = beam;
    Settings bent;
    bent.bind("geometry", geometry);
    const std::string toml = bent.toml();
    write_text(scan.path, scan_toml_heading + ("\n" + echolux::scan_toml(scan)) + (toml.empty() ? "" : "\n" + toml));
    progress.end();
}

// ---- Describes the parameters of the simulated instrument and its scenes.

namespace {

// The choices are the shipped and the user's scenes, so this field cannot be a constant.
Field<Simulation> scene_field() {
    static const std::vector<std::string> names = asset_names(scene_files);
    Field<Simulation> field = text("scene", &Simulation::scene, Effect::file, "simulated scene");
    field.choices.assign(names.begin(), names.end());
    return field;
}

// Range and help of a field of the scan that differ between simulations and recordings.
struct SimulatedField {
    std::string_view name;
    double low = 0;
    double high = 0;
    std::string_view help{};  // empty: as in a scan
};

constexpr double max_lines = 1 << 20;

constexpr std::array simulated_fields{
    SimulatedField{"samples", 128, 1 << 14, "samples of one spectrum; sets the depth range"},
    SimulatedField{"a_scans", 1, max_lines},
    SimulatedField{"b_scans", 1, max_lines,
                   "B-scan positions in a volume, crosses included; the protocols cross and four_slices have 2 and 4"},
    SimulatedField{"volumes", 1, max_lines, "volumes, one after the other without a pause"},
    SimulatedField{"spacing_a_um", 0, 1e4, "distance between A-scans; 0: from the scene"},
    SimulatedField{"spacing_b_um", 0, 1e4, "distance between parallel B-scans; 0: from the scene"},
    SimulatedField{"refractive_index", 0, 3, "refractive index below zero delay; 0: from the scene"},
    SimulatedField{"line_rate_hz", 1, 1e8, "lines per second, including the flyback"},
    SimulatedField{"flyback_lines", 0, max_lines},
    SimulatedField{"flyback_frames", 0, max_lines},
    SimulatedField{"fast_axis", 0, 0, "how the beam moves along a B-scan: evenly, or as a sine (resonant scanner)"},
};

// Inserts the fields of the scan after scene and seed.
std::vector<Field<Simulation>> with_scan(std::vector<Field<Simulation>> fields) {
    std::vector<Field<Simulation>> scan;
    add_part<Simulation, ScanGeometry>(scan);
    std::erase_if(scan, [](const auto& field) { return field.name == "depth_flip"; });  // the scene is on one side
    for (Field<Simulation>& field : scan) {
        // Conditions, special values and practical ranges are those of recordings.
        static_cast<FieldText&>(field) = {field.name, field.unit, field.help,   field.effect,
                                          field.low,  field.high, field.choices};
        if (field.name == "fast_axis") std::erase(field.choices, "file");
        const auto* own = std::ranges::find(simulated_fields, field.name, &SimulatedField::name);
        if (own == simulated_fields.end()) continue;
        field.low = own->low;
        field.high = own->high;
        if (!own->help.empty()) field.help = own->help;
    }
    fields.insert(fields.begin() + 2, scan.begin(), scan.end());
    return fields;
}

}  // namespace

template <>
const std::vector<Field<Simulation>>& describe<Simulation>() {
    using S = Simulation;
    constexpr Effect effect = Effect::file;
    static const std::vector<Field<S>> fields = with_scan({
        scene_field(),
        integer("seed", &S::seed, 0, std::int64_t{1} << 52, "", effect, "seed of the scatterers and the noise"),

        number("centre_nm", &S::centre_nm, 300, 3000, "nm", effect, "centre wavelength"),
        number("bandwidth_nm", &S::bandwidth_nm, 1, 500, "nm", effect, "FWHM of the source's power spectrum"),
        number("span_nm", &S::span_nm, 1, 1000, "nm", effect, "wavelength range from the first to the last sample"),
        number("curve2_nm", &S::curve2_nm, -100, 100, "nm", effect,
               "quadratic part of the wavelength map: times (u^2 - 1), u = -1..1 along the samples"),
        number("curve3_nm", &S::curve3_nm, -100, 100, "nm", effect,
               "cubic part of the wavelength map: times (u^3 - u)"),
        number("a2_rad", &S::a2_rad, -1e4, 1e4, "rad", effect,
               "quadratic dispersion of the sample arm, phase at the band edge"),
        number("a3_rad", &S::a3_rad, -1e4, 1e4, "rad", effect,
               "cubic dispersion of the sample arm, phase at the band edge"),
        flag("roll_off", &S::roll_off, effect, "pixels of full width: fringes fade as sinc(z / 2 z_max)"),

        integer("adc_bits", &S::adc_bits, 6, 16, "bits", effect, "resolution of the camera; samples are stored as u16"),
        number("dark_counts", &S::dark_counts, 0, 60'000, "counts", effect, "counts without light"),
        number("reference_level", &S::reference_level, 0.001, 1, "", effect,
               "the reference arm's peak above dark, as a fraction of full scale"),
        number("full_well_electrons", &S::full_well_electrons, 0, 1e12, "electrons", effect,
               "electrons at full scale, which set the shot noise; 0: no shot noise"),
        number("read_noise_electrons", &S::read_noise_electrons, 0, 1e9, "electrons", effect,
               "receiver noise, rms; in counts if full_well_electrons is 0"),

        number("beam_radius_um", &S::beam_radius_um, 0.5, 1000, "um", effect,
               "w0: A-scans dx apart correlate as exp(-dx^2 / w0^2)"),
        flag("confocal", &S::confocal, effect, "sensitivity falls off away from a focus at 40 % of the depth range"),
        number("brightness", &S::brightness, 0, 1, "", effect,
               "rms fringe amplitude of one resolution cell of the brightest tissue, relative to the reference level"),
        integer("scatterers_per_cell", &S::scatterers_per_cell, 1, 1000, "", effect,
                "scatterers in a resolution cell; speckle is fully developed from 10 on"),

        numbers("mirror_um", &S::mirror_um, 0, 1e5, "um", effect, "scene mirror: depths of the reflectors"),
        numbers("mirror_amplitude", &S::mirror_amplitude, 0, 1, "", effect,
                "scene mirror: fringe amplitudes relative to the reference level"),
        choice("relief", &S::relief, {"flat", "tilted", "curved"}, effect, "scene layers: form of the boundaries"),
        number("flow_mm_s", &S::flow_mm_s, -1000, 1000, "mm/s", effect,
               "scenes vessel and retina: mean over time of the speed on the axis of the widest vessel"),
        number("flow_ul_s", &S::flow_ul_s, -1000, 1000, "uL/s", effect,
               "scene capillary: steady flow; positive flows to greater depth"),
        number("tilt_deg", &S::tilt_deg, 0, 60, "deg", effect,
               "scene capillary: descent of the tube along the slow axis; the Doppler angle is 90 deg minus this"),
        number("heart_rate_hz", &S::heart_rate_hz, 0, 100, "Hz", effect,
               "heart beats per second: of the blood in the scenes vessel and retina, and of motion"),
        number("pulsation", &S::pulsation, 0, 1, "", effect,
               "scenes vessel and retina: speed = mean * (1 + pulsation * sin(2 pi heart_rate t))"),

        number("motion_axial_um", &S::motion_axial_um, 0, 1000, "um", effect,
               "amplitude of axial tissue motion (drift, heartbeat and tremor); 0: none"),
        number("motion_lateral_um", &S::motion_lateral_um, 0, 1000, "um", effect,
               "amplitude of lateral tissue motion along both axes; saccades are twice as long on average; 0: none"),
        number("motion_saccade_rate_hz", &S::motion_saccade_rate_hz, 0, 100, "Hz", effect,
               "saccades per second on average; every second one returns"),
        integer("motion_seed", &S::motion_seed, 0, std::int64_t{1} << 52, "", effect, "seed of the motion"),
        text("motion_file", &S::motion_file, effect,
             "file: CSV t_s, x_um, y_um, z_um of motion, added to the motion of the other settings; constant before "
             "the first and after the last line")
            .file({".csv"}),
        number("renewal_s", &S::renewal_s, 0, 1e6, "s", effect,
               "time in which the correlation of the field of tissue falls to 1/e; 0: speckle is static"),
    });
    return fields;
}

Simulation with_scene_defaults(Simulation simulation) {
    const SceneWords scene = scene_named(simulation.scene).scene;
    if (simulation.spacing_a_um == 0) simulation.spacing_a_um = scene.spacing_a_um;
    if (simulation.protocol == Protocol::cross) simulation.b_scans = 2;
    if (simulation.protocol == Protocol::four_slices) simulation.b_scans = 4;
    if (simulation.spacing_b_um == 0) {
        const double field_um = simulation.spacing_a_um * static_cast<double>(simulation.a_scans);
        simulation.spacing_b_um = simulation.protocol == Protocol::four_slices ? field_um / 4 : 8;
    }
    if (simulation.refractive_index == 0) simulation.refractive_index = scene.refractive_index;
    return simulation;
}

bool is_own_simulation(const std::filesystem::path& scan_toml) {
    std::error_code problem;
    return begins_with(scan_toml, scan_toml_heading) && !holds_near_an_end(scan_toml, "[recording]") &&
           std::filesystem::exists(scan_toml.parent_path() / "truth" / "truth.toml", problem);
}

std::vector<Output> outputs_of_simulation(const std::filesystem::path& scan_toml) {
    const std::filesystem::path folder = scan_toml.parent_path();
    const auto is_overwritten = [is_own = is_own_simulation(scan_toml)](const std::filesystem::path&) {
        return is_own;
    };
    std::vector<Output> outputs{{scan_toml, is_overwritten, {".toml"}}, {folder / "truth", is_overwritten}};
    for (const char* ending : companion_endings) {
        outputs.push_back({folder / (scan_toml.stem().string() + ending), is_overwritten});
    }
    return outputs;
}

}  // namespace echolux
