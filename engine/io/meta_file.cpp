// MetaImage (itk.org/Wiki/ITK/MetaIO). Reads raw or zlib-compressed voxels in one file (.mha) or in a header and a data
// file (.mhd). Writes one raw file, with time as the fourth dimension and texts as additional keys.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "compute/error.h"
#include "compute/plural.h"
#include "engine/io/file_name.h"
#include "engine/io/formats.h"
#include "engine/io/image_header.h"
#include "engine/io/image_stream.h"
#include "engine/io/regular_file.h"

namespace echolux {
namespace {

struct TypeName {
    std::string_view name;
    StoredType type;
};
// The first entry of each type is used for writing.
constexpr TypeName type_names[] = {
    {"MET_UCHAR", StoredType::u8},       {"MET_CHAR", StoredType::i8},   {"MET_SHORT", StoredType::i16},
    {"MET_USHORT", StoredType::u16},     {"MET_INT", StoredType::i32},   {"MET_UINT", StoredType::u32},
    {"MET_LONG", StoredType::i32},       {"MET_ULONG", StoredType::u32}, {"MET_LONG_LONG", StoredType::i64},
    {"MET_ULONG_LONG", StoredType::u64}, {"MET_FLOAT", StoredType::f32}, {"MET_DOUBLE", StoredType::f64},
    {"MET_FLOAT_ARRAY", StoredType::f32}};

// ---- reading --------------------------------------------------------------------------------------------------------

// Raw header of a file. Different programs use different names for some fields.
struct MetaHeader {
    std::map<std::string, std::string> fields;  // lines "Key = value"
    std::size_t bytes = 0;                      // up to the end of the ElementDataFile line, which is the last
    std::string where;

    // Returns the value of the first name that is present, or "".
    std::string field(std::initializer_list<const char*> names) const {
        for (const char* name : names) {
            const auto found = fields.find(name);
            if (found != fields.end()) return found->second;
        }
        return "";
    }

    bool is_true(std::initializer_list<const char*> names) const {
        const std::string value = field(names);
        return value == "True" || value == "true" || value == "1";
    }

