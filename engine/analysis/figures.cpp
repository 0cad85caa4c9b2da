#include "engine/analysis/figures.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <sstream>

#include "compute/calibrate/mirrors.h"
#include "compute/empty_value.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/io/volume_file.h"

namespace echolux {

namespace {

// Throws for complex voxels.
void require_real(const VolumeGrid& grid) {
    if (grid.type != VoxelType::complex64) return;
    throw Error(ErrorCode::bad_setting, "an image cannot show complex voxels", "recipe.quantity",
                "choose db, intensity or amplitude");
}

bool is_db(const VolumeGrid& grid) {
    return grid.quantity == "db";
}

// Converts a value for display. Linear reflectivities exceed the range of any gray scale, so their fourth root is used,
// as in instruments that store them. Missing values are black.
double shown(const VolumeGrid& grid, double value) {
    if (grid.quantity != "reflectivity") return value;
    return value > 0 ? std::sqrt(std::sqrt(value)) : 0;
}

// Interpolates linearly between pixel centres, so that physical proportions are exact. Never shrinks.
Figure stretched(const Figure& figure, std::int64_t width, std::int64_t height) {
    Figure out{width, height, std::vector<float>(index(width * height)), 1, 1};
    const auto source = [](std::int64_t i, std::int64_t from, std::int64_t to) {
        const double at = (static_cast<double>(i) + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5;
        return std::clamp(at, 0.0, static_cast<double>(from - 1));
    };
    for (std::int64_t y = 0; y < height; ++y) {
        const double sy = source(y, figure.height, height);
        const auto y0 = static_cast<std::int64_t>(sy);
        const std::int64_t y1 = std::min(y0 + 1, figure.height - 1);
        const auto fy = static_cast<float>(sy - static_cast<double>(y0));
        for (std::int64_t x = 0; x < width; ++x) {
            const double sx = source(x, figure.width, width);
            const auto x0 = static_cast<std::int64_t>(sx);
            const std::int64_t x1 = std::min(x0 + 1, figure.width - 1);
            const auto fx = static_cast<float>(sx - static_cast<double>(x0));
            const auto at = [&](std::int64_t col, std::int64_t row) {
                return figure.values[index(row * figure.width + col)];
            };
            const float top = at(x0, y0) + fx * (at(x1, y0) - at(x0, y0));
            const float bottom = at(x0, y1) + fx * (at(x1, y1) - at(x0, y1));
            out.values[index(y * width + x)] = top + fy * (bottom - top);
        }
    }
    return out;
}

// Stretches one side by a factor of at most 16.
Figure with_square_pixels(const Figure& figure) {
    constexpr double max_stretch = 16;
    if (figure.column_um <= 0 || figure.row_um <= 0) return figure;
    const double ratio = std::clamp(figure.column_um / figure.row_um, 1 / max_stretch, max_stretch);
    if (ratio >= 1) {
        return stretched(figure, std::llround(static_cast<double>(figure.width) * ratio), figure.height);
    }
    return stretched(figure, figure.width, std::llround(static_cast<double>(figure.height) / ratio));
}

// Returns the smallest code that is not empty. Empty codes are the dB of zero, which would dominate any mean.
template <class Code>
double min_of_something(const Code* voxels, const VolumeGrid& grid) {
    EmptyValue empty;
    if (is_db(grid)) {
        for (std::int64_t i = 0; i < grid.voxels(); ++i) empty.add(static_cast<double>(voxels[i]));
    }
    return empty.found() ? empty.min_other() : -std::numeric_limits<double>::infinity();
}

}  // namespace

std::vector<bool> named_missing_slices(const Volume& volume) {
    std::vector<bool> is_missing(index(volume.grid.b_scans));
    const auto line = volume.provenance.find("missing_b_scans");
    if (line == volume.provenance.end()) return is_missing;
    std::istringstream text(line->second);
    std::int64_t begin = 0, end = 0;
    for (char colon = 0; text >> begin >> colon >> end;) {
        for (std::int64_t b = std::max<std::int64_t>(0, begin); b < std::min(end, volume.grid.b_scans); ++b)
            is_missing[index(b)] = true;
    }
    return is_missing;
}

// Float volumes contain NaN in these slices. Slices that were filled later, for example by registration, contain other
// codes.
std::vector<bool> slices_without_data(const Volume& volume) {
    const VoxelType type = volume.grid.type;
    const bool has_nan = type != VoxelType::u8 && type != VoxelType::u16 && type != VoxelType::i16;
    if (has_nan) return std::vector<bool>(index(volume.grid.b_scans));
    std::vector<bool> is_missing = named_missing_slices(volume);
    const auto bytes = index(volume.grid.b_scan_bytes());
    for (std::size_t b = 0; b < is_missing.size(); ++b) {
        if (!is_missing[b]) continue;
        const auto slice = std::span(volume.voxels).subspan(b * bytes, bytes);
        is_missing[b] = std::ranges::all_of(slice, [](std::byte byte) { return byte == std::byte{0}; });
    }
    return is_missing;
}

void check_b_scan(const VolumeGrid& grid, std::int64_t b_scan) {
    require_real(grid);
    if (b_scan < 0 || b_scan >= grid.b_scans) {
        throw Error(ErrorCode::bad_setting, fmt::format("there is no B-scan {}", b_scan), "b_scan",
                    fmt::format("the volume has B-scans 0 to {}", grid.b_scans - 1));
    }
}

void check_en_face(const VolumeGrid& grid, std::int64_t begin, std::int64_t end) {
    require_real(grid);
    if (begin < 0 || begin >= end || end > grid.depth) {
        throw Error(ErrorCode::bad_setting, fmt::format("depth rows {}:{} are not in the volume", begin, end),
                    "en_face", fmt::format("it has rows 0:{}", grid.depth));
    }
}

// Returns the mean power of the rows that only 5 % of all rows fall below, in dB. Where tissue fills the figure, these
// are its darkest rows. nullopt: no row has a value.
static std::optional<double> noise_floor_of(const Figure& figure) {
    constexpr double share = 0.05;
    EmptyValue empty;
    for (const float value : figure.values) empty.add(double{value});
    std::vector<double> powers;
    for (std::int64_t row = 0; row < figure.height; ++row) {
        double sum = 0;
        std::int64_t count = 0;
        for (std::int64_t column = 0; column < figure.width; ++column) {
            const double db = figure.values[index(row * figure.width + column)];
            if (!std::isfinite(db) || (empty.found() && db == static_cast<float>(*empty.found()))) continue;
            sum += std::pow(10, db / 10);
            ++count;
        }
        if (count > 0) powers.push_back(sum / static_cast<double>(count));
    }
    if (powers.empty()) return std::nullopt;
    const auto at = powers.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(powers.size()));
    std::ranges::nth_element(powers, at);
    return 10 * std::log10(*at);
}

Figure b_scan_figure(const Volume& volume, std::int64_t b_scan) {
    const VolumeGrid& grid = volume.grid;
    check_b_scan(grid, b_scan);
    const bool has_data = !slices_without_data(volume)[index(b_scan)];
    Figure figure{grid.a_scans, grid.depth, {}, grid.spacing_um[1], grid.spacing_um[0], is_db(grid)};
    figure.values.resize(index(grid.a_scans * grid.depth));
    with_voxels(volume, [&](const auto* voxels) {
        const auto* first = voxels + b_scan * grid.a_scans * grid.depth;
        for (std::int64_t a = 0; a < grid.a_scans; ++a) {
            for (std::int64_t z = 0; z < grid.depth; ++z) {
                const double code = has_data ? static_cast<double>(first[a * grid.depth + z])
                                             : std::numeric_limits<double>::quiet_NaN();
                figure.values[index(z * grid.a_scans + a)] =
                    static_cast<float>(shown(grid, code * grid.scale + grid.offset));
            }
        }
    });
    if (figure.is_db) figure.noise_floor = noise_floor_of(figure);
    return figure;
}

Figure en_face_figure(const Volume& volume, std::int64_t begin, std::int64_t end) {
    const VolumeGrid& grid = volume.grid;
    check_en_face(grid, begin, end);
    const std::vector<float> top(index(grid.a_scans * grid.b_scans), 0.0f);
    return en_face_figure(volume, top, begin, end);
}

Figure en_face_figure(const Volume& volume, const std::vector<float>& surface, std::int64_t begin, std::int64_t end) {
    const VolumeGrid& grid = volume.grid;
    require_real(grid);
    Figure figure{grid.a_scans, grid.b_scans, {}, grid.spacing_um[1], grid.spacing_um[2], is_db(grid)};
    const std::vector<bool> is_missing = slices_without_data(volume);
    with_voxels(volume, [&](const auto* voxels) {
        const double min = min_of_something(voxels, grid);
        for (std::int64_t i = 0; i < grid.a_scans * grid.b_scans; ++i) {
            const std::int64_t b = grid.b_scans - 1 - i / grid.a_scans;  // the last B-scan is the top row
            const std::int64_t line = b * grid.a_scans + i % grid.a_scans;
            const std::int64_t top = std::lround(surface[index(line)]);
            const std::int64_t first = std::clamp<std::int64_t>(top + begin, 0, grid.depth - 1);
            const std::int64_t last = std::clamp<std::int64_t>(top + end, first + 1, grid.depth);
            double sum = 0;
            double count = 0;
            if (is_missing[index(b)]) {
                figure.values.push_back(std::numeric_limits<float>::quiet_NaN());
                continue;
            }
            for (std::int64_t z = first; z < last; ++z) {
                const auto code = static_cast<double>(voxels[line * grid.depth + z]);
                if (std::isnan(code)) continue;  // not measured
                sum += std::max(code, min);
                ++count;
            }
            const double mean = count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
            figure.values.push_back(static_cast<float>(shown(grid, mean * grid.scale + grid.offset)));
        }
    });
    return figure;
}

Figure enlarged(const Figure& figure, std::int64_t factor) {
    Figure large = stretched(figure, figure.width * factor, figure.height * factor);
    large.column_um = figure.column_um / static_cast<double>(factor);
    large.row_um = figure.row_um / static_cast<double>(factor);
    return large;
}

GrayRange percentile_range(const Figure& figure) {
    constexpr double share = 0.003, share_above_noise = 0.001;
    std::vector<float> sorted = figure.values;
    EmptyValue empty;
    for (const float value : sorted) empty.add(double{value});
    if (figure.is_db && empty.found()) std::erase(sorted, static_cast<float>(*empty.found()));
    std::erase_if(sorted, [](float value) { return std::isnan(value); });
    if (sorted.empty()) return {};
    std::sort(sorted.begin(), sorted.end());
    const auto at = [&](double fraction) {
        return static_cast<double>(sorted[static_cast<std::size_t>(fraction * static_cast<double>(sorted.size() - 1))]);
    };
    if (!figure.noise_floor) return {at(share), at(1 - share)};
    const double white = at(1 - share_above_noise);
    return {std::min(*figure.noise_floor, white), white};
}

Picture gray_picture(const Figure& figure, std::optional<GrayRange> range) {
    return gray_pixels(with_square_pixels(figure), range.value_or(percentile_range(figure)));
}

Picture gray_pixels(const Figure& figure, const GrayRange& shown) {
    const double width = shown.white - shown.black;
    Picture picture{figure.width, figure.height, 1, {}, {}};
    for (const float value : figure.values) {
        const bool has_level = width > 0 && !std::isnan(value);
        const double level = has_level ? (static_cast<double>(value) - shown.black) / width : 0;
        picture.pixels.push_back(static_cast<std::uint8_t>(std::lround(255 * std::clamp(level, 0.0, 1.0))));
    }
    return picture;
}

namespace {

std::vector<double> values_of(const Volume& volume, std::int64_t a_scan, std::int64_t b_scan) {
    const VolumeGrid& grid = volume.grid;
    std::vector<double> values(index(grid.depth));
    with_voxels(volume, [&](const auto* voxels) {
        const auto* line = voxels + (b_scan * grid.a_scans + a_scan) * grid.depth;
        std::transform(line, line + grid.depth, values.begin(),
                       [&](auto code) { return static_cast<double>(code) * grid.scale + grid.offset; });
    });
    return values;
}

bool is_in_db(const VolumeGrid& grid) {
    return grid.quantity == "db" || grid.unit == "dB" || grid.unit.starts_with("dB ");  // not dB^2, a variance
}

// Converts a value of the volume to an amplitude.
double amplitude_of(const VolumeGrid& grid, double value) {
    if (is_in_db(grid)) return std::pow(10, value / 20);
    const double positive = std::max(value, 0.0);
    return grid.quantity == "intensity" ? std::sqrt(positive) : positive;
}

// Converts an amplitude to the unit of the volume.
double value_of_amplitude(const VolumeGrid& grid, double amplitude) {
    if (is_in_db(grid)) return 20 * std::log10(amplitude);
    return grid.quantity == "intensity" ? amplitude * amplitude : amplitude;
}

// Returns where the amplitude starts to rise again, searching from `top` with `step`, or the end of the data.
std::int64_t end_of_lobe(std::span<const double> amplitudes, std::int64_t top, std::int64_t step) {
    std::int64_t at = top;
    const auto value = [&](std::int64_t i) { return amplitudes[index(i)]; };
    while (at + step >= 0 && at + step < std::ssize(amplitudes) && value(at + step) <= value(at)) at += step;
    return at;
}

// Returns the largest amplitude outside the main lobe, relative to the peak, in dB.
double side_lobe_db(std::span<const double> amplitudes, double height) {
    const std::int64_t top = std::ranges::max_element(amplitudes) - amplitudes.begin();
    const std::int64_t before = end_of_lobe(amplitudes, top, -1), after = end_of_lobe(amplitudes, top, 1);
    double max = 0;
    for (std::int64_t i = 0; i < std::ssize(amplitudes); ++i) {
        if (i < before || i > after) max = std::max(max, amplitudes[index(i)]);
    }
    return max > 0 ? 20 * std::log10(max / height) : -std::numeric_limits<double>::infinity();
}

// Returns the depth in um, or the row if the spacing is unknown.
double depth_of(const VolumeGrid& grid, double row) {
    return grid.spacing_um[0] > 0 ? grid.first_depth_um + row * grid.spacing_um[0] : row;
}

// Returns the strongest echo of the given rows, which start at `begin`.
StrongestEcho echo_in(const VolumeGrid& grid, std::span<const double> amplitudes, std::int64_t begin) {
    const DepthPeak peak = strongest_peak(amplitudes, 0, std::ssize(amplitudes));
    const double row_um = grid.spacing_um[0] > 0 ? grid.spacing_um[0] : 1;
    StrongestEcho echo;
    echo.depth = depth_of(grid, peak.bin + static_cast<double>(begin));
    echo.height = value_of_amplitude(grid, peak.height);
    echo.fwhm = peak.fwhm * row_um;
    echo.side_lobe_db = peak.height > 0 ? side_lobe_db(amplitudes, peak.height) : 0;
    return echo;
}

// Returns the interval with an end of 0 replaced by `count`. Throws if it is not in the volume.
Interval part(const Interval& wanted, std::int64_t count, const char* what, const char* option) {
    const Interval all{wanted.begin, wanted.end == 0 ? count : wanted.end};
    if (all.begin >= 0 && all.begin < all.end && all.end <= count) return all;
    throw Error(ErrorCode::bad_setting, fmt::format("{} {}:{} are not in the volume", what, all.begin, all.end), option,
                fmt::format("the volume has 0:{}", count));
}

const char* length_name(const VolumeGrid& grid, const char* in_um, const char* in_rows) {
    return grid.spacing_um[0] > 0 ? in_um : in_rows;
}

// Returns a column name with its unit, quoted if the unit contains a comma, quote or newline.
std::string column(const std::string& name, const std::string& unit) {
    std::string text = unit.empty() ? name : name + " (" + unit + ")";
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    for (std::size_t i = text.find('"'); i != std::string::npos; i = text.find('"', i + 2)) text.insert(i, 1, '"');
    return '"' + text + '"';
}

}  // namespace

DepthProfile depth_profile(const Volume& volume, std::int64_t a_scan, std::int64_t b_scan) {
    const VolumeGrid& grid = volume.grid;
    check_b_scan(grid, b_scan);
    if (a_scan < 0 || a_scan >= grid.a_scans) {
        throw Error(ErrorCode::bad_setting, fmt::format("there is no A-scan {}", a_scan), "a_scan",
                    fmt::format("the volume has A-scans 0 to {}", grid.a_scans - 1));
    }
    DepthProfile profile{grid.spacing_um[0] > 0, {}, values_of(volume, a_scan, b_scan), grid.unit};
    for (std::int64_t row = 0; row < grid.depth; ++row) {
        profile.depth.push_back(depth_of(grid, static_cast<double>(row)));
    }
    return profile;
}

std::vector<StrongestEcho> strongest_echoes(const Volume& volume, Interval b_scans, Interval rows) {
    const VolumeGrid& grid = volume.grid;
    check_b_scan(grid, 0);
    b_scans = part(b_scans, grid.b_scans, "B-scans", "b_scan");
    rows = part(rows, grid.depth, "depth rows", "rows");
    std::vector<StrongestEcho> echoes;
    for (std::int64_t b = b_scans.begin; b < b_scans.end; ++b) {
        for (std::int64_t a = 0; a < grid.a_scans; ++a) {
            std::vector<double> amplitudes = values_of(volume, a, b);
            for (double& value : amplitudes) value = amplitude_of(grid, value);
            const auto searched = std::span(amplitudes).subspan(index(rows.begin), index(rows.end - rows.begin));
            echoes.push_back(echo_in(grid, searched, rows.begin));
            echoes.back().b_scan = b;
            echoes.back().a_scan = a;
        }
    }
    return echoes;
}

std::string csv_of(const DepthProfile& profile) {
    std::string csv = fmt::format("{},{}\n", profile.is_um ? "depth_um" : "depth_row", column("value", profile.unit));
    for (std::size_t i = 0; i < profile.values.size(); ++i) {
        csv += fmt::format("{:.9g},{:.9g}\n", profile.depth[i], profile.values[i]);
    }
    return csv;
}

std::string csv_of(const std::vector<StrongestEcho>& echoes, const VolumeGrid& grid) {
    std::string csv = fmt::format("b_scan,a_scan,{},{},{},side_lobe_db\n", length_name(grid, "depth_um", "depth_row"),
                                  column("height", grid.unit), length_name(grid, "fwhm_um", "fwhm_rows"));
    for (const StrongestEcho& echo : echoes) {
        csv += fmt::format("{},{},{:.9g},{:.9g},{:.9g},{:.6g}\n", echo.b_scan, echo.a_scan, echo.depth, echo.height,
                           echo.fwhm, echo.side_lobe_db);
    }
    return csv;
}

namespace {

using VoxelIndex = std::array<double, 3>;

// Position between two voxels on one axis: the voxel below, and the share of the one above.
struct Between {
    std::int64_t below, above;
    double share;
};

// Clamps the position to the voxels of the axis.
Between between(double index, std::int64_t count) {
    const double inside = std::clamp(index, 0.0, static_cast<double>(count - 1));
    const auto below = static_cast<std::int64_t>(std::floor(inside));
    return {below, std::min(below + 1, count - 1), inside - static_cast<double>(below)};
}

template <class Code>
double code_between(const Code* codes, const VolumeGrid& grid, const VoxelIndex& index) {
    const Between z = between(index[0], grid.depth), a = between(index[1], grid.a_scans),
                  b = between(index[2], grid.b_scans);
    const auto along_depth = [&](std::int64_t a_scan, std::int64_t b_scan) {
        const Code* line = codes + (b_scan * grid.a_scans + a_scan) * grid.depth;
        return std::lerp(static_cast<double>(line[z.below]), static_cast<double>(line[z.above]), z.share);
    };
    const auto along_lines = [&](std::int64_t b_scan) {
        return std::lerp(along_depth(a.below, b_scan), along_depth(a.above, b_scan), a.share);
    };
    return std::lerp(along_lines(b.below), along_lines(b.above), b.share);
}

}  // namespace

LineProfile line_profile(const Volume& volume, const VoxelIndex& from, const VoxelIndex& to) {
    const VolumeGrid& grid = volume.grid;
    if (grid.type == VoxelType::complex64 || grid.type == VoxelType::phasor8) {
        throw Error(ErrorCode::bad_setting, "complex voxels have no profile", "measure", "show amplitudes or dB");
    }
    LineProfile profile{.from = from, .to = to, .values = {}, .unit = grid.unit};
    const bool is_known = std::ranges::all_of(grid.spacing_um, [](double spacing) { return spacing > 0; });
    profile.has_spacing = is_known;
    profile.length = std::hypot(to[0] - from[0], to[1] - from[1], to[2] - from[2]);
    VoxelIndex edges{1, 1, 1};
    for (std::size_t i = 0; i < 3; ++i) {
        if (grid.spacing_um[i] > 0) edges[i] = grid.spacing_um[i];
    }
    double voxels = 0;
    for (std::size_t i = 0; i < 3; ++i) voxels = std::hypot(voxels, (to[i] - from[i]) / edges[i]);
    constexpr double max_values = 4096;
    const auto count = static_cast<std::size_t>(std::clamp(2 * std::ceil(voxels), 1.0, max_values - 1)) + 1;
    with_voxels(volume, [&](const auto* codes) {
        for (std::size_t i = 0; i < count; ++i) {
            const double share = static_cast<double>(i) / static_cast<double>(count - 1);
            VoxelIndex index{};
            for (std::size_t axis = 0; axis < 3; ++axis)
                index[axis] = std::lerp(from[axis], to[axis], share) / edges[axis];
            profile.values.push_back(static_cast<float>(code_between(codes, grid, index) * grid.scale + grid.offset));
        }
    });
    return profile;
}

std::string profile_csv(const LineProfile& profile) {
    std::string csv = profile.has_spacing ? "length_um,value\n" : "length_voxels,value\n";
    for (std::size_t i = 0; i < profile.values.size(); ++i) {
        csv += fmt::format("{:.6g},{:.6g}\n", profile.step() * static_cast<double>(i), profile.values[i]);
    }
    return csv;
}

}  // namespace echolux
