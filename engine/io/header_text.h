// Parsing of text headers (NRRD, MetaImage, .npy): the beginning of a file, its lines, and the words and numbers in
// them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace echolux {

// Returns up to `max` bytes from the beginning of a file. Throws Error{bad_file} if it cannot be opened.
std::string start_of_file(const std::filesystem::path& path, std::size_t max = 4 << 20);

// Decodes the escapes of a one-line value: \n for a line break, \\ for a backslash.
std::string with_line_breaks(std::string_view line);

// Returns `text` without white space at both ends.
std::string_view trimmed(std::string_view text);

// Splits `text` at runs of any of `separators`.
std::vector<std::string> words_of(std::string_view text, std::string_view separators = " \t\r");

// Splits `text` and converts each word. Words that are not numbers (nan, none) become NaN.
std::vector<double> numbers_of(std::string_view text, std::string_view separators = " \t\r");

// Parses a size along an axis, which is at least 1. Throws Error{bad_file} naming `where`.
std::int64_t size_of(const std::string& word, const std::string& where);

// Returns the length of the unit ("um", "mm", ...) in millimetres; 0 if unknown.
double millimetres_in(std::string_view unit);

// Returns the duration of the unit ("s", "ms", ...) in seconds; 0 if unknown.
double seconds_in(std::string_view unit);

}  // namespace echolux
