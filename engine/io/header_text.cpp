#include "engine/io/regular_file.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <span>

#include "compute/error.h"

namespace echolux {
namespace {

struct Unit {
    std::string_view name;
    double factor;
};

// Returns 0 for an unknown unit.
double factor_of(std::string_view name, std::span<const Unit> units) {
    for (const Unit& unit : units) {
        if (unit.name == name) return unit.factor;
    }
    return 0;
}

}  // namespace

// The buffer has at most the file's size, whatever `max` is.
std::string start_of_file(const std::filesystem::path& path, std::size_t max) {
    std::error_code problem;
    const std::uintmax_t size = std::filesystem::file_size(path, problem);
    std::ifstream stream = regular_stream(path);
    if (problem || !stream) {
        throw Error(ErrorCode::bad_file, "cannot be opened", path.string(), "check its name and permissions");
    }
    std::string start(std::min<std::uintmax_t>(max, size), '\0');
    stream.read(start.data(), static_cast<std::streamsize>(start.size()));
    start.resize(static_cast<std::size_t>(stream.gcount()));
    return start;
}

std::string with_line_breaks(std::string_view line) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const bool escape = line[i] == '\\' && i + 1 < line.size();
        if (escape) ++i;
        text += escape && line[i] == 'n' ? '\n' : line[i];
    }
    return text;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view white = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(white);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(white) + 1 - begin);
}

std::vector<std::string> words_of(std::string_view text, std::string_view separators) {
    std::vector<std::string> words;
    for (std::size_t begin = 0; (begin = text.find_first_not_of(separators, begin)) != std::string_view::npos;) {
        const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
        words.emplace_back(text.substr(begin, end - begin));
        begin = end;
    }
    return words;
}

std::vector<double> numbers_of(std::string_view text, std::string_view separators) {
    std::vector<double> numbers;
    for (const std::string& word : words_of(text, separators)) {
        char* end = nullptr;
        const double number = std::strtod(word.c_str(), &end);
        numbers.push_back(*end == '\0' ? number : std::numeric_limits<double>::quiet_NaN());
    }
    return numbers;
}

std::int64_t size_of(const std::string& word, const std::string& where) {
    std::int64_t size = 0;
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), size);
    if (problem == std::errc() && end == word.data() + word.size() && size >= 1) return size;
    throw Error(ErrorCode::bad_file, fmt::format("\"{}\" is not a number of voxels", word.substr(0, 40)), where);
}

double millimetres_in(std::string_view unit) {
    constexpr Unit units[] = {{"mm", 1},          {"millimeter", 1},    {"um", 1e-3},        {"\u00b5m", 1e-3},
                              {"\u03bcm", 1e-3},  {"micrometer", 1e-3}, {"micron", 1e-3},    {"microns", 1e-3},
                              {"\\u00B5m", 1e-3}, {"nm", 1e-6},         {"nanometer", 1e-6}, {"cm", 10},
                              {"centimeter", 10}, {"inch", 25.4},       {"m", 1000},         {"meter", 1000}};
    return factor_of(unit, units);
}

double seconds_in(std::string_view unit) {
    constexpr Unit units[] = {
        {"s", 1},     {"sec", 1},        {"second", 1}, {"ms", 1e-3},   {"msec", 1e-3},    {"millisecond", 1e-3},
        {"us", 1e-6}, {"\u00b5s", 1e-6}, {"min", 60},   {"minute", 60}, {"\u03bcs", 1e-6}, {"microsecond", 1e-6}};
    return factor_of(unit, units);
}

}  // namespace echolux
