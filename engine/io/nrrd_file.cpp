// NRRD (teem.sourceforge.net/nrrd/format.html). Reads raw or gzip-compressed voxels after the header or in a separate
// file. Writes a single file, with time as the last axis and texts as key/value pairs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compute/error.h"
#include "compute/indexing.h"
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
constexpr TypeName type_names[] = {{"unsigned char", StoredType::u8}, {"uchar", StoredType::u8},
                                   {"uint8", StoredType::u8},         {"uint8_t", StoredType::u8},
                                   {"signed char", StoredType::i8},   {"int8", StoredType::i8},
                                   {"int8_t", StoredType::i8},        {"char", StoredType::i8},
                                   {"short", StoredType::i16},        {"short int", StoredType::i16},
                                   {"signed short", StoredType::i16}, {"int16", StoredType::i16},
                                   {"int16_t", StoredType::i16},      {"unsigned short", StoredType::u16},
                                   {"ushort", StoredType::u16},       {"uint16", StoredType::u16},
                                   {"uint16_t", StoredType::u16},     {"int", StoredType::i32},
                                   {"signed int", StoredType::i32},   {"int32", StoredType::i32},
                                   {"int32_t", StoredType::i32},      {"unsigned int", StoredType::u32},
                                   {"uint", StoredType::u32},         {"uint32", StoredType::u32},
                                   {"uint32_t", StoredType::u32},     {"long long", StoredType::i64},
                                   {"longlong", StoredType::i64},     {"int64", StoredType::i64},
                                   {"int64_t", StoredType::i64},      {"unsigned long long", StoredType::u64},
                                   {"ulonglong", StoredType::u64},    {"uint64", StoredType::u64},
                                   {"uint64_t", StoredType::u64},     {"float", StoredType::f32},
                                   {"double", StoredType::f64}};

// Escapes backslashes, as NRRD requires in values. Values contain no line breaks.
std::string escaped(const std::string& text) {
    std::string line;
    for (const char c : text) line += c == '\\' ? std::string("\\\\") : std::string(1, c);
    return line;
}

// ---- reading --------------------------------------------------------------------------------------------------------

// Raw header of a file.
struct NrrdHeader {
    std::map<std::string, std::string> fields;
    std::map<std::string, std::string> texts;
    std::size_t bytes = 0;
    std::string where;

    std::string field(const std::string& name) const {
        const auto found = fields.find(name);
        return found == fields.end() ? "" : found->second;
    }

    [[noreturn]] void refuse(const std::string& what, const std::string& remedy = {}) const {
        throw Error(ErrorCode::bad_file, what, where, remedy);
    }
};

// Parses a field "name: value" or a text "key:=value".
void add_line(std::string_view line, NrrdHeader& header) {
    if (line.starts_with('#')) return;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    std::string name(line.substr(0, colon));
    if (line.substr(colon).starts_with(":=")) {
        header.texts[name] = with_line_breaks(line.substr(colon + 2));
        return;
    }
    // "data file" and "datafile" are the same field.
    std::erase_if(name, [](char c) { return c == ' ' || c == '_' || c == '-'; });
    name = lower_case(name);
    // "centers" is the old name of the field.
    if (name == "centers") name = "centerings";
    header.fields[name] = trimmed(line.substr(colon + 1));
}

NrrdHeader parsed_header(const std::filesystem::path& path) {
    NrrdHeader header;
    header.where = path.string();
    const std::string start = start_of_file(path);
    if (start.empty()) header.refuse("is empty", "copy the file again");
    if (!start.starts_with("NRRD000")) header.refuse("is not an NRRD file");
    bool complete = false;
    while (!complete && header.bytes < start.size()) {
        const std::size_t end = start.find('\n', header.bytes);
        if (end == std::string::npos) break;
        std::string_view line(start.data() + header.bytes, end - header.bytes);
        if (line.ends_with('\r')) line.remove_suffix(1);
        header.bytes = end + 1;
        complete = line.empty();
        add_line(line, header);
    }
    // A detached header may end without an empty line.
    const bool apart = !header.field("datafile").empty();
    if (!complete && !apart) header.refuse("is not an NRRD file, or ends within its header", "copy the file again");
    return header;
}

StoredType stored_type(const NrrdHeader& header) {
    for (const TypeName& entry : type_names) {
        if (entry.name == header.field("type")) return entry.type;
    }
    header.refuse("has voxels of type \"" + header.field("type") + "\"", "integers and floats can be read");
}

