// A measured value and the bound that it must keep: of a validation, where a formula or publication gives the expected
// value, or of a benchmark, where it is a target.
#pragma once

#include <optional>
#include <string>

namespace echolux {

enum class Bound { near, at_least, at_most, none };

struct Check {
    std::string what;
    std::string unit;  // "dB", "bins"; empty for ratios
    double found = 0;
    std::optional<double> expected;
    Bound bound = Bound::near;
    double limit = 0;         // for `near`, the max distance from `expected`
    bool is_measured = true;  // otherwise it fails and `found` is 0

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

}  // namespace echolux
