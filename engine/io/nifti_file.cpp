// NIfTI-1 in a single file (.nii, .nii.gz; nifti.nimh.nih.gov). The header cannot describe the meaning of voxels, so a
// comment extension holds our texts as lines "key = text". The text "description" goes into the header (79 characters).
// Columns run along -x and rows along -y.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/io/file_bytes.h"
#include "engine/io/formats.h"
#include "engine/io/image_header.h"
#include "engine/io/image_stream.h"

namespace echolux {
namespace {

constexpr std::size_t header_bytes = 348;
constexpr std::size_t voxels_start = 352;    // header and extension flag
constexpr std::size_t max_side = 32767;      // limit of 16-bit sizes
constexpr std::int32_t comment_code = 6;     // extension code "comment"
constexpr std::int64_t max_start = 1 << 24;  // limit of the voxel offset, which is stored as a float
constexpr int units_mm = 2, units_s = 8;

// Byte offsets of header fields.
constexpr std::size_t at_dim = 40, at_datatype = 70, at_bitpix = 72, at_pixdim = 76, at_vox_offset = 108,
                      at_slope = 112, at_intercept = 116, at_units = 123, at_description = 148, at_qform = 252,
                      at_sform = 254, at_quaternion_b = 256, at_q_offset = 268, at_srow = 280, at_magic = 344;

struct Datatype {
    std::int16_t code;
    StoredType type;
};
constexpr Datatype datatypes[] = {{2, StoredType::u8},     {4, StoredType::i16},        {16, StoredType::f32},
                                  {8, StoredType::i32},    {32, StoredType::complex64}, {64, StoredType::f64},
                                  {256, StoredType::i8},   {512, StoredType::u16},      {768, StoredType::u32},
                                  {1024, StoredType::i64}, {1280, StoredType::u64}};

// The fixed-size header, in either byte order.
class Fields {
  public:
    std::array<std::byte, voxels_start> bytes{};
    bool swapped = false;

    template <class T>
    T get(std::size_t place, std::size_t index = 0) const {
        std::array<std::byte, sizeof(T)> raw{};
        std::copy_n(bytes.data() + place + index * sizeof(T), sizeof(T), raw.data());
        if (swapped) std::ranges::reverse(raw);
        T value;
        std::memcpy(&value, raw.data(), sizeof(T));
        return value;
    }

