// MATLAB .mat files of versions 5 to 7 (MAT-File Format, The MathWorks) and 7.3 (HDF5). The volume is the largest real
// or complex array of three or four dimensions, of two if there is no other, or the one named as FILE.mat:VARIABLE.
// Rows are depth, columns A-scans, the third dimension B-scans, the fourth time points. There are no spacings. Version
// 5 is parsed here: sizes are checked against the file before memory is allocated, and slices are read on demand.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/build.h"
#include "engine/io/file_bytes.h"
#include "engine/io/file_name.h"
#include "engine/io/formats.h"
#include "engine/io/image_stream.h"
#include "engine/io/volume_file.h"

namespace echolux {

namespace {

// A variable.
struct MatlabArray {
    std::string name;
    std::vector<std::int64_t> sizes;  // the first dimension is the fastest
    StoredType type = StoredType::f64;
    bool is_complex = false;
    std::int64_t place = 0;  // offset of the variable in files of version 5

    // Two to four dimensions, none empty.
    bool is_picture() const {
        return sizes.size() >= 2 && sizes.size() <= 4 &&
               std::ranges::all_of(sizes, [](std::int64_t size) { return size > 0; });
    }
    // Only for pictures.
    ImageHeader header() const {
        ImageHeader header;
        header.size = {sizes[1], sizes[0], sizes.size() > 2 ? sizes[2] : 1};
        header.time_points = sizes.size() > 3 ? sizes[3] : 1;
        header.type = voxel_type(whole_type());
        header.has_unit = false;
        add_provenance(header, "variable", name);
        return header;
    }
    StoredType whole_type() const { return is_complex ? StoredType::complex64 : type; }
};

// Returns the array called `name`, by default the largest. Throws Error{bad_file, bad_setting}, listing the arrays.
// Arrays of three or four dimensions are preferred over larger matrices.
const MatlabArray& chosen_array(const std::vector<MatlabArray>& arrays, const std::string& name,
                                const std::filesystem::path& file) {
    std::string names;
    const MatlabArray* largest = nullptr;
    const auto rank = [](const MatlabArray& array) {
        double voxels = 1;
        for (const std::int64_t size : array.sizes) voxels *= static_cast<double>(size);
        return std::pair(array.sizes.size() > 2, voxels);
    };
    for (const MatlabArray& array : arrays) {
        if (!array.is_picture()) continue;
        if (array.name == name) return array;
        if (names.size() < 200) names += (names.empty() ? "" : ", ") + array.name;
        if (!largest || rank(array) > rank(*largest)) largest = &array;
    }
    if (!largest) {
        throw Error(ErrorCode::bad_file, "contains no numeric array of 2 to 4 dimensions", file.string(),
                    "structures, cells and sparse arrays are not supported");
    }
    if (!name.empty()) {
        throw Error(ErrorCode::bad_setting, fmt::format("has no numeric array named \"{}\"", name), file.string(),
                    "it has " + names);
    }
    return *largest;
}

// ---- versions 5 to 7 ------------------------------------------------------------------------------------------------
// They consist of elements, each a tag {type, bytes} and its content. A variable is an element that contains elements:
// flags, sizes, name, real part, imaginary part. Version 7 compresses each variable as a zlib stream.

constexpr std::uint32_t type_matrix = 14, type_packed = 15;
constexpr std::int64_t header_bytes = 128, tag_bytes = 8;

// Number types in the file. MATLAB stores integers in the smallest sufficient type, regardless of the class of the
// array.
constexpr std::array<std::pair<std::uint32_t, StoredType>, 10> number_types{{{1, StoredType::i8},
                                                                             {2, StoredType::u8},
                                                                             {3, StoredType::i16},
                                                                             {4, StoredType::u16},
                                                                             {5, StoredType::i32},
                                                                             {6, StoredType::u32},
                                                                             {7, StoredType::f32},
                                                                             {9, StoredType::f64},
                                                                             {12, StoredType::i64},
                                                                             {13, StoredType::u64}}};

struct Element {
    std::uint32_t type = 0;
    std::int64_t place = 0;  // offset of the content
    std::int64_t bytes = 0;
    std::int64_t end = 0;  // offset of the next element
};

// Reads the elements of one variable, decompressing as needed. Offsets count from the variable's tag.
class Elements {
  public:
    Elements(const std::filesystem::path& file, std::int64_t place, bool packed)
        : where_(file.string()), bytes_(file, place, packed) {}

    Element at(std::int64_t place) {
        Element element;
        const auto word = number<std::uint32_t>(place);
        const bool is_small = word >> 16 != 0;  // small element: the content is inside the tag
        element.type = is_small ? word & 0xFFFF : word;
        element.bytes = is_small ? word >> 16 : number<std::uint32_t>(place + 4);
        if (is_small && element.bytes > 4) fail();
        element.place = place + (is_small ? 4 : tag_bytes);
        element.end = is_small ? place + tag_bytes : element.place + (element.bytes + 7) / 8 * 8;
        return element;
    }

    template <class T>
    T number(std::int64_t place) {
        T value{};
        bytes_.read(place, std::as_writable_bytes(std::span(&value, 1)));
        return value;
    }