    [[noreturn]] void refuse(const std::string& what, const std::string& remedy = {}) const {
        throw Error(ErrorCode::bad_file, what, where, remedy);
    }
};

// Reads lines up to ElementDataFile, after which the voxels begin.
MetaHeader parsed_header(const std::filesystem::path& path) {
    MetaHeader header;
    header.where = path.string();
    const std::string start = start_of_file(path);
    while (header.bytes < start.size() && !header.fields.contains("ElementDataFile")) {
        const std::size_t end = std::min(start.find('\n', header.bytes), start.size());
        const std::string_view line(start.data() + header.bytes, end - header.bytes);
        header.bytes = std::min(end + 1, start.size());
        const std::size_t equals = std::min(line.find('='), line.find(':'));
        if (equals == std::string_view::npos) break;
        header.fields[std::string(trimmed(line.substr(0, equals)))] = trimmed(line.substr(equals + 1));
    }
    for (const char* needed : {"NDims", "DimSize", "ElementType", "ElementDataFile"}) {
        if (!header.fields.contains(needed)) header.refuse("is not a MetaImage, or ends within its header");
    }
    return header;
}

StoredType stored_type(const MetaHeader& header) {
    const std::string channels = header.field({"ElementNumberOfChannels"});
    const std::string name = header.field({"ElementType"});
    for (const TypeName& entry : type_names) {
        if (entry.name != name) continue;
        if (channels.empty() || channels == "1") return entry.type;
        if (channels == "2" && entry.type == StoredType::f32) return StoredType::complex64;
    }
    header.refuse(fmt::format("its voxels have ElementNumberOfChannels = {}, ElementType = {}",
                              channels.empty() ? "1" : channels, name),
                  "only gray and complex (two float32) volumes can be read; convert colours to gray");
}

void set_geometry(const MetaHeader& header, ImageHeader& image) {
    const auto sizes = words_of(header.field({"DimSize"}));
    constexpr std::size_t max = 10;
    if (sizes.empty() || sizes.size() > max || std::to_string(sizes.size()) != header.field({"NDims"})) {
        header.refuse("has sizes that do not fit its dimensions", "copy the file again");
    }
    const auto spacings = numbers_of(header.field({"ElementSpacing", "ElementSize"}));
    const std::size_t needed = std::min<std::size_t>(sizes.size(), 3);
    if (!spacings.empty() && spacings.size() < needed) {
        header.refuse(
            fmt::format("has {} for {}", plural(spacings.size(), "spacings"), plural(sizes.size(), "dimensions")),
            "complete ElementSpacing, or leave it out if they are unknown");
    }
    const auto origin = numbers_of(header.field({"Offset", "Position", "Origin"}));
    const std::string unit = header.field({"DistanceUnits"});
    const double millimetres = millimetres_in(unit) > 0 ? millimetres_in(unit) : 1;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::int64_t size = size_of(sizes[i], header.where);
        if (i > 3 && size > 1) header.refuse("has more than four dimensions");
        const bool has_spacing = i < spacings.size() && std::isfinite(spacings[i]) && spacings[i] != 0;
        if (i == 3) image.time_points = size;  // in an unknown unit, so the spacing is ignored
        if (i > 2) continue;
        image.size[i] = size;
        if (has_spacing) image.spacing_mm[i] = std::abs(spacings[i]) * millimetres;
        if (i < origin.size() && std::isfinite(origin[i])) image.origin_mm[i] = origin[i] * millimetres;
    }
    // Without DistanceUnits, spacings other than 1 are taken as millimetres.
    image.has_unit =
        millimetres_in(unit) > 0 || std::ranges::any_of(image.spacing_mm, [](double spacing) { return spacing != 1; });
}

// Letters name the side on which an axis starts: "RAI" means columns from the right, rows from the front, slices from
// the feet.
std::optional<PatientAxes> named_axes(const MetaHeader& header) {
    const std::string from = header.field({"AnatomicalOrientation"});
    if (from.size() != 3) return {};
    PatientAxes axes{};
    for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t at = std::string_view("RLAPIS").find(from[i]);
        if (at == std::string_view::npos) return {};
        axes.at(i).at(at / 2) = at % 2 == 0 ? 1 : -1;
    }
    return axes;
}

// Reads the direction matrix, one axis after the other, as ITK writes it.
std::optional<PatientAxes> axes_of_matrix(const MetaHeader& header) {
    const auto numbers = numbers_of(header.field({"TransformMatrix", "Rotation", "Orientation"}));
    const std::size_t dimensions = words_of(header.field({"DimSize"})).size();
    if (dimensions < 3 || numbers.size() != dimensions * dimensions) return {};
    PatientAxes axes{};
    for (std::size_t i = 0; i < 9; ++i) axes.at(i / 3).at(i % 3) = numbers[i / 3 * dimensions + i % 3];
    return axes;
}

// Also keeps directions without patient coordinates, as ITK does.
void set_pose(const MetaHeader& header, ImageHeader& image) {
    const auto named = named_axes(header);
    if (named) add_orientation(image, *named);
    const auto axes = axes_of_matrix(header);
    if (!axes && !named) return;
    ImagePose pose{axes ? *axes : *named, image.origin_mm};
    for (std::size_t i = 0; i < 3; ++i) {
        const double length = pose.spacing(i);
        for (double& number : pose.steps.at(i)) number *= image.spacing_or_one(i) / length;
    }
    if (is_valid(pose)) image.pose = pose;
}

