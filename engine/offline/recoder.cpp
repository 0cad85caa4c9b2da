#include "engine/offline/recoder.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "compute/error.h"
#include "compute/indexing.h"

namespace echolux {
namespace {

template <class To>
To coded(double code) {
    if constexpr (std::is_floating_point_v<To>) {
        return static_cast<To>(code);
    } else {
        constexpr double min = std::numeric_limits<To>::min(), max = std::numeric_limits<To>::max();
        if (!(code > min)) return std::numeric_limits<To>::min();  // also for NaN
        return code >= max ? std::numeric_limits<To>::max() : static_cast<To>(std::lround(code));
    }
}

template <class From, class To>
void recode(std::span<const std::byte> in, std::byte* out, double scale, double offset) {
    for (std::size_t i = 0; i < in.size() / sizeof(From); ++i) {
        From from;
        std::memcpy(&from, in.data() + i * sizeof(From), sizeof(From));
        const To to = coded<To>(static_cast<double>(from) * scale + offset);
        std::memcpy(out + i * sizeof(To), &to, sizeof(To));
    }
}

// Calls use(Number{}) with the C++ type of a voxel type.
template <class Use>
void with_number(VoxelType type, const Use& use) {
    switch (type) {
        case VoxelType::u8: return use(std::uint8_t{});
        case VoxelType::u16: return use(std::uint16_t{});
        case VoxelType::i16: return use(std::int16_t{});
        default: return use(float{});
    }
}

bool is_recoded(VoxelType type) {
    return type == VoxelType::u8 || type == VoxelType::u16 || type == VoxelType::i16 || type == VoxelType::f32;
}

}  // namespace

Recoder::Recoder(const VolumeGrid& grid, VoxelType type, std::optional<std::pair<double, double>> range)
    : from_(grid.type), grid_(grid) {
    if (grid.type == type && !range) return;
    const auto refuse = [](const char* what, const char* key, const char* remedy) {
        throw Error(ErrorCode::bad_setting, what, key, remedy);
    };
    if (!is_recoded(grid.type) || !is_recoded(type)) {
        refuse("complex and display-only voxels keep their type", "type", "leave it out");
    }
    grid_.type = type;
    if (type == VoxelType::f32) {
        if (range) refuse("floating-point voxels need no range", "range", "leave it out");
        scale_ = grid.scale;
        offset_ = grid.offset;
        grid_.scale = 1;
        grid_.offset = 0;
        return;
    }
    const bool fits = grid.type == VoxelType::u8;  // in any wider integer
    if (!range && fits) return;
    if (!range) refuse("conversion to integers needs the range of values to cover", "type", "give `range` LOW:HIGH");
    const auto [low, high] = *range;
    if (!(low < high) || !std::isfinite(high - low)) refuse("is empty", "range", "give LOW:HIGH");
    with_number(type, [&](auto number) {
        using Number = decltype(number);
        const auto min = static_cast<double>(std::numeric_limits<Number>::min());
        const auto max = static_cast<double>(std::numeric_limits<Number>::max());
        grid_.scale = (high - low) / (max - min);
        grid_.offset = low - min * grid_.scale;
    });
    scale_ = grid.scale / grid_.scale;
    offset_ = (grid.offset - grid_.offset) / grid_.scale;
}

std::vector<std::byte> Recoder::operator()(std::span<const std::byte> voxels) const {
    if (from_ == grid_.type && scale_ == 1 && offset_ == 0) return {voxels.begin(), voxels.end()};
    std::vector<std::byte> out(voxels.size() / index(bytes_of(from_)) * index(bytes_of(grid_.type)));
    with_number(from_, [&](auto from) {
        with_number(grid_.type,
                    [&](auto to) { recode<decltype(from), decltype(to)>(voxels, out.data(), scale_, offset_); });
    });
    return out;
}

}  // namespace echolux