    std::string text(const Element& element) {
        std::string text(index(element.bytes), '\0');
        bytes_.read(element.place, std::as_writable_bytes(std::span(text)));
        return text;
    }

    StoredBytes& bytes() { return bytes_; }

    [[noreturn]] void fail() const {
        throw Error(ErrorCode::bad_file, "has a damaged variable", where_, "copy or save the file again");
    }

  private:
    std::string where_;
    StoredBytes bytes_;
};

// Returns type and position of the real or imaginary part of `array`. Fails unless it contains all numbers.
std::pair<StoredType, Element> number_part(Elements& elements, std::int64_t place, const MatlabArray& array) {
    const Element part = elements.at(place);
    for (const auto& [code, type] : number_types) {
        if (code != part.type) continue;
        double claimed = static_cast<double>(bytes_of(type));
        for (const std::int64_t size : array.sizes) claimed *= static_cast<double>(size);
        if (claimed == static_cast<double>(part.bytes)) return {type, part};
    }
    elements.fail();
}

// An array of numbers.
struct NumericArray {
    MatlabArray array;
    std::int64_t parts = 0;  // offset of the real part
};

std::optional<NumericArray> find_array(Elements& elements) {
    if (elements.at(0).type != type_matrix) return std::nullopt;
    const Element flags = elements.at(tag_bytes);
    if (flags.bytes != 8) return std::nullopt;  // an undocumented kind
    const auto flag_bits = elements.number<std::uint32_t>(flags.place);
    constexpr std::uint32_t first_number_class = 6, last_number_class = 15, complex_flag = 0x800;
    const std::uint32_t array_class = flag_bits & 0xFF;
    if (array_class < first_number_class || array_class > last_number_class) return std::nullopt;
    NumericArray found;
    found.array.is_complex = (flag_bits & complex_flag) != 0;
    const Element sizes = elements.at(flags.end);
    constexpr std::int64_t max_dimensions = 32, longest_name = 4096;
    if (sizes.bytes < 8 || sizes.bytes > 4 * max_dimensions) elements.fail();
    for (std::int64_t i = 0; i < sizes.bytes / 4; ++i) {
        found.array.sizes.push_back(elements.number<std::int32_t>(sizes.place + 4 * i));
    }
    const Element name = elements.at(sizes.end);
    if (name.bytes > longest_name) elements.fail();
    found.array.name = elements.text(name);
    found.parts = name.end;
    if (found.array.is_picture()) found.array.type = number_part(elements, found.parts, found.array).first;
    return found;
}

// Lists the arrays of numbers in the file. Only the header of each variable is decompressed.
std::vector<MatlabArray> arrays_in(const std::filesystem::path& path) {
    FileBytes file(path);
    if (file.size() < header_bytes) file.fail("is not a MATLAB file");
    const std::string order = file.text(126, 2);
    if (order == "MI")
        file.fail("was saved by a machine of the opposite byte order", "load it in MATLAB and save it again");
    if (order != "IM") file.fail("is not a MATLAB file of version 5 to 7.3", "save it again, with -v7 or -v7.3");
    std::vector<MatlabArray> arrays;
    constexpr std::size_t max_variables = 4096;
    std::size_t variables = 0;
    for (std::int64_t place = header_bytes; place + tag_bytes <= file.size(); ++variables) {
        if (variables == max_variables) file.fail("has too many variables");
        const auto type = file.number<std::uint32_t>(place);
        const std::int64_t bytes = file.number<std::uint32_t>(place + 4);
        if (bytes > file.size() - place - tag_bytes) file.fail("ends within a variable", "copy the file again");
        const bool packed = type == type_packed;
        if (packed || type == type_matrix) {
            Elements elements(path, packed ? place + tag_bytes : place, packed);
            if (auto found = find_array(elements)) {
                found->array.place = place;
                arrays.push_back(std::move(found->array));
            }
        }
        place += tag_bytes + bytes;
    }
    return arrays;
}

// One part of a variable with its own decompressor, so that both parts of complex slices can be read alternately.
struct ArrayPart {
    std::unique_ptr<Elements> elements;
    StoredType type = StoredType::f64;
    std::int64_t place = 0;
};

template <class Number>
std::vector<float> widened(const std::vector<std::byte>& voxels) {
    std::vector<float> wide(voxels.size() / sizeof(Number));
    for (std::size_t i = 0; i < wide.size(); ++i) {
        Number number;
        std::memcpy(&number, voxels.data() + i * sizeof(Number), sizeof(Number));
        wide[i] = static_cast<float>(number);
    }
    return wide;
}

std::vector<float> as_floats(StoredType type, std::vector<std::byte> stored) {
    const std::vector<std::byte> voxels = converted(type, std::move(stored));
    switch (voxel_type(type)) {
        case VoxelType::u8: return widened<std::uint8_t>(voxels);
        case VoxelType::u16: return widened<std::uint16_t>(voxels);
        case VoxelType::i16: return widened<std::int16_t>(voxels);
        default: return widened<float>(voxels);
    }
}

class Matlab5 final : public ImageReader {
  public:
    Matlab5(const std::filesystem::path& path, const std::string& variable)
        : array_(chosen_array(arrays_in(path), variable, path)), header_(array_.header()) {
        FileBytes file(path);
        is_packed_ = file.number<std::uint32_t>(array_.place) == type_packed;
        const std::int64_t bytes = file.number<std::uint32_t>(array_.place + 4);
        check_claim(header_, array_.whole_type(), bytes, is_packed_, path);
        for (int i = 0; i <= (array_.is_complex ? 1 : 0); ++i) {
            parts_.push_back(
                {std::make_unique<Elements>(path, is_packed_ ? array_.place + tag_bytes : array_.place, is_packed_)});
            Elements& elements = *parts_.back().elements;
            std::int64_t place = find_array(elements)->parts;
            if (i == 1) place = number_part(elements, place, array_).second.end;
            const auto [type, part] = number_part(elements, place, array_);
            parts_.back().type = type;
            parts_.back().place = part.place;
        }
    }