    template <class T>
    void put(std::size_t place, T value, std::size_t index = 0) {
        std::memcpy(bytes.data() + place + index * sizeof(T), &value, sizeof(T));
    }
};

// Returns true for .nii.gz, in any case.
bool is_packed(const std::filesystem::path& path) {
    return path.extension().string().size() == std::string_view(".gz").size();
}

// ---- reading --------------------------------------------------------------------------------------------------------

Fields read_fields(StoredBytes& file, const std::string& where) {
    Fields fields;
    file.read(0, std::span(fields.bytes).first(header_bytes));
    fields.swapped = fields.get<std::int32_t>(0) != header_bytes;
    const bool ours = fields.get<std::int32_t>(0) == header_bytes;
    if (!ours || std::memcmp(fields.bytes.data() + at_magic, "n+1", 4) != 0) {
        throw Error(ErrorCode::bad_file, "is not a NIfTI-1 file with header and voxels in one", where,
                    "convert pairs, Analyze and NIfTI-2 first");
    }
    return fields;
}

StoredType stored_type(const Fields& fields, const std::string& where) {
    const auto code = fields.get<std::int16_t>(at_datatype);
    for (const Datatype& datatype : datatypes) {
        if (datatype.code == code) return datatype.type;
    }
    throw Error(ErrorCode::bad_file, fmt::format("has voxels of NIfTI type {}", code), where,
                "only gray and complex64 volumes can be read; convert colours to gray");
}

// Returns the time step; 0 if unknown.
double seconds(const Fields& fields) {
    const int unit = std::to_integer<int>(fields.bytes[at_units]) & 0x38;
    const double one = unit == 8 ? 1 : unit == 16 ? 1e-3 : unit == 24 ? 1e-6 : 0;
    const double step = one * static_cast<double>(fields.get<float>(at_pixdim, 4));
    return std::isfinite(step) && step > 0 ? step : 0;
}

// Returns the length of the header's unit in millimetres. Without a unit, millimetres are assumed.
double millimetres(const Fields& fields) {
    switch (std::to_integer<int>(fields.bytes[at_units]) & 7) {
        case 1: return 1000;
        case 3: return 0.001;
        default: return 1;
    }
}

ImageHeader read_header(const Fields& fields, const std::string& where) {
    ImageHeader header;
    const int dimensions = fields.get<std::int16_t>(at_dim);
    if (dimensions < 1 || dimensions > 7) {
        throw Error(ErrorCode::bad_file, fmt::format("has {}", plural(dimensions, "dimensions")), where,
                    "copy the file again");
    }
    for (std::size_t i = 0; i < index(dimensions); ++i) {
        const auto size = fields.get<std::int16_t>(at_dim, i + 1);
        if (size < 1 || (i > 3 && size > 1)) {
            throw Error(ErrorCode::bad_file, fmt::format("has {} along dimension {}", plural(size, "voxels"), i + 1),
                        where, "volumes and series of volumes can be read");
        }
        if (i == 3) header.time_points = size;
        if (i == 3) header.time_step_s = seconds(fields);
        if (i > 2) continue;
        header.size[i] = size;
        const double spacing = std::abs(static_cast<double>(fields.get<float>(at_pixdim, i + 1))) * millimetres(fields);
        if (std::isfinite(spacing) && spacing > 0) header.spacing_mm[i] = spacing;
    }
    header.has_unit = (std::to_integer<int>(fields.bytes[at_units]) & 7) != 0;
    const double origin = -fields.get<float>(at_srow, 7) * millimetres(fields);  // of rows, which run along -y
    if (std::isfinite(origin)) header.origin_mm[1] = origin;
    const double slope = fields.get<float>(at_slope);
    const double intercept = fields.get<float>(at_intercept);
    if (slope != 0 && std::isfinite(slope) && std::isfinite(intercept)) {  // a slope of 0 means no scaling
        header.scale = slope;
        header.offset = intercept;
    }
    const char* description = reinterpret_cast<const char*>(fields.bytes.data()) + at_description;
    header.texts["description"] = std::string(description, strnlen(description, 80));
    return header;
}

// Reads the affine matrix (sform). NIfTI's x and y run to the right and the front (RAS), so both are negated.
ImagePose pose_of_form(const Fields& fields) {
    ImagePose pose;
    pose.nifti_code = fields.get<std::int16_t>(at_sform);
    for (std::size_t row = 0; row < 3; ++row) {
        const double sign = row < 2 ? -1 : 1;
        const auto at = [&](std::size_t column) {
            return sign * static_cast<double>(fields.get<float>(at_srow, row * 4 + column)) * millimetres(fields);
        };
        for (std::size_t axis = 0; axis < 3; ++axis) pose.steps.at(axis).at(row) = at(axis);
        pose.origin.at(row) = at(3);
    }
    return pose;
}

ImagePose pose_of_quaternion(const Fields& fields, const ImageHeader& header) {
    const double b = fields.get<float>(at_quaternion_b), c = fields.get<float>(at_quaternion_b, 1),
                 d = fields.get<float>(at_quaternion_b, 2);
    const double a = std::sqrt(std::max(0.0, 1 - b * b - c * c - d * d));
    const double third = fields.get<float>(at_pixdim) < 0 ? -1 : 1;  // qfac: -1 for left-handed axes
    const double turned[3][3] = {{a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)},
                                 {2 * (b * c + a * d), a * a + c * c - b * b - d * d, 2 * (c * d - a * b)},
                                 {2 * (b * d - a * c), 2 * (c * d + a * b), a * a + d * d - b * b - c * c}};
    ImagePose pose;
    pose.nifti_code = fields.get<std::int16_t>(at_qform);
    for (std::size_t row = 0; row < 3; ++row) {
        const double sign = row < 2 ? -1 : 1;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double length = header.spacing_mm.at(axis) * (axis == 2 ? third : 1);
            pose.steps.at(axis).at(row) = sign * turned[row][axis] * length;
        }
        pose.origin.at(row) = sign * static_cast<double>(fields.get<float>(at_q_offset, row)) * millimetres(fields);
    }
    return pose;
}

