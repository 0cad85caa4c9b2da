#include "engine/io/calibration_file.h"

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/own_files.h"
#include "engine/io/regular_file.h"

namespace echolux {
namespace {

static_assert(std::endian::native == std::endian::little, "raw numbers are read as they lie in the file");

constexpr std::uintmax_t max_bytes = 256 << 20;  // as text: two numbers for each of several million A-scans

std::string read_all(const std::filesystem::path& path, const std::string& where) {
    return whole_file(path, max_bytes, "is too large for a calibration file", "check the name", where);
}

// Also removes quotes, which spreadsheets write around text.
std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\"";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// Returns the number if it is the whole text. std::from_chars() refuses a leading plus sign.
std::optional<double> number_in(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    double number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

// Returns the last `count` columns of a line, in order.
std::vector<std::string_view> last_columns(std::string_view line, std::int64_t count) {
    std::vector<std::string_view> columns;
    while (std::ssize(columns) < count) {
        const std::size_t start = line.find_last_of(",; \t") + 1;  // npos + 1 is 0
        columns.insert(columns.begin(), trimmed(line.substr(start)));
        line = trimmed(line.substr(0, start));
        if (line.ends_with(',') || line.ends_with(';')) line = trimmed(line.substr(0, line.size() - 1));
    }
    return columns;
}

// Replaces non-ASCII bytes for messages.
std::string in_ascii(std::string_view text) {
    std::string ascii(text);
    std::ranges::replace_if(
        ascii, [](unsigned char c) { return c >= 0x80; }, '?');
    return ascii;
}

// Binary bytes in a message would be useless and could confuse the terminal.
void refuse_what_is_no_text(std::string_view text, const std::string& where) {
    const auto is_of_text = [](unsigned char c) { return (c >= ' ' && c != 0x7f) || (c >= '\t' && c <= '\r'); };
    if (std::ranges::all_of(text, is_of_text)) return;
    throw Error(ErrorCode::bad_file, "is a binary file, expected text with one number per line", where,
                "write the numbers as text, or as raw floats in a file named *.f32 or *.f64");
}

// Reads the last columns of each line. Skips a byte order mark, comments and empty lines.
std::vector<double> numbers_in_text(std::string_view text, std::int64_t columns, const std::filesystem::path& path,
                                    const std::string& key) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    refuse_what_is_no_text(text, path.string() + ", " + key);
    std::vector<double> numbers;
    // The first line may be a heading; a later line without numbers is an error.
    bool heading_allowed = true;
    for (std::int64_t line_number = 1; !text.empty(); ++line_number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view whole_line = text.substr(0, end);
        const std::string_view line = trimmed(whole_line.substr(0, whole_line.find('#')));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty()) continue;
        const bool may_be_heading = std::exchange(heading_allowed, false);
        for (const std::string_view column : last_columns(line, columns)) {
            const std::optional<double> number = number_in(column);
            if (!number && may_be_heading) break;
            if (!number || !std::isfinite(*number)) {
                throw Error(ErrorCode::bad_file,
                            fmt::format("expected a finite number, got \"{}\"", in_ascii(column.substr(0, 40))),
                            fmt::format("{} line {}, {}", path.string(), line_number, key),
                            "write one number per line; comments begin with #");
            }
            numbers.push_back(*number);
        }
    }
    return numbers;
}

// Reads raw numbers of type T.
template <class T>
std::vector<double> numbers_in_bytes(const std::string& bytes, const std::string& where) {
    if (bytes.size() % sizeof(T) != 0) {
        throw Error(ErrorCode::bad_file,
                    fmt::format("has {}, no multiple of the {} of a number", counted(bytes.size(), "bytes"),
                                counted(sizeof(T), "bytes")),
                    where);
    }
    std::vector<T> raw(bytes.size() / sizeof(T));
    std::ranges::copy(std::as_bytes(std::span(bytes)), std::as_writable_bytes(std::span(raw)).begin());
    for (std::size_t i = 0; i < raw.size(); ++i) {
        if (!std::isfinite(raw[i])) {
            throw Error(ErrorCode::bad_file, fmt::format("number {} (counted from 0) is not finite", i), where);
        }
    }
    return {raw.begin(), raw.end()};
}

// Returns the first line of a text file of this kind. is_own_calibration() recognises files by it.
std::string heading_of(CalibrationKind kind) {
    const auto name = [kind] {
        switch (kind) {
            case CalibrationKind::spectrum: return "spectrum";
            case CalibrationKind::noise_floor: return "noise floor";
            case CalibrationKind::k_map: return "k map";
            case CalibrationKind::dispersion: return "dispersion";
        }
        return "";
    };
    return fmt::format("# Echolux {}: ", name());
}

}  // namespace

std::vector<double> read_calibration(const std::filesystem::path& path, std::int64_t length, const std::string& key,
                                     std::int64_t columns) {
    const std::string where = path.string() + ", " + key;
    const std::string bytes = read_all(path, where);
    std::vector<double> numbers;
    if (path.extension() == ".f32") {
        numbers = numbers_in_bytes<float>(bytes, where);
    } else if (path.extension() == ".f64") {
        numbers = numbers_in_bytes<double>(bytes, where);
    } else {
        numbers = numbers_in_text(bytes, columns, path, key);
    }
    const auto count = static_cast<std::int64_t>(numbers.size());
    if (count == 0) throw Error(ErrorCode::bad_file, "contains no numbers", where, "write one number per line");
    if (length > 0 && count != length) {
        throw Error(ErrorCode::bad_file,
                    fmt::format("holds {}, expected {} (scan.samples)", counted(count, "numbers"), length), where);
    }
    if (count % columns != 0) {
        throw Error(ErrorCode::bad_file,
                    fmt::format("holds {}, no multiple of {}", counted(count, "numbers"), counted(columns, "columns")),
                    where);
    }
    return numbers;
}

void write_calibration(const std::filesystem::path& path, CalibrationKind kind, const std::vector<double>& values,
                       const std::string& comment) {
    std::string text = heading_of(kind) + comment + "\n";
    for (const double value : values) text += fmt::format("{}\n", value);
    const std::string ending = path.extension().string();
    if (ending == ".f32") {
        const std::vector<float> floats(values.begin(), values.end());
        text.assign(reinterpret_cast<const char*>(floats.data()), floats.size() * sizeof(float));
    } else if (ending == ".f64") {
        text.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
    }
    write_text(path, text);
}

bool is_own_calibration(const std::filesystem::path& path, CalibrationKind kind) {
    return begins_with(path, heading_of(kind));
}

}  // namespace echolux
