#include "engine/io/number_file.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/io/regular_file.h"
#include "engine/io/volume_file.h"

namespace echolux {
namespace {

constexpr std::string_view separators = ",; \t\r";

[[noreturn]] void refuse(const std::string& what, const std::string& where) {
    throw Error(ErrorCode::bad_file, what, where, "a height map has a depth in um for each A-scan");
}

void check_size(std::int64_t columns, std::int64_t rows, std::int64_t a_scans, std::int64_t b_scans,
                const std::string& where) {
    if (columns == a_scans && rows == b_scans) return;
    refuse(fmt::format("{} x {} heights do not fit {} x {} A-scans", columns, rows, a_scans, b_scans), where);
}

// Appends the numbers of a line to `heights` and returns their count.
std::int64_t read_line(std::string_view line, std::vector<float>& heights, const std::string& where) {
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
std::vector<float> read_csv(const std::filesystem::path& path, std::int64_t a_scans, std::int64_t b_scans) {
    constexpr std::uintmax_t longest_map = 256 << 20;
    std::istringstream file(whole_file(path, longest_map, "is too large for a map of heights"));
    std::vector<float> heights;
    std::int64_t rows = 0;
    std::string line;
    for (std::int64_t number = 1; std::getline(file, line); ++number) {
        const std::string where = fmt::format("{} line {}", path.string(), number);
        const std::int64_t columns = read_line(std::string_view(line).substr(0, line.find('#')), heights, where);
        if (columns == 0) continue;
        if (columns != a_scans)
            refuse(fmt::format("{}, there are {}", counted(columns, "numbers"), counted(a_scans, "A-scans")), where);
        if (++rows > b_scans)
            refuse(fmt::format("more than {}, one for each B-scan", counted(b_scans, "lines")), where);
    }
    check_size(a_scans, rows, a_scans, b_scans, path.string());
    return heights;
}

// Reads a map from a volume file with one row or one slice. Codes are converted to values by scale and offset.
std::vector<float> read_picture(const std::filesystem::path& path, std::int64_t a_scans, std::int64_t b_scans) {
    const Volume picture = read_volume(path);
    const VolumeGrid& grid = picture.grid;
    if (grid.depth != 1 && grid.b_scans != 1) refuse("holds a volume, not a map", path.string());
    if (grid.type == VoxelType::complex64) refuse("holds complex numbers", path.string());
    // In memory, the rows of a single slice vary fastest; they are the B-scans of the map.
    const bool rows_are_b_scans = grid.b_scans == 1;
    const std::int64_t rows = rows_are_b_scans ? grid.depth : grid.b_scans;
    check_size(grid.a_scans, rows, a_scans, b_scans, path.string());
    std::vector<float> heights(static_cast<std::size_t>(a_scans * b_scans));
    with_voxels(picture, [&](const auto* codes) {
        for (std::int64_t b = 0; b < b_scans; ++b) {
            for (std::int64_t a = 0; a < a_scans; ++a) {
                const std::int64_t from = rows_are_b_scans ? a * rows + b : b * a_scans + a;
                const double height = static_cast<double>(codes[from]) * grid.scale + grid.offset;
                if (!std::isfinite(height)) refuse("holds a height that is not finite", path.string());
                heights[static_cast<std::size_t>(b * a_scans + a)] = static_cast<float>(height);
            }
        }
    });
    return heights;
}

}  // namespace

std::vector<float> read_heights(const std::filesystem::path& path, std::int64_t a_scans, std::int64_t b_scans) {
    return is_volume_name(path) ? read_picture(path, a_scans, b_scans) : read_csv(path, a_scans, b_scans);
}

}  // namespace echolux