// Description of one axis, collected from several fields.
struct Axis {
    std::int64_t size = 1;
    std::string kind;
    double spacing = std::nan("");
    std::string unit;
};

// Returns the length of each vector in "(0.01,0,0) none (0,0,1)"; NaN for "none".
std::vector<double> lengths_of(std::string text) {
    std::vector<double> lengths;
    for (std::size_t at = 0; at < text.size();) {
        at = text.find_first_not_of(" \t", at);
        if (at == std::string::npos) break;
        const std::size_t end = text[at] == '(' ? text.find(')', at) : text.find_first_of(" \t", at);
        double sum = text[at] == '(' ? 0 : std::nan("");
        for (const double part : numbers_of(text.substr(at, end - at), "(,) \t")) sum += part * part;
        lengths.push_back(std::sqrt(sum));
        at = end == std::string::npos ? end : end + 1;
    }
    return lengths;
}

// Returns the vectors in "(1,0,0) (0,1,0) (0,0,1)", skipping "none".
std::vector<std::array<double, 3>> vectors_of(const std::string& text) {
    std::vector<std::array<double, 3>> vectors;
    for (std::size_t begin = 0; (begin = text.find('(', begin)) != std::string::npos;) {
        const std::size_t end = text.find(')', begin);
        const auto numbers = numbers_of(text.substr(begin, end - begin), "(,) \t");
        if (numbers.size() == 3) vectors.push_back({numbers[0], numbers[1], numbers[2]});
        begin = std::min(end, text.size());
    }
    return vectors;
}

// The name of a space gives the directions of its axes: "right-anterior-superior" or "RAS". Other spaces are not
// related to a patient. Their vectors are used unchanged, as in ITK.
struct Space {
    bool is_patient = false, is_right = false, is_anterior = false, is_inferior = false;

    explicit Space(const std::string& name) {
        const bool is_short = name.size() >= 3 && name.find('-') == std::string::npos;
        is_right = name.starts_with("right") || (is_short && name.starts_with("R"));
        is_anterior = name.find("anterior") != std::string::npos || (is_short && name[1] == 'A');
        is_inferior = name.find("inferior") != std::string::npos || (is_short && name[2] == 'I');
        is_patient = is_right || name.starts_with("left") || (is_short && name.starts_with("L"));
    }

    std::array<double, 3> in_lps(std::array<double, 3> vector) const {
        if (!is_patient) return vector;
        if (is_right) vector[0] = -vector[0];
        if (is_anterior) vector[1] = -vector[1];
        if (is_inferior) vector[2] = -vector[2];
        return vector;
    }
};

// Sets the pose from the vectors of a space with three axes. `millimetres` is the unit of the space.
void set_pose(const NrrdHeader& header, double millimetres, ImageHeader& image) {
    const Space space(header.field("space"));
    const auto vectors = vectors_of(header.field("spacedirections"));
    const auto origins = vectors_of(header.field("spaceorigin"));
    if (vectors.size() != 3) return;
    ImagePose pose;
    for (std::size_t i = 0; i < 3; ++i) pose.steps.at(i) = space.in_lps(vectors[i]);
    if (space.is_patient) add_orientation(image, pose.steps);
    if (origins.size() == 1) pose.origin = space.in_lps(origins.front());
    for (std::array<double, 3>& step : pose.steps) {
        for (double& number : step) number *= millimetres;
    }
    for (double& number : pose.origin) number *= millimetres;
    if (is_valid(pose)) image.pose = pose;
}

// Returns the strings in quotes.
std::vector<std::string> quoted(const std::string& text) {
    std::vector<std::string> words;
    for (std::size_t begin = 0; (begin = text.find('"', begin)) != std::string::npos;) {
        const std::size_t end = text.find('"', begin + 1);
        if (end == std::string::npos) break;
        words.push_back(text.substr(begin + 1, end - begin - 1));
        begin = end + 1;
    }
    return words;
}

