// What a validation says: what was measured, what a formula or a publication expects, and how far apart the two may be.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace echolux {

enum class Bound { near, at_least, at_most, none };

struct Check {
    std::string what;
    std::string unit;  // "dB", "bins"; "": a ratio
    double found = 0;
    std::optional<double> expected;
    Bound bound = Bound::near;
    double limit = 0;  // near: the maximum distance from `expected`

    bool passed() const;  // never of NaN
};

Check near(std::string what, std::string unit, double found, double expected, double distance);
Check at_least(std::string what, std::string unit, double found, double limit, std::optional<double> expected = {});
Check at_most(std::string what, std::string unit, double found, double limit, std::optional<double> expected = {});

// Of a figure whose scenes are others than those of `expected`: 3 dB less, and not less than `demanded`.
Check about(std::string what, double found_db, double expected_db, double demanded_db = -300);

// Nothing is demanded of it.
Check reported(std::string what, std::string unit, double found, std::optional<double> expected = {});

// Checks of one kind.
struct CheckTable {
    std::string title;
    std::string basis;  // what was measured, and where the expected values come from: a sentence or two, Markdown
    std::vector<Check> checks;
};

// Of one mirror, by one way of resampling.
struct AxialCell {
    double fwhm_bins = 0;     // of the amplitude
    double side_lobe_db = 0;  // the greatest amplitude beyond the main lobe, below the peak
};

// Axial width and side lobes of mirrors, for each way of resampling: a row a method, a column a mirror.
struct AxialTable {
    std::vector<std::string> mirrors;
    struct Row {
        std::string method;
        std::vector<AxialCell> cells;
    };
    std::vector<Row> rows;
};

struct ValidationReport {
    std::string backend;  // of all that reconstructed
    bool quick = false;
    AxialTable axial;
    std::vector<CheckTable> tables;

    std::vector<const Check*> failures() const;
};

// docs/validation.md.
std::string markdown_of(const ValidationReport& report);

}  // namespace echolux
