// A scan: raw spectra on disk, how they were recorded, what was calibrated and how to reconstruct them. Described by a
// TOML file beside the raw data (docs/scan-files.md), or by the raw file itself where its format says enough
// (SD01RAW2, Thorlabs .oct), or by what another program wrote beside it (OCTproZ, AO-OCT .unp).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/plan/params.h"
#include "compute/reconstructor.h"
#include "engine/scan/recording_notes.h"
#include "engine/scan/settings.h"
#include "engine/scan/spectra_layout.h"

namespace echolux {

// [calibration] keys that name files, relative to the TOML file. One number a line (CSV: the last column), two of
// k_jitter, or raw f32/f64 little endian for *.f32 and *.f64.
struct CalibrationFiles {
    std::string background;
    std::string dark;
    std::string k_map;        // -> Calibration::k_positions
    std::string wavelengths;  // -> Calibration::wavelengths_nm
    std::string dispersion;   // -> Calibration::dispersion_rad
    std::string noise_floor;
    std::string fast_axis;
    std::string mask;      // for recipe.method = compressive
    std::string k_jitter;  // offset and stretch of each A-scan or acquired B-scan
};

class ScratchFile;
class RawBytes;

struct Scan {
    std::filesystem::path path;     // what was opened
    std::filesystem::path spectra;  // absolute path of the raw file
    std::vector<std::filesystem::path>
        stripes;  // and of those that hold the spectra's stripes besides; none: it is all
    SpectraFile file;
    RawFormat format;
    ScanGeometry geometry;
    CalibrationFiles calibration_files;
    Calibration calibration;  // loaded
    Recipe recipe;
    FlowRecipe flow;
    std::shared_ptr<const ScratchFile> unpacked;  // the raw file, where it was packed; removed with the last copy
    NufftRecipe nufft;
    DefrRecipe defr;
    CompressiveRecipe compressive;
    RecordingNotes recording;  // of a live recording; one that was cut off opens up to its last whole block
    std::vector<std::string>
        remarks;  // what was understood otherwise than it stands there, or has no effect: a line each

    ReconstructionSpec spec(std::int64_t block_b_scans) const;
};

// The sections of settings that say what is wanted of spectra, and may change while they stream.
inline constexpr std::array<std::string_view, 5> recipe_sections{"recipe", "flow", "nufft", "defr", "compressive"};

bool is_recipe_section(std::string_view section);

// Binds those.
void bind_recipe(Settings& settings, Scan& scan);

// What is wanted there, of a scan or a spec.
template <class From>
void take_recipe(const From& from, Scan& scan) {
    scan.recipe = from.recipe;
    scan.flow = from.flow;
    scan.nufft = from.nufft;
    scan.defr = from.defr;
    scan.compressive = from.compressive;
}

// Binds the structs of `scan`, which must outlive `settings`, as the sections scan, calibration, recipe, flow, nufft,
// defr, compressive, recording.
void bind(Settings& settings, Scan& scan);

// Opens a scan TOML or a raw file of a self-describing format, applies `assignments` ("recipe.window=hann") on top,
// loads the calibration files and validates all against the size of the raw file. Nothing is allocated from numbers
// that have not been validated. Throws Error{bad_file, bad_setting} naming file, key and expectation; a truncated raw
// file is reported with the A-scan at which it ends.
Scan open_scan(const std::filesystem::path& path, std::span<const std::string> assignments = {});

// The scan that an instrument sends: as open_scan, but there is no raw file, and `path` may be empty where assignments
// say it all. `hear` lets the instrument speak, over what the file says of samples and their format, before calibration
// is loaded and sizes are validated. What it throws passes through.
Scan describe_scan(const std::filesystem::path& path, std::span<const std::string> assignments,
                   const std::function<void(Scan&)>& hear);

// Reads what scan.calibration_files names into scan.calibration; what no file names stays. Throws Error{bad_file,
// bad_setting}.
void load_calibration(Scan& scan);

// planned_grid of the scan's spec; errors name the scan's file besides the key.
VolumeGrid planned_grid(const Scan& scan);

// Whether a raw file says, or another program says beside it, what it holds: no TOML is needed.
bool describes_itself(const std::filesystem::path& path);

// What is not a default, as TOML.
std::string scan_toml(const Scan& scan);

// Writes the TOML of `scan` to scan.path (atomically). Throws Error{output}.
void write_scan_toml(const Scan& scan);

// Streams acquired B-scans from a raw file of any size.
class SpectraReader {
  public:
    explicit SpectraReader(const Scan& scan);
    ~SpectraReader();
    SpectraReader(const SpectraReader&) = delete;
    SpectraReader& operator=(const SpectraReader&) = delete;

    std::int64_t bytes_per_b_scan() const;  // one slow position: b_repeats acquired B-scans

    // Fills `out` (b_scans * bytes_per_b_scan(); line gaps stay, frame offsets and flyback do not) with B-scan
    // positions [first, first + b_scans) of `volume`. Throws Error{bad_file} when the file ends early, changed its size
    // since it was opened, or cannot be read.
    void read(std::int64_t volume, std::int64_t first, std::int64_t b_scans, std::span<std::byte> out);

    // The same as it was recorded, frame offsets and flyback included, with the flyback frames behind a volume's last
    // B-scan.
    std::int64_t recorded_bytes(std::int64_t first, std::int64_t b_scans) const;
    void read_recorded(std::int64_t volume, std::int64_t first, std::int64_t b_scans, std::span<std::byte> out);

  private:
    void check_request(std::int64_t volume, std::int64_t first, std::int64_t b_scans, bool fits) const;
    ScanGeometry geometry_;
    SpectraLayout layout_;
    std::unique_ptr<RawBytes> raw_;
    std::string path_;
    std::int64_t size_ = 0;  // when it was opened
};

}  // namespace echolux