    const ImageHeader& header() const override { return header_; }

    std::vector<std::byte> read(std::int64_t time_point, Interval slices) override {
        const std::vector<std::byte> voxels = array_.is_complex
                                                  ? complex_voxels(time_point, slices)
                                                  : converted(array_.type, stored(parts_[0], time_point, slices));
        const bool is_last = time_point + 1 == header_.time_points && slices.end == header_.size[2];
        if (is_last && is_packed_) parts_.back().elements->bytes().check_end();
        std::vector<std::byte> transposed(voxels.size());
        transpose(voxels, transposed, header_.type, header_.size[0], header_.size[1]);
        return transposed;
    }

  private:
    std::vector<std::byte> stored(ArrayPart& part, std::int64_t time_point, Interval slices) {
        const std::int64_t slice_bytes = header_.size[0] * header_.size[1] * bytes_of(part.type);
        std::vector<std::byte> bytes(index((slices.end - slices.begin) * slice_bytes));
        part.elements->bytes().read(part.place + (time_point * header_.size[2] + slices.begin) * slice_bytes, bytes);
        return bytes;
    }

    std::vector<std::byte> complex_voxels(std::int64_t time_point, Interval slices) {
        const std::vector<float> real = as_floats(parts_[0].type, stored(parts_[0], time_point, slices));
        const std::vector<float> imaginary = as_floats(parts_[1].type, stored(parts_[1], time_point, slices));
        std::vector<float> pairs(2 * real.size());
        for (std::size_t i = 0; i < real.size(); ++i) {
            pairs[2 * i] = real[i];
            pairs[2 * i + 1] = imaginary[i];
        }
        const std::span<const std::byte> bytes = std::as_bytes(std::span(pairs));
        return {bytes.begin(), bytes.end()};
    }

    MatlabArray array_;
    ImageHeader header_;
    bool is_packed_ = false;
    std::vector<ArrayPart> parts_;  // real, imaginary
};

// ---- version 7.3 ----------------------------------------------------------------------------------------------------
// These are HDF5 files in MATLAB's order, with the first dimension fastest. The HDF5 reader takes depth as columns, so
// rows and columns are exchanged here.

class Matlab73 final : public ImageReader {
  public:
    explicit Matlab73(std::unique_ptr<ImageReader> depth_first)
        : depth_first_(std::move(depth_first)), header_(depth_first_->header()) {
        std::swap(header_.size[0], header_.size[1]);
        std::swap(header_.spacing_mm[0], header_.spacing_mm[1]);
        std::swap(header_.origin_mm[0], header_.origin_mm[1]);
    }

    const ImageHeader& header() const override { return header_; }

    std::vector<std::byte> read(std::int64_t time_point, Interval slices) override {
        const std::vector<std::byte> stored = depth_first_->read(time_point, slices);
        std::vector<std::byte> voxels(stored.size());
        transpose(stored, voxels, header_.type, header_.size[0], header_.size[1]);
        return voxels;
    }

  private:
    std::unique_ptr<ImageReader> depth_first_;
    ImageHeader header_;
};

// Opens a variable; an empty name selects the largest.
std::unique_ptr<ImageReader> open_matlab73(const std::filesystem::path& file, const std::string& variable) {
    if constexpr (has(Part::hdf5)) return std::make_unique<Matlab73>(open_hdf5_dataset(file, variable));
    refuse_missing(Part::hdf5, file.string());
}

}  // namespace

// Detects the version and selects the variable.
std::unique_ptr<ImageReader> open_matlab(const std::filesystem::path& path) {
    const auto [file, variable] = file_part(path);
    FileBytes bytes(file);
    constexpr std::int64_t hdf5_place = 512;  // MATLAB writes its text header before the HDF5 data
    constexpr std::string_view hdf5_magic = "\x89HDF\r\n\x1a\n";
    const auto starts_at = [&](std::int64_t place) {
        return bytes.size() >= place + 8 && bytes.text(place, 8) == hdf5_magic;
    };
    if (starts_at(hdf5_place) || starts_at(0)) return open_matlab73(file, variable);
    return std::make_unique<Matlab5>(file, variable);
}

}  // namespace echolux
