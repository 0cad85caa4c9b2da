#include "engine/io/number_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/io/atomic_file.h"
#include "engine/io/output_rule.h"
#include "engine/io/regular_file.h"
#include "engine/io/volume_file.h"

namespace echolux {

// ---- calibration vectors --------------------------------------------------------------------------------------------

namespace {

static_assert(std::endian::native == std::endian::little, "raw numbers are read as the file stores them");

constexpr std::uintmax_t max_bytes = 256 << 20;  // as text: two numbers for each of several million A-scans

std::string read_all(const std::filesystem::path& path, const std::string& where) {
    return whole_file(path, max_bytes, "is too large for a calibration file", "check the name", where);
}

// Removes blanks, and quotes that spreadsheets write around text.
std::string_view unquoted(std::string_view text) {
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
        columns.insert(columns.begin(), unquoted(line.substr(start)));
        line = unquoted(line.substr(0, start));
        if (line.ends_with(',') || line.ends_with(';')) line = unquoted(line.substr(0, line.size() - 1));
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

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Returns true if a comma has digits on both sides.
bool has_comma_in_number(std::string_view text) {
    for (std::size_t i = 1; i + 1 < text.size(); ++i) {
        if (text[i] == ',' && is_digit(text[i - 1]) && is_digit(text[i + 1])) return true;
    }
    return false;
}

// Returns true if a comma in a number must be decimal, because semicolons, tabs, blanks or quotes separate the columns.
bool is_decimal_comma(std::string_view line) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (!has_comma_in_number(line)) return false;
    line = line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
    std::size_t begin = 0;
    bool has_other_separator = line.find_first_of(";\t\"") != std::string_view::npos;
    while (!has_other_separator && (begin = line.find(' ', begin)) != std::string_view::npos) {
        const std::size_t end = std::min(line.find_first_not_of(' ', begin), line.size() - 1);
        has_other_separator = begin > 0 && line[begin - 1] != ',' && line[end] != ',';
        begin = end;
    }
    return has_other_separator;
}

// Detects decimal commas in rows such as "812,5", which could also be two columns of whole numbers. Only a first column
// that counts the rows beside a second one that varies, or is 0, proves separate columns.
class DecimalCommas {
  public:
    explicit DecimalCommas(std::int64_t columns) : fields_(2 * columns) {}

    void add(std::string_view line, std::int64_t number) {
        if (!may_be_ || line.find_first_of(".eE") != std::string_view::npos) {
            may_be_ = false;
            return;
        }
        const std::int64_t fields = 1 + std::ranges::count(line, ',');
        const auto first = number_in(unquoted(line.substr(0, line.find(','))));
        const bool is_whole = first && *first == std::floor(*first);
        may_be_ =
            fields == fields_ && is_whole && has_comma_in_number(line) && line.find(' ') == std::string_view::npos;
        if (!may_be_) return;
        if (rows_ == 1) step_ = *first - before_;
        const std::string_view last = line.substr(line.find_last_of(',') + 1);
        const bool is_fraction = last.size() > 1 && last.starts_with('0');  // "1,05"
        counts_ = counts_ && !is_fraction && (rows_ == 0 || (*first - before_ == step_ && step_ != 0));
        before_ = *first;
        if (rows_ == 0) line_ = line, number_ = number, last_ = last;
        varies_ = varies_ || last != last_ || last == "0";
        ++rows_;
    }

    // Returns the first such line and its number, if any.
    std::optional<std::pair<std::string_view, std::int64_t>> found() const {
        const bool is_counter = counts_ && varies_ && rows_ > 1;
        if (!may_be_ || rows_ == 0 || is_counter) return {};
        return std::pair(line_, number_);
    }

