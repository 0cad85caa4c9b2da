// Voxel types and plausibility of image files: see image_header.h.
#include "engine/io/image_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compute/error.h"
#include "engine/memory_budget.h"

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

}  // namespace

std::int64_t bytes_of(StoredType type) {
    switch (type) {
        case StoredType::u8:
        case StoredType::i8: return 1;
        case StoredType::u16:
        case StoredType::i16: return 2;
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

std::vector<std::byte> converted(StoredType type, std::vector<std::byte> stored) {
    switch (type) {
        case StoredType::i8: return cast<std::int8_t, std::int16_t>(stored);
        case StoredType::u32: return cast<std::uint32_t, float>(stored);
        case StoredType::i32: return cast<std::int32_t, float>(stored);
        case StoredType::u64: return cast<std::uint64_t, float>(stored);
        case StoredType::i64: return cast<std::int64_t, float>(stored);
        case StoredType::f64: return cast<double, float>(stored);
        default: return stored;
    }
}

void check_claim(const ImageHeader& header, StoredType type, std::int64_t voxel_bytes, bool compressed,
                 const std::filesystem::path& path) {
    double one = static_cast<double>(bytes_of(type));  // in double: no header can make it overflow
    for (const std::int64_t size : header.size) one *= static_cast<double>(size);
    const double claimed = one * static_cast<double>(header.time_points);
    constexpr double best_deflate = 1032;  // no compressed byte holds more
    if (claimed > static_cast<double>(voxel_bytes) * (compressed ? best_deflate : 1)) {
        throw Error(ErrorCode::bad_file,
                    fmt::format("ends too early: {:.0f} bytes of voxels are described, {} bytes{} follow the header",
                                claimed, voxel_bytes, compressed ? " (compressed)" : ""),
                    path.string(), "copy the file again");
    }
    constexpr double copies = 3;  // as it lies in the file, converted, turned
    constexpr double most = 9e18;
    require_memory(static_cast<std::int64_t>(std::min(copies * one, most)), path.string(), "crop or convert it first");
}

}  // namespace echolux