// Determines the file and offset of the voxels. LOCAL means after the header.
void set_place(const MetaHeader& header, const std::filesystem::path& path, RawLayout& layout) {
    if (header.field({"BinaryData"}) == "False") header.refuse("stores voxels as text", "save it as binary");
    layout.packed = header.is_true({"CompressedData"});
    const std::string file = header.field({"ElementDataFile"});
    const bool apart = file != "LOCAL" && file != "Local" && file != "local";
    layout.voxels = apart ? named_file(path, file) : path;
    layout.begin = apart ? 0 : static_cast<std::int64_t>(header.bytes);
    const auto skip = numbers_of(header.field({"HeaderSize"}));
    if (skip.size() == 1 && skip[0] > 0 && skip[0] < 1e9) layout.begin += static_cast<std::int64_t>(skip[0]);
    // HeaderSize = -1: the voxels are the last bytes of the file.
    if (skip.size() == 1 && skip[0] == -1) layout.begin = begin_of_last_bytes(layout);
}

// ---- writing --------------------------------------------------------------------------------------------------------

std::string type_name(VoxelType type) {
    if (type == VoxelType::complex64) return "MET_FLOAT";
    for (const TypeName& entry : type_names) {
        if (entry.type == stored_as(type)) return std::string(entry.name);
    }
    return "";
}

// Returns the header, whose last line must be ElementDataFile.
std::string header_lines(const ImageHeader& header) {
    const std::size_t dimensions = header.time_points > 1 ? 4 : 3;
    const ImagePose pose = header.pose.value_or(ImagePose{{}, header.origin_mm});
    std::vector<double> spacing, origin(pose.origin.begin(), pose.origin.end());
    std::vector<std::int64_t> size(header.size.begin(), header.size.end());
    for (std::size_t i = 0; i < 3; ++i) spacing.push_back(header.pose ? pose.spacing(i) : header.spacing_or_one(i));
    spacing.push_back(header.time_step_s > 0 ? header.time_step_s : 1);
    size.push_back(header.time_points);
    origin.push_back(0);
    std::vector<double> matrix(dimensions * dimensions);
    for (std::size_t i = 0; i < dimensions; ++i) matrix[i * dimensions + i] = 1;
    for (std::size_t i = 0; header.pose && i < 9; ++i)
        matrix[i / 3 * dimensions + i % 3] = pose.steps.at(i / 3).at(i % 3) / pose.spacing(i / 3);
    std::string text;
    const auto add = [&](const std::string& key, const auto& value) { text += fmt::format("{} = {}\n", key, value); };
    const auto first = [&](const auto& values) {
        return fmt::format("{}", fmt::join(std::span(values).first(dimensions), " "));
    };
    add("ObjectType", "Image");
    add("NDims", dimensions);
    add("BinaryData", "True");
    add("BinaryDataByteOrderMSB", "False");
    add("CompressedData", "False");
    add("TransformMatrix", fmt::format("{}", fmt::join(matrix, " ")));
    add("Offset", first(origin));
    add("CenterOfRotation", first(std::vector<double>(4)));
    if (header.has_unit) add("DistanceUnits", "mm");
    add("ElementSpacing", first(spacing));
    for (const auto& [key, value] : header.texts) add(key, value);
    add("DimSize", first(size));
    if (header.type == VoxelType::complex64) add("ElementNumberOfChannels", 2);
    add("ElementType", type_name(header.type));
    add("ElementDataFile", "LOCAL");
    return text;
}

}  // namespace

std::unique_ptr<ImageReader> open_meta(const std::filesystem::path& path) {
    const MetaHeader header = parsed_header(path);
    RawLayout layout;
    layout.stored = stored_type(header);
    layout.header.type = voxel_type(layout.stored);
    layout.header.texts = header.fields;
    layout.swapped = header.is_true({"BinaryDataByteOrderMSB", "ElementByteOrderMSB"});
    set_geometry(header, layout.header);
    set_pose(header, layout.header);
    set_place(header, path, layout);
    return open_raw_image(layout, path);
}

std::unique_ptr<ImageWriter> create_meta(const std::filesystem::path& path, const ImageHeader& header,
                                         const ImageStorage&, const std::string& where) {
    return create_raw_image(path, header_lines(header), Packed::nothing, where);
}

}  // namespace echolux