// Spacings come from "spacings" or from the length of "space directions".
std::vector<Axis> axes_of(const NrrdHeader& header) {
    std::vector<Axis> axes;
    for (const std::string& word : words_of(header.field("sizes"))) {
        constexpr std::size_t max = 16;
        if (axes.size() == max) header.refuse("has too many dimensions");
        axes.emplace_back().size = size_of(word, header.where);
    }
    if (axes.empty() || std::to_string(axes.size()) != header.field("dimension")) {
        header.refuse("has sizes that do not fit its dimension", "copy the file again");
    }
    const auto kinds = words_of(header.field("kinds"));
    const auto spacings = numbers_of(header.field("spacings"));
    const auto lengths = lengths_of(header.field("spacedirections"));
    const auto units = quoted(header.field("units"));
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (i < kinds.size()) axes[i].kind = kinds[i];
        if (i < spacings.size()) axes[i].spacing = spacings[i];
        if (i < lengths.size() && std::isfinite(lengths[i])) axes[i].spacing = lengths[i];
        if (i < units.size()) axes[i].unit = units[i];
    }
    return axes;
}

// Two floats per voxel: removes the first axis and changes the voxel type to complex.
bool take_complex(std::vector<Axis>& axes, RawLayout& layout) {
    if (axes.front().kind != "complex" || axes.front().size != 2 || layout.stored != StoredType::f32) return false;
    layout.stored = StoredType::complex64;
    axes.erase(axes.begin());
    return true;
}

// Assigns the axes to columns, rows, slices and time points in their order. Time is an axis of kind "time" or "list",
// or the fourth axis.
void set_geometry(const NrrdHeader& header, const std::vector<Axis>& axes, RawLayout& layout) {
    ImageHeader& image = layout.header;
    const auto space_units = quoted(header.field("spaceunits"));
    const double millimetres = space_units.empty() ? 1 : millimetres_in(space_units.front());
    std::vector<int> order;
    std::size_t next = 0;
    for (const Axis& axis : axes) {
        const bool is_time = axis.kind == "time" || axis.kind == "list" || next == 3;
        const bool is_space = axis.kind.empty() || axis.kind == "domain" || axis.kind == "space" ||
                              axis.kind == "???" || axis.kind == "none";
        const bool again = is_time && std::ranges::count(order, 3) > 0;
        // Extra axes of size 1 are ignored.
        if (axis.size == 1 && (again || (!is_time && !is_space))) continue;
        if (again) header.refuse("has more than four dimensions");
        if (!is_time && !is_space) {
            header.refuse(fmt::format("has {} of type {} per voxel", plural(axis.size, "values"), header.field("type")),
                          "only gray and complex (two float32) volumes can be read; convert colours to gray");
        }
        order.push_back(is_time ? 3 : static_cast<int>(next));
        if (is_time) {
            image.time_points = axis.size;
            const double step = axis.spacing * seconds_in(axis.unit);
            if (std::isfinite(step) && step > 0) image.time_step_s = step;
            continue;
        }
        image.size[next] = axis.size;
        const double spacing = axis.spacing * (millimetres > 0 ? millimetres : 1);
        if (std::isfinite(spacing) && spacing > 0) image.spacing_mm[next] = spacing;
        ++next;
    }
    for (int axis = 0; axis < 4; ++axis) {
        if (std::ranges::count(order, axis) == 0) order.push_back(axis);  // axes of size 1 fit anywhere
    }
    std::ranges::copy(order, layout.order.begin());
    // Without space units, spacings other than 1 are taken as millimetres.
    image.has_unit = space_units.empty() ? std::ranges::any_of(image.spacing_mm, [](double mm) { return mm != 1; })
                                         : millimetres > 0;
    set_pose(header, millimetres > 0 ? millimetres : 1, image);
    const auto origin = numbers_of(header.field("spaceorigin"), "(,) \t");
    for (std::size_t i = 0; i < std::min<std::size_t>(3, origin.size()); ++i) {
        if (std::isfinite(origin[i])) image.origin_mm[i] = origin[i] * (millimetres > 0 ? millimetres : 1);
    }
}