// Without a form, nothing is known of the patient; code 0 keeps other programs from assuming it.
ImagePose unknown_pose(const ImageHeader& header) {
    ImagePose pose;
    pose.nifti_code = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) pose.steps.at(axis).at(axis) = header.spacing_or_one(axis);
    return pose;
}

void read_pose(const Fields& fields, ImageHeader& header) {
    std::optional<ImagePose> pose;
    if (fields.get<std::int16_t>(at_qform) > 0) pose = pose_of_quaternion(fields, header);
    const ImagePose form = pose_of_form(fields);
    if (form.nifti_code > 0 && is_valid(form)) pose = form;
    if (pose) add_orientation(header, pose->steps);
    header.pose = pose ? *pose : unknown_pose(header);
}

// Parses lines "key = text".
void read_lines(const std::string& comment, std::map<std::string, std::string>& texts) {
    for (std::size_t start = 0; start < comment.size();) {
        const std::size_t end = std::min(comment.find('\n', start), comment.size());
        const std::string line = comment.substr(start, end - start);
        const std::size_t equals = line.find(" = ");
        if (equals != std::string::npos) texts[line.substr(0, equals)] = line.substr(equals + 3);
        start = end + 1;
    }
}

// Reads the extension between the header and the voxels: our texts, if it is a comment.
void read_extensions(StoredBytes& file, const Fields& fields, std::int64_t bytes, ImageHeader& header) {
    std::string extensions(index(bytes), '\0');
    file.read(header_bytes, std::as_writable_bytes(std::span(extensions)));
    if (bytes < 12 || extensions[0] == 0 || fields.swapped) return;
    std::int32_t size = 0;
    std::int32_t code = 0;
    std::memcpy(&size, extensions.data() + 4, 4);
    std::memcpy(&code, extensions.data() + 8, 4);
    if (code != comment_code || size < 8 || size > bytes - 4) return;
    const std::string comment = extensions.substr(12, index(size) - 8);
    read_lines(comment.substr(0, comment.find('\0')), header.texts);
}

// Returns the offset of the voxels, which the header stores as a float.
std::int64_t voxels_place(const Fields& fields, const std::string& where) {
    const double start = fields.get<float>(at_vox_offset);
    const bool in_file = start >= static_cast<double>(voxels_start) && start <= static_cast<double>(max_start);
    if (!in_file) {  // also if NaN
        throw Error(ErrorCode::bad_file,
                    fmt::format("invalid vox_offset {} in the NIfTI header (352 or more expected)", start), where);
    }
    return static_cast<std::int64_t>(start);
}

// ---- writing --------------------------------------------------------------------------------------------------------

std::int16_t datatype_code(VoxelType type) {
    for (const Datatype& datatype : datatypes) {
        if (datatype.type == stored_as(type)) return datatype.code;
    }
    return 0;
}

// Returns flag, size, code and text of one comment extension, padded to a multiple of 16 bytes after the flag. Without
// texts it is only the flag.
std::string extension_for(const ImageHeader& header) {
    std::string comment;
    for (const auto& [key, text] : header.texts) {
        if (key != "description") comment += key + " = " + text + "\n";
    }
    if (comment.empty()) return std::string(4, '\0');
    comment.resize((comment.size() + 8 + 15) / 16 * 16 - 8, '\0');
    const auto size = static_cast<std::int32_t>(comment.size() + 8);
    std::string extension{"\1\0\0\0........", 12};
    std::memcpy(extension.data() + 4, &size, 4);
    std::memcpy(extension.data() + 8, &comment_code, 4);
    return extension + comment;
}

using Matrix3 = std::array<std::array<double, 3>, 3>;  // [row][column]

