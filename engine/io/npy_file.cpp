// NumPy's .npy (numpy.org/doc/stable/reference/generated/numpy.lib.format.html), versions 1 to 3, C and Fortran order.
// The array is [time][slice][row][column]; a single volume has no time axis. The format holds no spacing, unit or
// texts.
#include <fmt/format.h>

#include <algorithm>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/io/formats.h"
#include "engine/io/image_stream.h"
#include "engine/io/regular_file.h"

namespace echolux {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

struct TypeName {
    std::string_view name;  // without the byte-order character
    StoredType type;
};
// The first entry of each type is used for writing.
constexpr TypeName type_names[] = {{"u1", StoredType::u8},       {"b1", StoredType::u8},  {"i1", StoredType::i8},
                                   {"u2", StoredType::u16},      {"i2", StoredType::i16}, {"u4", StoredType::u32},
                                   {"i4", StoredType::i32},      {"u8", StoredType::u64}, {"i8", StoredType::i64},
                                   {"f4", StoredType::f32},      {"f2", StoredType::f16}, {"f8", StoredType::f64},
                                   {"c8", StoredType::complex64}};

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& what, const std::string& remedy = {}) {
    throw Error(ErrorCode::bad_file, what, path.string(), remedy);
}

struct NpyHeader {
    std::string dictionary;  // "{'descr': '<u2', 'fortran_order': False, 'shape': (3, 5, 7), }"
    std::int64_t bytes = 0;

    // Returns the text after "'key':".
    std::string_view value(std::string_view key) const {
        const std::size_t at = dictionary.find(fmt::format("'{}'", key));
        const std::size_t colon = dictionary.find(':', at);
        if (at == std::string::npos || colon == std::string::npos) return {};
        return trimmed(std::string_view(dictionary).substr(colon + 1));
    }
};

// The length of the dictionary has 2 bytes in version 1, 4 bytes in versions 2 and 3.
NpyHeader parsed_header(const std::filesystem::path& path) {
    const std::string start = start_of_file(path, 1 << 20);
    const auto byte = [&](std::size_t i) { return index(static_cast<unsigned char>(start[i])); };
    if (!start.starts_with(magic) || start.size() < 12) refuse(path, "is not an .npy file");
    const std::size_t version = byte(6);
    if (version < 1 || version > 3)
        refuse(path, fmt::format("has version {} of the .npy format", version), "save it again with NumPy");
    const std::size_t begin = version == 1 ? 10 : 12;
    std::size_t length = byte(8) | byte(9) << 8;
    if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
    if (length > start.size() - begin) refuse(path, "ends within its header", "copy the file again");
    return {start.substr(begin, length), static_cast<std::int64_t>(begin + length)};
}

void set_type(const NpyHeader& header, const std::filesystem::path& path, RawLayout& layout) {
    const std::string_view text = header.value("descr");
    const std::string descr(text.substr(0, std::min(text.find_first_of(",}"), text.size())));
    const std::string_view name = trimmed(descr);
    for (const TypeName& entry : type_names) {
        if (name.size() != 5 || name.substr(2, 2) != entry.name) continue;
        layout.stored = entry.type;
        layout.header.type = voxel_type(entry.type);
        layout.swapped = name[1] == '>';
        return;
    }
    refuse(path, fmt::format("has numbers of type {}", descr.substr(0, 40)),
           "save integers, float16 to float64 or complex64");
}

// In Fortran order, the first axis is the fastest; otherwise the last.
void set_shape(const NpyHeader& header, const std::filesystem::path& path, RawLayout& layout) {
    const std::string_view text = header.value("shape");
    const auto sizes = words_of(text.substr(0, text.find(')')), "(, ");
    if (!text.starts_with('(') || sizes.size() < 2 || sizes.size() > 4) {
        refuse(path, fmt::format("has {}", plural(sizes.size(), "dimensions")),
               "save [slice][row][column], or [time][slice][row][column]");
    }
    const std::string_view order = header.value("fortran_order");
    const bool fortran = order.starts_with("True");
    if (!fortran && !order.starts_with("False")) {
        refuse(path, fmt::format("has the fortran_order {}", order.substr(0, order.find_first_of(",}"))),
               "save it again with NumPy");
    }
    const auto axes = static_cast<int>(sizes.size());
    for (int axis = 0; axis < axes; ++axis) {  // from columns to time
        const std::int64_t size = size_of(sizes[index(axes - 1 - axis)], path.string());
        if (axis == 3) layout.header.time_points = size;
        if (axis < 3) layout.header.size[index(axis)] = size;
        if (fortran) layout.order[index(axis)] = axes - 1 - axis;
    }
    layout.header.has_unit = false;
}

}  // namespace

std::unique_ptr<ImageReader> open_npy(const std::filesystem::path& path) {
    const NpyHeader header = parsed_header(path);
    RawLayout layout;
    layout.voxels = path;
    layout.begin = header.bytes;
    set_type(header, path, layout);
    set_shape(header, path, layout);
    return open_raw_image(layout, path);
}

std::unique_ptr<ImageWriter> create_npy(const std::filesystem::path& path, const ImageHeader& header,
                                        const ImageStorage&, const std::string& where) {
    const auto* entry =
        std::ranges::find_if(type_names, [&](const TypeName& each) { return each.type == stored_as(header.type); });
    const std::string time = header.time_points > 1 ? fmt::format("{}, ", header.time_points) : "";
    std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}, {}, {}), }}",
                                   bytes_of(header.type) == 1 ? '|' : '<', entry->name, time, header.size[2],
                                   header.size[1], header.size[0]);
    constexpr std::size_t fixed = 10, step = 64;  // the header's size must be a multiple of `step`
    text.resize((fixed + text.size() + 1 + step - 1) / step * step - fixed, ' ');
    text.back() = '\n';
    const std::string length{static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
    return create_raw_image(path, std::string(magic) + '\1' + '\0' + length + text, Packed::nothing, where);
}

}  // namespace echolux
