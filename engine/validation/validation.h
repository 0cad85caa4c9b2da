// The job behind `echolux validate`: compares every reconstruction with formulas and publications and, with recordings
// of mirrors, with the recorded light.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compute/backend.h"
#include "compute/reconstructor.h"
#include "engine/progress.h"
#include "engine/validation/check.h"

namespace echolux {

// ---- Results of a validation.

// A table of related checks.
struct CheckTable {
    std::string title;
    std::string basis;  // what was measured and where the expected values come from; one or two sentences of Markdown
    std::vector<Check> checks;
};

// Result of one mirror and one resampling method.
struct AxialCell {
    double fwhm_bins = 0;     // width of the amplitude
    double side_lobe_db = 0;  // largest amplitude outside the main lobe, relative to the peak
};

// Axial width and side lobes: a row per resampling method, a column per mirror.
struct AxialTable {
    std::vector<std::string> mirrors;
    struct Row {
        std::string method;
        std::vector<AxialCell> cells;
    };
    std::vector<Row> rows;
};

// Errors of a boundary in a real recording, or means over several. Shares are of the A-scans with a known boundary.
struct BoundaryErrors {
    double within_3 = 0, within_5 = 0;  // share within 3 and 5 rows; missing places count as wrong
    double mean_rows = 0;               // mean absolute error where there is a place; NaN without any
    double ok = 0;                      // share marked ok
    double false_ok = 0;                // of these, the share more than 8 rows off
};

// Boundaries in real recordings.
struct RealSection {
    struct Row {
        std::string kind, boundary;  // boundary: empty for all of the kind
        std::int64_t count = 0;      // boundaries
        BoundaryErrors errors;
    };
    // Counts of places by their confidence, of all boundaries found with a preset.
    struct Reliability {
        static constexpr std::array<double, 9> edges{0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3};  // ok: from 1 on
        std::string preset;
        std::array<std::int64_t, 8> places{}, wrong{};  // wrong: more than 8 rows off
    };
    std::vector<Row> rows;
    std::vector<Reliability> reliability;
    std::vector<CheckTable> tables;  // filters

    bool is_empty() const { return rows.empty(); }
};

struct ValidationReport {
    std::string backend;  // that reconstructed everything
    bool quick = false;
    AxialTable axial;
    std::vector<CheckTable> tables;
    RealSection real;

    std::vector<const Check*> failures() const;
};

// Returns the text of docs/validation.md.
std::string markdown_of(const ValidationReport& report);

struct ValidationJob {
    Backend backend = Backend::automatic;
    bool quick = false;                          // fewer depths, kernels and scenes
    std::vector<std::filesystem::path> mirrors;  // scans of one mirror each
    std::vector<std::string> settings;           // for the mirrors: "recipe.window=hann"
    std::filesystem::path recordings;            // folder with `real`; empty: none
};

// Runs the checks. Failed checks are in the report. Throws Error{bad_file, bad_setting, device, out_of_memory,
// cancelled}.
ValidationReport run(const ValidationJob& job, Progress& progress);

// ---- The parts of a validation, which throw what ValidationRun throws. ValidationRun reconstructs on the requested
// backend, through the public interface of compute, one volume as one block. It advances progress by 0 after each, so
// that the user can cancel.

struct ReconstructedBlock {
    VolumeGrid grid;
    std::vector<std::byte> structure;
    std::vector<std::byte> flow;  // empty if the plan has no flow
};

// Backend and progress shared by the parts of a validation.
class ValidationRun {
  public:
    ValidationRun(Backend backend, bool quick, Progress& progress)
        : backend_(backend), quick_(quick), progress_(progress) {}

    bool quick() const { return quick_; }
    Progress& progress() { return progress_; }

    // Returns the backends that were used, separated by commas.
    std::string backends() const;

    // Returns the volume of `spec` for these samples. Throws Error{bad_setting, device, out_of_memory, cancelled}.
    ReconstructedBlock reconstructed(ReconstructionSpec spec, std::span<const std::byte> spectra);

    // Returns complex depth bins of f32 spectra, [line][depth].
    std::vector<std::complex<float>> bins(ReconstructionSpec spec, std::span<const float> spectra);

    // Returns the amplitudes of these bins.
    std::vector<double> amplitudes(const ReconstructionSpec& spec, std::span<const float> spectra);

  private:
    Backend backend_;
    bool quick_;
    Progress& progress_;
    std::set<std::string> backends_;
};

// Returns the spec for f32 spectra of one B-scan that are linear in k: the bare transform, without window or background
// subtraction.
ReconstructionSpec bare_spec(std::int64_t samples, std::int64_t lines);

double decibels(double amplitude_ratio);  // 20 log10

// Loss, artefacts and position of a mirror at several depths for each resampling method (resampling.cpp).
std::vector<CheckTable> validated_resampling(ValidationRun& run);

// Width and side lobes of a mirror; also fills the axial table of the report (resampling.cpp).
CheckTable validated_axial_response(ValidationRun& run, AxialTable& axial);

// Errors of the NUFFT's kernels against sums in double precision (resampling.cpp).
CheckTable validated_nufft(ValidationRun& run);

// Suppression of false images per iteration (sparse_methods.cpp).
std::vector<CheckTable> validated_full_range(ValidationRun& run);

// Results from a third of the samples against the least squares profile of all (sparse_methods.cpp).
CheckTable validated_sensing(ValidationRun& run);

// Measured velocities against true ones (tissue.cpp).
CheckTable validated_velocities(ValidationRun& run);

// Contrast of vessels in tissue that moves between repeats, against tissue at rest (tissue.cpp).
CheckTable validated_angiograms(ValidationRun& run);

// Surfaces between layers against painted ones (tissue.cpp).
CheckTable validated_surfaces(ValidationRun& run);

// Speckle filters against the mean of many realisations (tissue.cpp).
CheckTable validated_filters(ValidationRun& run);

// Recorded mirrors: width, side lobes, loss of resampling, false images (resampling.cpp). `scans` are one mirror each,
// with k map and background. Also throws Error{bad_file, bad_setting}.
std::vector<CheckTable> validated_mirrors(ValidationRun& run, const std::vector<std::filesystem::path>& scans,
                                          const std::vector<std::string>& settings, AxialTable& axial);

}  // namespace echolux