// Returns the normalised columns of the affine matrix (RAS). Returns nothing if it shears, which a quaternion cannot
// represent.
std::optional<Matrix3> rotation_of(const ImagePose& pose) {
    Matrix3 turned{};
    for (std::size_t row = 0; row < 3; ++row) {
        for (std::size_t axis = 0; axis < 3; ++axis)
            turned.at(row).at(axis) = (row < 2 ? -1 : 1) * pose.steps.at(axis).at(row) / pose.spacing(axis);
    }
    for (std::size_t a = 0; a < 3; ++a) {
        for (std::size_t b = a + 1; b < 3; ++b) {
            double cosine = 0;
            for (std::size_t row = 0; row < 3; ++row) cosine += turned.at(row).at(a) * turned.at(row).at(b);
            if (std::abs(cosine) > 1e-4) return {};
        }
    }
    return turned;
}

double determinant(const Matrix3& m) {
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

// Returns a, b, c, d with a >= 0 of a right-handed rotation. Starts with the largest to avoid division by 0.
std::array<double, 4> quaternion_of(const Matrix3& m) {
    const std::array<double, 4> squares{1 + m[0][0] + m[1][1] + m[2][2], 1 + m[0][0] - m[1][1] - m[2][2],
                                        1 - m[0][0] + m[1][1] - m[2][2], 1 - m[0][0] - m[1][1] + m[2][2]};
    const auto largest = index(std::ranges::max_element(squares) - squares.begin());
    const double twice = std::sqrt(squares.at(largest)), scale = 0.5 / twice;
    const double bc = scale * (m[1][0] + m[0][1]), bd = scale * (m[0][2] + m[2][0]), cd = scale * (m[2][1] + m[1][2]);
    const double ab = scale * (m[2][1] - m[1][2]), ac = scale * (m[0][2] - m[2][0]), ad = scale * (m[1][0] - m[0][1]);
    const std::array<std::array<double, 4>, 4> choices{
        {{twice / 2, ab, ac, ad}, {ab, twice / 2, bc, bd}, {ac, bc, twice / 2, cd}, {ad, bd, cd, twice / 2}}};
    std::array<double, 4> q = choices.at(largest);
    if (q[0] < 0) {
        for (double& part : q) part = -part;
    }
    return q;
}

void put_quaternion(const ImagePose& pose, Fields& fields) {
    std::optional<Matrix3> turned = rotation_of(pose);
    if (!turned) return;
    const bool is_left_handed = determinant(*turned) < 0;
    if (is_left_handed) {
        for (auto& row : *turned) row[2] = -row[2];
        fields.put<float>(at_pixdim, -1, 0);
    }
    const std::array<double, 4> q = quaternion_of(*turned);
    for (std::size_t i = 0; i < 3; ++i) fields.put(at_quaternion_b, static_cast<float>(q.at(i + 1)), i);
    fields.put(at_qform, static_cast<std::int16_t>(pose.nifti_code));
}

// Writes the pose as affine matrix, and as quaternion if it has no shear.
void put_pose(const ImagePose& pose, Fields& fields) {
    if (pose.nifti_code == 0) return;
    for (std::size_t row = 0; row < 3; ++row) {
        const double sign = row < 2 ? -1 : 1;
        for (std::size_t axis = 0; axis < 3; ++axis)
            fields.put(at_srow, static_cast<float>(sign * pose.steps.at(axis).at(row)), row * 4 + axis);
        fields.put(at_srow, static_cast<float>(sign * pose.origin.at(row)), row * 4 + 3);
        fields.put(at_q_offset, static_cast<float>(sign * pose.origin.at(row)), row);
    }
    fields.put(at_sform, static_cast<std::int16_t>(pose.nifti_code));
    put_quaternion(pose, fields);
}

// Returns the default pose: columns run along -x and rows along -y.
ImagePose usual_pose(const ImageHeader& header) {
    ImagePose pose;
    for (std::size_t i = 0; i < 3; ++i) pose.steps.at(i).at(i) = header.spacing_or_one(i);
    pose.origin = header.origin_mm;
    return pose;
}

// Writes sizes, spacings and the pose.
void put_geometry(const ImageHeader& header, Fields& fields) {
    const bool series = header.time_points > 1;
    fields.put<std::int16_t>(at_dim, series ? 4 : 3);
    for (std::size_t i = 1; i < 8; ++i) fields.put<std::int16_t>(at_dim, 1, i);
    fields.put<float>(at_pixdim, 1, 0);
    const ImagePose pose = header.pose.value_or(usual_pose(header));
    for (std::size_t i = 0; i < 3; ++i) {
        const double spacing = header.spacing_mm[i] > 0 ? header.spacing_mm[i] : pose.spacing(i);
        fields.put(at_dim, static_cast<std::int16_t>(header.size[i]), i + 1);
        fields.put(at_pixdim, static_cast<float>(spacing), i + 1);
    }
    put_pose(pose, fields);
    if (series) fields.put(at_dim, static_cast<std::int16_t>(header.time_points), 4);
    if (series) fields.put(at_pixdim, header.time_step_s > 0 ? static_cast<float>(header.time_step_s) : 1.0f, 4);
    const bool has_time = series && header.time_step_s > 0;
    fields.put(at_units, static_cast<std::uint8_t>((header.has_unit ? units_mm : 0) | (has_time ? units_s : 0)));
}

Fields fields_for(const ImageHeader& header, std::size_t extension_bytes) {
    Fields fields;
    fields.put(0, static_cast<std::int32_t>(header_bytes));
    put_geometry(header, fields);
    fields.put(at_datatype, datatype_code(header.type));
    fields.put(at_bitpix, static_cast<std::int16_t>(bytes_of(header.type) * 8));
    fields.put(at_vox_offset, static_cast<float>(header_bytes + extension_bytes));
    fields.put(at_slope, static_cast<float>(header.scale));
    fields.put(at_intercept, static_cast<float>(header.offset));
    const auto description = header.texts.find("description");
    if (description != header.texts.end()) {
        std::memcpy(fields.bytes.data() + at_description, description->second.data(),
                    std::min<std::size_t>(79, description->second.size()));
    }
    std::memcpy(fields.bytes.data() + at_magic, "n+1", 4);
    return fields;
}

void check_sizes(const ImageHeader& header, const std::string& where) {
    const auto check = [&](std::int64_t size, const char* what) {
        if (size <= static_cast<std::int64_t>(max_side)) return;
        throw Error(ErrorCode::output, fmt::format("NIfTI holds at most {} {}, not {}", max_side, what, size), where,
                    "use .nrrd or .mha");
    };
    for (const std::int64_t size : header.size) check(size, "voxels along an axis");
    check(header.time_points, "time points");
}

}  // namespace

