#include "engine/io/volume_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "engine/io/image_header.h"
#include "engine/io/regular_file.h"

namespace echolux {
namespace {

const std::string prefix = "echolux_";  // of our keys in files
const std::string provenance_prefix = prefix + "provenance_";
const std::string spacing_known_key = prefix + "spacing_known";
const std::string affine_key = "affine";  // provenance key

constexpr std::array<std::size_t, 3> file_axis{1, 0, 2};  // file axes of depth, A-scan, B-scan

// ---- texts ----------------------------------------------------------------------------------------------------------

// Escapes line breaks, because a value is one line in most headers.
std::string on_one_line(const std::string& text) {
    std::string line;
    for (const char c : text) {
        if (c == '\n') {
            line += "\\n";
        } else if (c == '\\') {
            line += "\\\\";
        } else if (c != '\r') {
            line += c;
        }
    }
    return line;
}

// Lists the known spacings, one letter per axis: depth, A-scan, B-scan; "-" if none is known.
constexpr std::array<char, 3> axis_letters{'d', 'a', 'b'};

std::string known_spacings(const VolumeGrid& grid) {
    std::string letters;
    for (std::size_t i = 0; i < 3; ++i) {
        if (grid.spacing_um[i] > 0) letters += axis_letters[i];
    }
    return letters.empty() ? "-" : letters;
}

// Returns the texts that describe what most formats have no fields for.
std::map<std::string, std::string> texts_for(const SeriesHeader& series) {
    const VolumeGrid& grid = series.grid;
    std::map<std::string, std::string> texts;
    const auto add = [&](const std::string& key, const std::string& text) {
        if (!text.empty()) texts[key] = on_one_line(text);  // MetaImage has no empty values
    };
    add("description", "Echolux " + grid.quantity + ", " + grid.unit);
    add(spacing_known_key, known_spacings(grid));  // present in each of our files, see has_own_texts()
    add(prefix + "scale", fmt::format("{}", grid.scale));
    add(prefix + "offset", fmt::format("{}", grid.offset));
    add(prefix + "quantity", grid.quantity);
    add(prefix + "unit", grid.unit);
    if (grid.first_depth_um != 0) add(prefix + "first_depth_um", fmt::format("{}", grid.first_depth_um));
    if (grid.v_max > 0) add(prefix + "v_max_mm_s", fmt::format("{}", grid.v_max));
    if (series.time_points > 1 && series.step_s > 0) add(prefix + "time_step_s", fmt::format("{}", series.step_s));
    add(prefix + "times_s", fmt::format("{}", fmt::join(series.times_s, " ")));
    for (const auto& [key, text] : series.provenance) add(provenance_prefix + key, text);
    return texts;
}

// Access to our texts in a header. Missing texts yield std::nullopt, defaults or empty lists.
class OurTexts {
  public:
    explicit OurTexts(const ImageHeader& image) : texts_(image.texts) {}

    std::optional<std::string> text(const std::string& key) const {
        const auto found = texts_.find(prefix + key);
        if (found == texts_.end()) return std::nullopt;
        return with_line_breaks(found->second);
    }

    double number(const std::string& key, double otherwise) const {
        const std::vector<double> numbers = numbers_of(key);
        return numbers.size() == 1 ? numbers.front() : otherwise;
    }

    std::vector<double> numbers_of(const std::string& key) const {
        const std::string all = text(key).value_or("");
        std::vector<double> numbers;
        const char* at = all.c_str();
        for (char* end = nullptr;; at = end) {
            const double number = std::strtod(at, &end);
            if (end == at || !std::isfinite(number)) return numbers;
            numbers.push_back(number);
        }
    }

    std::map<std::string, std::string> provenance() const {
        std::map<std::string, std::string> lines;
        for (const auto& [key, line] : texts_) {
            if (key.starts_with(provenance_prefix)) {
                lines[key.substr(provenance_prefix.size())] = with_line_breaks(line);
            }
        }
        return lines;
    }

