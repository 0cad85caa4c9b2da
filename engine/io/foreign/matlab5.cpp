// MATLAB .mat files of versions 5 to 7. They consist of elements, each a tag {type, bytes} and its content. A variable
// is an element that contains elements: flags, sizes, name, real part, imaginary part. Version 7 compresses each
// variable as a zlib stream.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>

#include "compute/error.h"
#include "engine/io/file_bytes.h"
#include "engine/io/foreign/matlab_array.h"
#include "engine/io/volume_file.h"

namespace echolux {
namespace {

constexpr std::uint32_t type_matrix = 14, type_packed = 15;
constexpr std::int64_t header_bytes = 128, tag_bytes = 8;

// Number types in the file. MATLAB stores integers in the smallest sufficient type, whatever the class of the array.
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
        std::string text(static_cast<std::size_t>(element.bytes), '\0');
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
struct Found {
    MatlabArray array;
    std::int64_t parts = 0;  // offset of the real part
};

std::optional<Found> find_array(Elements& elements) {
    if (elements.at(0).type != type_matrix) return std::nullopt;
    const Element flags = elements.at(tag_bytes);
    if (flags.bytes != 8) return std::nullopt;  // an undocumented kind
    const auto flag_bits = elements.number<std::uint32_t>(flags.place);
    constexpr std::uint32_t first_number_class = 6, last_number_class = 15, complex_flag = 0x800;
    const std::uint32_t array_class = flag_bits & 0xFF;
    if (array_class < first_number_class || array_class > last_number_class) return std::nullopt;
    Found found;
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
        file.fail("was saved by a machine of the other byte order", "load it in MATLAB and save it again");
    if (order != "IM") file.fail("is not a MATLAB file of version 5 to 7.3", "save it again, with -v7 or -v7.3");
    std::vector<MatlabArray> arrays;
    constexpr std::size_t max_variables = 4096;
    std::size_t variables = 0;
    for (std::int64_t place = header_bytes; place + tag_bytes <= file.size(); ++variables) {
        if (variables == max_variables) file.fail("has variables without end");
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
struct Part {
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
    std::vector<std::byte> stored(Part& part, std::int64_t time_point, Interval slices) {
        const std::int64_t slice_bytes = header_.size[0] * header_.size[1] * bytes_of(part.type);
        std::vector<std::byte> bytes(static_cast<std::size_t>((slices.end - slices.begin) * slice_bytes));
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
    std::vector<Part> parts_;  // real, imaginary
};

}  // namespace

std::unique_ptr<ImageReader> open_matlab5(const std::filesystem::path& file, const std::string& variable) {
    return std::make_unique<Matlab5>(file, variable);
}

}  // namespace echolux