std::unique_ptr<ImageReader> open_nifti(const std::filesystem::path& path) {
    const std::string where = path.string();
    RawLayout layout;
    layout.voxels = path;
    layout.packed = is_packed(path);
    StoredBytes file(path, 0, layout.packed);
    const Fields fields = read_fields(file, where);
    layout.swapped = fields.swapped;
    layout.stored = stored_type(fields, where);
    layout.header = read_header(fields, where);
    layout.header.type = voxel_type(layout.stored);
    const std::int64_t voxels = voxels_place(fields, where);
    (layout.packed ? layout.skipped : layout.begin) = voxels;
    read_extensions(file, fields, voxels - static_cast<std::int64_t>(header_bytes), layout.header);
    read_pose(fields, layout.header);
    return open_raw_image(layout, path);
}

std::unique_ptr<ImageWriter> create_nifti(const std::filesystem::path& path, const ImageHeader& header,
                                          const ImageStorage&, const std::string& where) {
    check_sizes(header, where);
    const std::string extension = extension_for(header);
    const Fields fields = fields_for(header, extension.size());
    const std::string fixed(reinterpret_cast<const char*>(fields.bytes.data()), header_bytes);
    return create_raw_image(path, fixed + extension, is_packed(path) ? Packed::all : Packed::nothing, where);
}

}  // namespace echolux