  private:
    const std::map<std::string, std::string>& texts_;
};

// ---- transposing ----------------------------------------------------------------------------------------------------

// Works in tiles that fit into the cache.
template <class Voxel>
void transpose_slice(const std::byte* in, std::byte* out, std::int64_t rows, std::int64_t columns) {
    constexpr std::int64_t tile = 32;
    constexpr auto bytes = static_cast<std::int64_t>(sizeof(Voxel));
    for (std::int64_t top = 0; top < rows; top += tile) {
        for (std::int64_t left = 0; left < columns; left += tile) {
            for (std::int64_t row = top; row < std::min(top + tile, rows); ++row) {
                for (std::int64_t column = left; column < std::min(left + tile, columns); ++column) {
                    std::memcpy(out + (column * rows + row) * bytes, in + (row * columns + column) * bytes, bytes);
                }
            }
        }
    }
}

// Foreign files do not list their known spacings: with a unit, all are assumed to be known.
std::array<double, 3> spacings_um(const ImageHeader& image, const OurTexts& ours) {
    const std::string known = ours.text("spacing_known").value_or(image.has_unit ? "dab" : "-");
    std::array<double, 3> spacings{};
    for (std::size_t i = 0; i < 3; ++i) {
        if (known.find(axis_letters[i]) != std::string::npos) spacings[i] = image.spacing_mm[file_axis[i]] * 1000;
    }
    return spacings;
}

PosedGrid posed_grid(const VolumeGrid& grid) {
    PosedGrid posed{{grid.a_scans, grid.depth, grid.b_scans}};
    for (std::size_t i = 0; i < 3; ++i) posed.spacing_mm[file_axis[i]] = std::max(0.0, grid.spacing_um[i]) / 1000;
    return posed;
}

std::optional<ImagePose> noted_pose(const SeriesHeader& series) {
    const auto text = series.provenance.find(affine_key);
    if (text == series.provenance.end()) return {};
    return pose_in(text->second, posed_grid(series.grid));
}

// Returns the pose of a file, or nothing if it has only straight axes and a first depth, as all our files do.
std::optional<ImagePose> stated_pose(const ImageHeader& image, bool is_ours) {
    std::optional<ImagePose> pose = image.pose;
    if (pose && is_ours && pose->is_straight() && pose->origin[0] == 0 && pose->origin[2] == 0) return {};
    const bool has_origin = std::ranges::any_of(image.origin_mm, [](double origin) { return origin != 0; });
    if (pose || is_ours || !has_origin) return pose;
    ImagePose straight;
    for (std::size_t i = 0; i < 3; ++i) straight.steps.at(i).at(i) = image.spacing_or_one(i);
    straight.origin = image.origin_mm;
    return straight;
}

// Standard fields of a file take precedence over our text, which another program may have copied.
void take_pose(const ImageHeader& image, bool is_ours, SeriesHeader& series) {
    const std::optional<ImagePose> noted = noted_pose(series);
    if (noted && (!image.pose || image.pose->is_close_to(*noted))) return;
    series.provenance.erase(affine_key);
    const std::optional<ImagePose> pose = stated_pose(image, is_ours);
    if (!pose || !is_valid(*pose)) return;
    series.provenance[affine_key] = affine_text(*pose, posed_grid(series.grid));
    const std::string orientation = is_ours ? orientation_of(pose->steps) : "";
    if (!orientation.empty()) series.provenance["orientation"] = orientation;
}

}  // namespace

bool has_pose(const SeriesHeader& series) {
    return noted_pose(series).has_value();
}

bool is_turned(const SeriesHeader& series) {
    const std::optional<ImagePose> pose = noted_pose(series);
    return pose && !pose->is_straight();
}

bool is_shifted(const SeriesHeader& series) {
    const std::optional<ImagePose> pose = noted_pose(series);
    return pose && std::ranges::any_of(pose->origin, [](double origin) { return origin != 0; });
}

ImageHeader image_header(const SeriesHeader& series) {
    const VolumeGrid& grid = series.grid;
    ImageHeader image;
    image.size = {grid.a_scans, grid.depth, grid.b_scans};
    image.type = grid.type;
    image.scale = grid.scale;
    image.offset = grid.offset;
    image.time_points = series.time_points;
    image.time_step_s = series.step_s;
    image.times_s = series.times_s;
    image.texts = texts_for(series);
    for (std::size_t i = 0; i < 3; ++i) image.spacing_mm[file_axis[i]] = std::max(0.0, grid.spacing_um[i]) / 1000;
    image.has_unit = std::ranges::any_of(image.spacing_mm, [](double spacing) { return spacing > 0; });
    if (grid.spacing_um[0] > 0) image.origin_mm[1] = grid.first_depth_um / 1000;
    image.pose = noted_pose(series);
    if (image.pose && image.pose->is_straight()) image.origin_mm = image.pose->origin;
    return image;
}

// Our texts take precedence over fields of the format, which may be less exact.
SeriesHeader series_header(const ImageHeader& image) {
    const OurTexts ours(image);
    SeriesHeader series;
    VolumeGrid& grid = series.grid;
    grid.a_scans = image.size[0];
    grid.depth = image.size[1];
    grid.b_scans = image.size[2];
    grid.type = image.type;
    grid.spacing_um = spacings_um(image, ours);
    grid.scale = ours.number("scale", image.scale);
    grid.offset = ours.number("offset", image.offset);
    grid.quantity = ours.text("quantity").value_or("");
    grid.unit = ours.text("unit").value_or("");
    grid.v_max = ours.number("v_max_mm_s", 0);
    series.time_points = image.time_points;
    series.step_s = ours.number("time_step_s", image.time_step_s);
    series.times_s = image.times_s.empty() ? ours.numbers_of("times_s") : image.times_s;
    if (std::ssize(series.times_s) != image.time_points) series.times_s.clear();
    series.provenance = ours.provenance();
    const bool is_ours = has_own_texts(image);
    take_pose(image, is_ours, series);
    const bool has_depth = is_ours && grid.spacing_um[0] > 0;  // the origin of other files is arbitrary
    const double origin_um = has_pose(series) ? 0 : image.origin_mm[1] * 1000;  // 0 in formats without an origin
    if (has_depth) grid.first_depth_um = origin_um != 0 ? origin_um : ours.number("first_depth_um", 0);
    return series;
}

bool has_own_texts(const ImageHeader& image) {
    return image.texts.contains(spacing_known_key);
}

void add_provenance(ImageHeader& image, const std::string& key, const std::string& text) {
    if (!text.empty()) image.texts[provenance_prefix + key] = on_one_line(text);
}

VolumeGrid level_grid(const ImageHeader& level, const ImageHeader& finest, const SeriesHeader& series) {
    VolumeGrid grid = series.grid;
    grid.a_scans = level.size[0];
    grid.depth = level.size[1];
    grid.b_scans = level.size[2];
    for (std::size_t i = 0; i < 3; ++i) {
        if (grid.spacing_um[i] > 0) grid.spacing_um[i] = level.spacing_mm[file_axis[i]] * 1000;
    }
    if (grid.spacing_um[0] > 0) grid.first_depth_um += (level.origin_mm[1] - finest.origin_mm[1]) * 1000;
    return grid;
}

void transpose(std::span<const std::byte> in, std::span<std::byte> out, VoxelType type, std::int64_t rows,
               std::int64_t columns) {
    const std::int64_t slice_bytes = rows * columns * bytes_of(type);
    for (std::int64_t at = 0; at + slice_bytes <= std::ssize(in); at += slice_bytes) {
        const std::byte* from = in.data() + at;
        std::byte* to = out.data() + at;
        switch (bytes_of(type)) {
            case 1: transpose_slice<std::uint8_t>(from, to, rows, columns); break;
            case 2: transpose_slice<std::uint16_t>(from, to, rows, columns); break;
            case 4: transpose_slice<std::uint32_t>(from, to, rows, columns); break;
            default: transpose_slice<std::uint64_t>(from, to, rows, columns); break;
        }
    }
}

}  // namespace echolux
