// Text of settings and values for people: names without underscores and units, units with their symbols, numbers with
// the significant digits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compute/plan/describe.h"

namespace echolux {

class ViewSource;  // app/viewer/view_source.h

// Returns the label of a field. Without one in its description, "line_rate_hz" in Hz becomes "line rate".
std::string label_of(const FieldText& field);

// Returns the words of a key: "search_a_scans" becomes "search A-scans", "min_snr" becomes "min SNR".
std::string key_text(std::string_view key);
// Returns them as a title: "filter" becomes "Filter", "a_scans" "A-scans"; "k_map" becomes "k map".
std::string title_of(std::string_view key);

// Returns a choice as lists show it: "oct-gray" becomes "OCT gray", "mip" becomes "Maximum (MIP)".
std::string choice_text(std::string_view choice);

// Returns the symbol of a unit: "um" becomes "µm", "deg" becomes "°", "fs^2" becomes "fs²".
std::string unit_text(std::string_view unit);

// "cpu (2 threads) uploaded to llvmpipe" becomes "cpu uploaded to llvmpipe".
std::string without_parentheses(std::string text);

// Formats a number with as many decimals as `resolution` has, integers without any.
std::string number_text(double value, double resolution);

// Formats a number with three significant digits: "0.0123", "45.6", "12 300", "1.5e9".
std::string short_number(double value);

// The same with its sign: "+45.6", "−45.6".
std::string signed_number(double value);

// Parses a typed number. Returns nullopt if the text is not a finite number.
std::optional<double> typed_number(const std::string& text);

std::string bytes_text(double bytes);         // "1.4 GB"
std::string rate_text(double per_second);     // "1.2 M", "76.8 k", "12"
std::string count_text(std::int64_t count);   // "12 345"
std::string duration_text(double seconds);    // "0:07", "12:34", "1:02:03"
std::string short_time_text(double seconds);  // "1.2 ms", "34 us", "2.1 s"

// Returns the name of a document with another ending. Unusual characters become "-".
std::string suggested_name(const ViewSource& view_source, const std::string& ending);

// Returns progress such as "loading step 3 (42 %)", or an empty text if the requested time point is displayed.
std::string loading_text(const ViewSource& view_source);

}  // namespace echolux
