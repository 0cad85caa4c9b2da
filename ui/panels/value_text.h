// How settings and their values read in the window: names without underscores and units, units as people write them,
// numbers with as many digits as matter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compute/plan/describe.h"

namespace echolux {

class Exhibit;  // app/stage/exhibit.h

// "line_rate_hz" in Hz: "line rate".
std::string label_of(const FieldText& field);

// "um": "µm"; "deg": "°"; "fs^2": "fs²".
std::string unit_text(std::string_view unit);

// As many decimals as `resolution` has; whole numbers without any.
std::string number_text(double value, double resolution);

// Three digits that matter: "0.0123", "45.6", "12 300", "1.5e9".
std::string short_number(double value);

// The number that was typed; nothing: it is none.
std::optional<double> typed_number(const std::string& text);

std::string bytes_text(double bytes);         // "1.4 GB"
std::string rate_text(double per_second);     // "1.2 M", "76.8 k", "12"
std::string count_text(std::int64_t count);   // "12 345"
std::string duration_text(double seconds);    // "0:07", "12:34", "1:02:03"
std::string short_time_text(double seconds);  // "1.2 ms", "34 us", "2.1 s"

// "loading step 3 (42 %)"; empty: what is asked for is shown.
std::string loading_text(const Exhibit& exhibit);

}  // namespace echolux
