// A transfer function as settings: section [transfer] of our files and sessions, and of undo steps.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/plan/described.h"
#include "render/view/curve.h"

namespace echolux {

// Key of the view's curve in addition to the described keys. Its value is the text of a transfer function file; empty:
// the preset's curve.
inline constexpr std::string_view curve_key = "view.transfer_curve";

struct TransferText {
    std::int64_t version = 1;  // of this format
    std::string unit;
    bool relative = false;
    double length_um = 0;
    std::vector<double> colours{};
    std::vector<double> extinctions{};
    std::vector<double> roughness{};
    std::string second{};  // axis; "": none
    std::vector<double> second_range{};
    std::vector<double> boxes{};
    std::vector<double> arcs{};
    std::vector<double> strokes{};
};

template <>
const std::vector<Field<TransferText>>& describe<TransferText>();

TransferText text_of(const TransferCurve& curve);

// Throws Error{bad_setting} with `where` and the key.
TransferCurve curve_of(const TransferText& text, const std::string& where);

// Convert to and from the text of a TOML file; empty: no curve.
std::string toml_of(const std::optional<TransferCurve>& curve);
std::optional<TransferCurve> curve_of_toml(const std::string& toml);

}  // namespace echolux