// Determines the position of the voxels: after the header, or in another file after some lines and bytes. A byte skip
// of -1 means the last bytes of the file.
void set_place(const NrrdHeader& header, const std::filesystem::path& path, RawLayout& layout) {
    const std::string encoding = header.field("encoding");
    layout.packed = encoding == "gzip" || encoding == "gz";
    if (!layout.packed && encoding != "raw") {
        header.refuse("has the encoding \"" + encoding + "\"", "save it with encoding raw or gzip");
    }
    const std::string file = header.field("datafile");
    layout.voxels = file.empty() ? path : named_file(path, file);
    layout.begin = file.empty() ? static_cast<std::int64_t>(header.bytes) : 0;
    const auto number = [&](const char* name) {
        const auto numbers = numbers_of(header.field(name));
        return numbers.size() == 1 && std::abs(numbers[0]) < 1e9 ? static_cast<std::int64_t>(numbers[0]) : 0;
    };
    const std::int64_t lines = number("lineskip");
    if (lines < 0) header.refuse("has a negative line skip", "correct the header");
    if (lines > 0) {
        const std::string start = start_of_file(layout.voxels);
        std::size_t at = index(layout.begin);
        for (std::int64_t line = 0; line < lines && at < start.size(); ++line)
            at = std::min(start.find('\n', at), start.size()) + 1;
        layout.begin = static_cast<std::int64_t>(at);
    }
    const std::int64_t skip = number("byteskip");
    if (skip < -1) header.refuse("has a negative byte skip that is not -1", "correct the header");
    if (skip < 0) {
        layout.begin = begin_of_last_bytes(layout);
    } else {
        (layout.packed ? layout.skipped : layout.begin) += skip;
    }
}

// ---- writing --------------------------------------------------------------------------------------------------------

std::string type_name(VoxelType type) {
    if (type == VoxelType::complex64) return "float";
    for (const TypeName& entry : type_names) {
        if (entry.type == stored_as(type)) return std::string(entry.name);
    }
    return "";
}

std::string directions_of(const ImageHeader& header) {
    if (header.pose) {
        const auto& [a, b, c] = header.pose->steps;
        return fmt::format("({}) ({}) ({})", fmt::join(a, ","), fmt::join(b, ","), fmt::join(c, ","));
    }
    return fmt::format("({},0,0) (0,{},0) (0,0,{})", header.spacing_or_one(0), header.spacing_or_one(1),
                       header.spacing_or_one(2));
}

// Returns the header with the empty line that ends it.
std::string header_lines(const ImageHeader& header, bool packed) {
    const bool complex = header.type == VoxelType::complex64;
    const bool series = header.time_points > 1;
    const auto axes = [&](const std::string& of_complex, const std::string& of_space, const std::string& of_time) {
        return (complex ? of_complex + " " : "") + of_space + (series ? " " + of_time : "");
    };
    const auto [columns, rows, slices] = header.size;
    std::string text =
        "NRRD0004\n# Complete NRRD file format specification at:\n# http://teem.sourceforge.net/nrrd/format.html\n";
    const auto add = [&](const char* field, const std::string& value) {
        text += fmt::format("{}: {}\n", field, value);
    };
    add("type", type_name(header.type));
    add("dimension", std::to_string(3 + (complex ? 1 : 0) + (series ? 1 : 0)));
    add("space", "left-posterior-superior");
    add("sizes", axes("2", fmt::format("{} {} {}", columns, rows, slices), std::to_string(header.time_points)));
    add("space directions", axes("none", directions_of(header), "none"));
    add("kinds", axes("complex", "domain domain domain", "time"));
    if (header.has_unit) add("space units", "\"mm\" \"mm\" \"mm\"");
    if (series && header.time_step_s > 0) {
        add("spacings", axes("nan", "nan nan nan", fmt::format("{}", header.time_step_s)));
        add("units", axes("\"\"", "\"\" \"\" \"\"", "\"s\""));
    }
    if (bytes_of(header.type) > 1) add("endian", "little");
    add("encoding", packed ? "gzip" : "raw");
    add("space origin", fmt::format("({})", fmt::join(header.pose ? header.pose->origin : header.origin_mm, ",")));
    for (const auto& [key, value] : header.texts) text += fmt::format("{}:={}\n", key, escaped(value));
    return text + "\n";
}

}  // namespace

std::unique_ptr<ImageReader> open_nrrd(const std::filesystem::path& path) {
    const NrrdHeader header = parsed_header(path);
    RawLayout layout;
    layout.stored = stored_type(header);
    std::vector<Axis> axes = axes_of(header);
    take_complex(axes, layout);
    layout.header.type = voxel_type(layout.stored);
    layout.header.texts = header.texts;
    layout.swapped = header.field("endian") == "big";
    set_geometry(header, axes, layout);
    set_place(header, path, layout);
    return open_raw_image(layout, path);
}

std::unique_ptr<ImageWriter> create_nrrd(const std::filesystem::path& path, const ImageHeader& header,
                                         const ImageStorage& storage, const std::string& where) {
    const bool packed = storage.compression == Compression::gzip;
    return create_raw_image(path, header_lines(header, packed), packed ? Packed::voxels : Packed::nothing, where);
}

}  // namespace echolux
