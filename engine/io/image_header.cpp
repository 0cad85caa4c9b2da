#include "engine/io/image_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compute/counted.h"
#include "compute/error.h"

namespace echolux {
namespace {

template <class From, class To>
std::vector<std::byte> cast(const std::vector<std::byte>& stored) {
    const std::size_t count = stored.size() / sizeof(From);
    std::vector<std::byte> result(count * sizeof(To));
    for (std::size_t i = 0; i < count; ++i) {
        From from;
        std::memcpy(&from, stored.data() + i * sizeof(From), sizeof(From));
        const To to = static_cast<To>(from);
        std::memcpy(result.data() + i * sizeof(To), &to, sizeof(To));
    }
    return result;
}

std::vector<std::byte> from_halves(const std::vector<std::byte>& stored) {
    std::vector<std::byte> result(stored.size() / 2 * sizeof(float));
    for (std::size_t i = 0; i < stored.size() / 2; ++i) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, stored.data() + i * 2, 2);
        const float value = value_of_half(bits);
        std::memcpy(result.data() + i * sizeof(float), &value, sizeof(float));
    }
    return result;
}

}  // namespace

std::int64_t bytes_of(StoredType type) {
    switch (type) {
        case StoredType::u8:
        case StoredType::i8: return 1;
        case StoredType::u16:
        case StoredType::i16:
        case StoredType::f16: return 2;
        case StoredType::u32:
        case StoredType::i32:
        case StoredType::f32: return 4;
        case StoredType::u64:
        case StoredType::i64:
        case StoredType::f64:
        case StoredType::complex64: return 8;
    }
    return 0;
}

VoxelType voxel_type(StoredType type) {
    switch (type) {
        case StoredType::u8: return VoxelType::u8;
        case StoredType::u16: return VoxelType::u16;
        case StoredType::i8:
        case StoredType::i16: return VoxelType::i16;
        case StoredType::complex64: return VoxelType::complex64;
        default: return VoxelType::f32;
    }
}

StoredType stored_as(VoxelType type) {
    switch (type) {
        case VoxelType::u8: return StoredType::u8;
        case VoxelType::u16: return StoredType::u16;
        case VoxelType::i16: return StoredType::i16;
        case VoxelType::complex64: return StoredType::complex64;
        default: return StoredType::f32;
    }
}

void swap_byte_order(StoredType type, std::span<std::byte> stored) {
    // A complex number consists of two floats, which are swapped separately.
    const auto part = static_cast<std::size_t>(type == StoredType::complex64 ? 4 : bytes_of(type));
    if (part == 1) return;
    for (std::size_t i = 0; i + part <= stored.size(); i += part) std::ranges::reverse(stored.subspan(i, part));
}

std::vector<std::byte> converted(StoredType type, std::vector<std::byte> stored) {
    switch (type) {
        case StoredType::i8: return cast<std::int8_t, std::int16_t>(stored);
        case StoredType::f16: return from_halves(stored);
        case StoredType::u32: return cast<std::uint32_t, float>(stored);
        case StoredType::i32: return cast<std::int32_t, float>(stored);
        case StoredType::u64: return cast<std::uint64_t, float>(stored);
        case StoredType::i64: return cast<std::int64_t, float>(stored);
        case StoredType::f64: return cast<double, float>(stored);
        default: return stored;
    }
}

double claimed_bytes(const ImageHeader& header, StoredType type) {
    double bytes = static_cast<double>(bytes_of(type)) * static_cast<double>(header.time_points);
    for (const std::int64_t size : header.size) bytes *= static_cast<double>(size);
    return bytes;
}

void check_claim(const ImageHeader& header, StoredType type, std::int64_t voxel_bytes, bool compressed,
                 const std::filesystem::path& path) {
    const double claimed = claimed_bytes(header, type);
    constexpr double best_deflate = 1032;  // maximum compression ratio of deflate
    if (claimed <= static_cast<double>(voxel_bytes) * (compressed ? best_deflate : 1)) return;
    throw Error(ErrorCode::bad_file,
                fmt::format("ends too early: {:.0f} bytes of voxels are described, {}{} follow the header", claimed,
                            counted(voxel_bytes, "bytes"), compressed ? " (compressed)" : ""),
                path.string(), "copy the file again");
}

}  // namespace echolux
