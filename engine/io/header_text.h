// Headers made of lines of text: the beginning of a file, its lines, and the words and numbers in them. NRRD, MetaImage
// and .npy begin like that.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace echolux {

// At most `most` bytes. Throws Error{bad_file}: cannot be opened.
std::string start_of_file(const std::filesystem::path& path, std::size_t max = 4 << 20);

// Of a value that stands on one line: \n is a line break, \\ a backslash.
std::string with_line_breaks(std::string_view line);

std::string_view trimmed(std::string_view text);

// What stands between white space and any of `separators`.
std::vector<std::string> words_of(std::string_view text, std::string_view separators = " \t\r");

// Words that are no numbers (nan, none) become NaN.
std::vector<double> numbers_of(std::string_view text, std::string_view separators = " \t\r");

// A size along an axis: at least 1. Throws Error{bad_file} naming `where`.
std::int64_t size_of(const std::string& word, const std::string& where);

// Millimetres in one "um", "mm", ...; 0: unknown.
double millimetres_in(std::string_view unit);

// Seconds in one "s", "ms", ...; 0: unknown.
double seconds_in(std::string_view unit);

}  // namespace echolux