  private:
    std::int64_t fields_, rows_ = 0, number_ = 0;
    std::string_view line_, last_;
    double before_ = 0, step_ = 0;
    bool may_be_ = true, counts_ = true, varies_ = false;
};

[[noreturn]] void refuse_decimal_comma(std::string_view line, const std::string& where) {
    throw Error(ErrorCode::bad_file, fmt::format("\"{}\" has a decimal comma", in_ascii(line.substr(0, 40))), where,
                "write decimal points (1.5, not 1,5); separate columns of whole numbers by semicolons");
}

// Binary bytes in a message would be useless and could confuse the terminal.
void refuse_binary(std::string_view text, const std::string& where) {
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
    refuse_binary(text, path.string() + ", " + key);
    std::vector<double> numbers;
    // The first line may be a heading; a later line without numbers is an error.
    bool heading_allowed = true;
    DecimalCommas commas(columns);
    const auto where = [&](std::int64_t line) { return fmt::format("{} line {}, {}", path.string(), line, key); };
    for (std::int64_t line_number = 1; !text.empty(); ++line_number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view whole_line = text.substr(0, end);
        const std::string_view line = unquoted(whole_line.substr(0, whole_line.find('#')));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty()) continue;
        const bool may_be_heading = std::exchange(heading_allowed, false);
        const std::size_t before = numbers.size();
        for (const std::string_view column : last_columns(line, columns)) {
            const std::optional<double> number = number_in(column);
            if (!number && may_be_heading) break;
            if (!number || !std::isfinite(*number)) {
                throw Error(ErrorCode::bad_file,
                            fmt::format("expected a finite number, got \"{}\"", in_ascii(column.substr(0, 40))),
                            where(line_number), "write one number per line; comments begin with #");
            }
            numbers.push_back(*number);
        }
        if (numbers.size() == before) continue;
        if (is_decimal_comma(whole_line.substr(0, whole_line.find('#'))))
            refuse_decimal_comma(line, where(line_number));
        commas.add(line, line_number);
    }
    if (const auto found = commas.found()) refuse_decimal_comma(found->first, where(found->second));
    return numbers;
}

// Reads raw numbers of type T.
template <class T>
std::vector<double> numbers_in_bytes(const std::string& bytes, const std::string& where) {
    if (bytes.size() % sizeof(T) != 0) {
        throw Error(ErrorCode::bad_file,
                    fmt::format("has {}, not a multiple of the {} of a number", plural(bytes.size(), "bytes"),
                                plural(sizeof(T), "bytes")),
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
    const auto count = std::ssize(numbers);
    if (count == 0) throw Error(ErrorCode::bad_file, "contains no numbers", where, "write one number per line");
    if (length > 0 && count != length) {
        throw Error(ErrorCode::bad_file,
                    fmt::format("holds {}, expected {} (scan.samples)", plural(count, "numbers"), length), where);
    }
    if (count % columns != 0) {
        throw Error(ErrorCode::bad_file,
                    fmt::format("holds {}, not a multiple of {}", plural(count, "numbers"), plural(columns, "columns")),
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

// ---- height maps ----------------------------------------------------------------------------------------------------

constexpr std::string_view separators = ",; \t\r";

[[noreturn]] static void refuse(const std::string& what, const std::string& where) {
    throw Error(ErrorCode::bad_file, what, where, "a height map has a depth in um for each A-scan");
}

static void check_size(std::int64_t columns, std::int64_t rows, std::int64_t a_scans, std::int64_t b_scans,
                       const std::string& where) {
    if (columns == a_scans && rows == b_scans) return;
    refuse(fmt::format("{} x {} heights do not fit {} x {} A-scans", columns, rows, a_scans, b_scans), where);
}

// Appends the numbers of a line to `heights` and returns their count.
static std::int64_t read_line(std::string_view line, std::vector<float>& heights, const std::string& where) {
    std::int64_t count = 0;
    for (std::size_t at = line.find_first_not_of(separators); at != std::string_view::npos;
         at = line.find_first_not_of(separators, at)) {
        const std::string_view word = line.substr(at, line.find_first_of(separators, at) - at);
        float height = 0;
        const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), height);
        if (problem != std::errc() || end != word.data() + word.size() || !std::isfinite(height)) {
            refuse(fmt::format("expected a finite number, got \"{}\"", word.substr(0, 40)), where);
        }
        heights.push_back(height);
        ++count;
        at += word.size();
    }
    return count;
}

// Reads one line per B-scan; empty lines and comments are ignored.
static std::vector<float> read_csv(const std::filesystem::path& path, std::int64_t a_scans, std::int64_t b_scans) {
    constexpr std::uintmax_t longest_map = 256 << 20;
    std::istringstream file(whole_file(path, longest_map, "is too large for a height map"));
    std::vector<float> heights;
    std::int64_t rows = 0;
    std::string line;
    for (std::int64_t number = 1; std::getline(file, line); ++number) {
        const std::string where = fmt::format("{} line {}", path.string(), number);
        const std::int64_t columns = read_line(std::string_view(line).substr(0, line.find('#')), heights, where);
        if (columns == 0) continue;
        if (columns != a_scans)
            refuse(fmt::format("{}, there are {}", plural(columns, "numbers"), plural(a_scans, "A-scans")), where);
        if (++rows > b_scans) refuse(fmt::format("more than {}, one for each B-scan", plural(b_scans, "lines")), where);
    }
    check_size(a_scans, rows, a_scans, b_scans, path.string());
    return heights;
}

// Reads a map from a volume file with one row or one slice. Codes are converted to values by scale and offset.
static std::vector<float> read_picture(const std::filesystem::path& path, std::int64_t a_scans, std::int64_t b_scans) {
    const Volume picture = read_volume(path);
    const VolumeGrid& grid = picture.grid;
    if (grid.depth != 1 && grid.b_scans != 1) refuse("holds a volume, not a map", path.string());
    if (grid.type == VoxelType::complex64) refuse("holds complex numbers", path.string());
    // In memory, the rows of a single slice vary fastest; they are the B-scans of the map.
    const bool rows_are_b_scans = grid.b_scans == 1;
    const std::int64_t rows = rows_are_b_scans ? grid.depth : grid.b_scans;
    check_size(grid.a_scans, rows, a_scans, b_scans, path.string());
    std::vector<float> heights(index(a_scans * b_scans));
    with_voxels(picture, [&](const auto* codes) {
        for (std::int64_t b = 0; b < b_scans; ++b) {
            for (std::int64_t a = 0; a < a_scans; ++a) {
                const std::int64_t from = rows_are_b_scans ? a * rows + b : b * a_scans + a;
                const double height = static_cast<double>(codes[from]) * grid.scale + grid.offset;
                if (!std::isfinite(height)) refuse("holds a height that is not finite", path.string());
                heights[index(b * a_scans + a)] = static_cast<float>(height);
            }
        }
    });
    return heights;
}

std::vector<float> read_heights(const std::filesystem::path& path, std::int64_t a_scans, std::int64_t b_scans) {
    return is_volume_name(path) ? read_picture(path, a_scans, b_scans) : read_csv(path, a_scans, b_scans);
}

}  // namespace echolux
