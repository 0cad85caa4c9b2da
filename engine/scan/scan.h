// A scan: raw spectra on disk, acquisition parameters, calibration, and reconstruction settings. It is described by a
// TOML file beside the raw data (docs/scan-files.md), by a self-describing raw file (SD01RAW2, Thorlabs .oct), or by a
// file of another program beside it (OCTproZ, AO-OCT .unp).
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
#include "engine/scan/missing_b_scans.h"
#include "engine/scan/recording_notes.h"
#include "engine/scan/settings.h"
#include "engine/scan/spectra_layout.h"

namespace echolux {

// Files named in [calibration], relative to the TOML file. Text files have one number per line (CSV: the last column),
// k_jitter two. Files named *.f32 and *.f64 are raw little-endian numbers.
struct CalibrationFiles {
    std::string background;
    std::string dark;
    std::string k_map;        // -> Calibration::k_positions
    std::string wavelengths;  // -> Calibration::wavelengths_nm
    std::string dispersion;   // -> Calibration::dispersion_rad
    std::string noise_floor;
    std::string fast_axis;
    std::string mask;      // for recipe.method = compressive
    std::string k_jitter;  // offset and stretch per A-scan or acquired B-scan
};

class ScratchFile;
class RawBytes;

struct Scan {
    std::filesystem::path path;     // path that was opened
    std::filesystem::path spectra;  // absolute path of the raw file
    // Further raw files of a striped scan; empty if all bytes are in `spectra`.
    std::vector<std::filesystem::path> stripes;
    SpectraFile file;
    RawFormat format;
    ScanGeometry geometry;
    CalibrationFiles calibration_files;
    Calibration calibration;  // loaded from calibration_files
    Recipe recipe;
    FlowRecipe flow;
    std::shared_ptr<const ScratchFile> unpacked;  // decompressed raw file, removed with the last copy
    NufftRecipe nufft;
    DefrRecipe defr;
    CompressiveRecipe compressive;
    RecordingNotes recording;            // of live recordings; one that was cut off opens up to its last whole block
    std::vector<MissingBScans> missing;  // of recordings: B-scans whose spectra are missing
    // Messages about input that was reinterpreted or has no effect, one line each.
    std::vector<std::string> remarks;

    // Returns the specification for blocks of this many B-scans.
    ReconstructionSpec spec(std::int64_t block_b_scans) const;
};

// Sections with reconstruction settings, which may change while spectra stream.
inline constexpr std::array<std::string_view, 5> recipe_sections{"recipe", "flow", "nufft", "defr", "compressive"};

bool is_recipe_section(std::string_view section);

// Binds the structs of these sections.
void bind_recipe(Settings& settings, Scan& scan);

// Copies these structs from a scan or a spec.
template <class From>
void take_recipe(const From& from, Scan& scan) {
    scan.recipe = from.recipe;
    scan.flow = from.flow;
    scan.nufft = from.nufft;
    scan.defr = from.defr;
    scan.compressive = from.compressive;
}

// Binds all structs of `scan`, which must outlive `settings`: sections scan, calibration, recipe, flow, nufft, defr,
// compressive and recording.
void bind(Settings& settings, Scan& scan);

// Opens the TOML file of a scan or a self-describing raw file. Applies `assignments` ("recipe.window=hann"), loads
// calibration files and checks everything against the size of the raw file. No memory is allocated from unchecked
// numbers. Throws Error{bad_file, bad_setting} naming file, key and expected value; for a truncated raw file, the
// A-scan at which it ends.
Scan open_scan(const std::filesystem::path& path, std::span<const std::string> assignments = {});

// Describes the scan of an instrument: as open_scan(), without a raw file. `path` may be empty if assignments suffice.
// `hear` is called before calibration is loaded and sizes are checked, so that the instrument can override the sample
// count and format. Its exceptions are passed on.
Scan describe_scan(const std::filesystem::path& path, std::span<const std::string> assignments,
                   const std::function<void(Scan&)>& hear);

// Loads the files in scan.calibration_files into scan.calibration. Entries without a file are kept. Throws
// Error{bad_file, bad_setting}.
void load_calibration(Scan& scan);

// Returns planned_grid() of the scan's spec. Errors also name the scan's file.
VolumeGrid planned_grid(const Scan& scan);

// Returns whether the raw file needs no TOML file, because it or a file of another program describes it.
bool describes_itself(const std::filesystem::path& path);

// Returns all settings that differ from their defaults, as TOML.
std::string scan_toml(const Scan& scan);

// Writes the TOML file scan.path atomically. Throws Error{output}.
void write_scan_toml(const Scan& scan);

// Streams acquired B-scans from raw files of any size. Use it from one thread at a time.
class SpectraReader {
  public:
    explicit SpectraReader(const Scan& scan);
    ~SpectraReader();
    SpectraReader(const SpectraReader&) = delete;
    SpectraReader& operator=(const SpectraReader&) = delete;

    std::int64_t bytes_per_b_scan() const;  // per B-scan position: b_repeats acquired B-scans

    // Reads B-scan positions [first, first + b_scans) of `volume` into `out`, which has b_scans * bytes_per_b_scan()
    // bytes. The data includes line gaps, but no frame offsets or flyback. Throws Error{bad_file} if the file ends
    // early, has changed its size since it was opened, or cannot be read.
    void read(std::int64_t volume, std::int64_t first, std::int64_t b_scans, std::span<std::byte> out);

    // Reads the bytes as recorded, including frame offsets and flyback. The last B-scan of a volume includes the
    // flyback frames after it.
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
