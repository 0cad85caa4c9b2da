#include "engine/io/zarr/coarser.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace echolux::zarr {
namespace {

template <class Number>
Number rounded(double mean) {
    if constexpr (std::is_floating_point_v<Number>) {
        return static_cast<Number>(mean);
    } else {
        return static_cast<Number>(std::floor(mean + 0.5));
    }
}

// Computes one coarse slice from two fine ones; `second` may be empty. Voxels consist of `parts` numbers.
template <class Number>
std::vector<std::byte> halved(std::span<const std::byte> first, std::span<const std::byte> second,
                              const std::array<std::int64_t, 3>& fine, const std::array<std::int64_t, 3>& coarse,
                              std::int64_t parts) {
    std::vector<std::byte> out(static_cast<std::size_t>(coarse[0] * coarse[1] * parts) * sizeof(Number));
    std::byte* to = out.data();
    const auto number_at = [](std::span<const std::byte> slice, std::int64_t place) {
        Number number;
        std::memcpy(&number, slice.data() + static_cast<std::size_t>(place) * sizeof(Number), sizeof(Number));
        return static_cast<double>(number);
    };
    for (std::int64_t y = 0; y < coarse[1]; ++y) {
        const std::int64_t last_row = std::min(2 * y + 1, fine[1] - 1);
        for (std::int64_t x = 0; x < coarse[0]; ++x) {
            const std::int64_t last_column = std::min(2 * x + 1, fine[0] - 1);
            for (std::int64_t part = 0; part < parts; ++part) {
                double sum = 0;
                int count = 0;
                for (std::int64_t row = 2 * y; row <= last_row; ++row) {
                    for (std::int64_t column = 2 * x; column <= last_column; ++column) {
                        const std::int64_t place = (row * fine[0] + column) * parts + part;
                        sum += number_at(first, place);
                        if (!second.empty()) sum += number_at(second, place);
                        count += second.empty() ? 1 : 2;
                    }
                }
                const auto mean = rounded<Number>(sum / count);
                std::memcpy(to, &mean, sizeof(mean));
                to += sizeof(mean);
            }
        }
    }
    return out;
}

}  // namespace

Coarser::Coarser(std::array<std::int64_t, 3> size, VoxelType type) : size_(size), coarse_(size), type_(type) {
    for (std::int64_t& side : coarse_) side = (side + 1) / 2;
}

std::optional<std::vector<std::byte>> Coarser::add(std::span<const std::byte> slice) {
    const bool is_first = next_ % 2 == 0, is_last = next_ + 1 == size_[2];
    next_ = is_last ? 0 : next_ + 1;
    if (is_first && !is_last) {
        before_.assign(slice.begin(), slice.end());
        return std::nullopt;
    }
    const std::span<const std::byte> first = is_first ? slice : std::span<const std::byte>(before_);
    const std::span<const std::byte> second = is_first ? std::span<const std::byte>() : slice;
    switch (type_) {
        case VoxelType::u8: return halved<std::uint8_t>(first, second, size_, coarse_, 1);
        case VoxelType::u16: return halved<std::uint16_t>(first, second, size_, coarse_, 1);
        case VoxelType::i16: return halved<std::int16_t>(first, second, size_, coarse_, 1);
        case VoxelType::complex64: return halved<float>(first, second, size_, coarse_, 2);
        default: return halved<float>(first, second, size_, coarse_, 1);
    }
}

}  // namespace echolux::zarr
