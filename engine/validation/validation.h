// The job behind `echolux validate`: compares every reconstruction with formulas and publications and, with recordings
// of mirrors, with the recorded light.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compute/reconstructor.h"
#include "engine/progress.h"

namespace echolux {

// Results of a validation: the measured values, the values expected from a formula or publication, and the allowed
// difference.

enum class Bound { near, at_least, at_most, none };

struct Check {
    std::string what;
    std::string unit;  // "dB", "bins"; empty for ratios
    double found = 0;
    std::optional<double> expected;
    Bound bound = Bound::near;
    double limit = 0;  // for `near`, the max distance from `expected`

    bool passed() const;  // false for NaN
};

// Return checks of the given bound.
Check near(std::string what, std::string unit, double found, double expected, double distance);
Check at_least(std::string what, std::string unit, double found, double limit, std::optional<double> expected = {});
Check at_most(std::string what, std::string unit, double found, double limit, std::optional<double> expected = {});

// Returns a check of a value whose scenes differ from those of `expected`: at most 3 dB less, and not less than
// `demanded_db`.
Check about(std::string what, double found_db, double expected_db, double demanded_db = -300);

// Returns a value without a requirement.
Check reported(std::string what, std::string unit, double found, std::optional<double> expected = {});

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

struct ValidationReport {
    std::string backend;  // that reconstructed everything
    bool quick = false;
    AxialTable axial;
    std::vector<CheckTable> tables;

    std::vector<const Check*> failures() const;
};

// Returns the text of docs/validation.md.
std::string markdown_of(const ValidationReport& report);

struct ValidationJob {
    Backend backend = Backend::automatic;
    bool quick = false;                          // fewer depths, kernels and scenes
    std::vector<std::filesystem::path> mirrors;  // scans of one mirror each
    std::vector<std::string> settings;           // for the mirrors: "recipe.window=hann"
};

// Runs the checks. Failed checks are in the report. Throws Error{bad_file, bad_setting, device, out_of_memory,
// cancelled}.
ValidationReport run(const ValidationJob& job, Progress& progress);

}  // namespace echolux
