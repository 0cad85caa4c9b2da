// Writes the spectra of the simulated instrument in groups of acquired B-scans.
#include "engine/simulate/simulator.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/output_file.h"
#include "engine/scan/frame_header.h"
#include "engine/scan/scan.h"
#include "engine/simulate/instrument.h"
#include "engine/simulate/simulated_files.h"
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
    std::vector<std::uint16_t> counts(static_cast<std::size_t>(group * frame_samples));
    std::int64_t sequence = 0;
    for (std::int64_t volume = 0; volume < s.volumes; ++volume) {
        for (std::int64_t first = 0; first < pattern.frames(); first += group) {
            const std::int64_t count = std::min(group, pattern.frames() - first);
            instrument.record(volume, first, count, counts, progress);
            for (std::int64_t frame = 0; frame < count; ++frame, ++sequence) {
                const auto bytes = std::as_bytes(std::span(counts).subspan(
                    static_cast<std::size_t>(frame * frame_samples), static_cast<std::size_t>(frame_samples)));
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
    progress.begin("simulate", instrument.pattern().lines() * s.volumes, "A-scans");
    write_spectra(instrument, spectra, progress);
    write_truth(folder / "truth", s, instrument.scenery(), instrument.pitch_um());
    for (const auto& file : calibration) file->commit();
    spectra.commit();
    write_scan_toml(scan);
    progress.end();
}

}  // namespace echolux
