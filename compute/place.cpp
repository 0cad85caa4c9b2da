#include "compute/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "compute/counted.h"
#include "compute/error.h"

namespace echolux {
namespace {

// Orders halves by value. The bits of negative halves are in descending order.
struct ByHalf {
    bool operator()(std::uint16_t a, std::uint16_t b) const { return key(a) < key(b); }
    static std::uint16_t key(std::uint16_t bits) {
        return static_cast<std::uint16_t>((bits & 0x8000U) != 0 ? ~bits : bits | 0x8000U);
    }
};

template <class Code, class Less = std::less<Code>>
void each_peak(const std::byte* codes, std::int64_t depth, std::int64_t depths, std::byte* peaks) {
    const auto* from = reinterpret_cast<const Code*>(codes);
    auto* to = reinterpret_cast<Code*>(peaks);
    for (std::int64_t first = 0; first < depth; first += depths) {
        Code peak = from[first];
        for (std::int64_t z = first + 1; z < std::min(first + depths, depth); ++z) {
            peak = Less{}(peak, from[z]) ? from[z] : peak;
        }
        *to++ = peak;
    }
}

}  // namespace

void check_peaks(const Peaks& peaks, VoxelType type) {
    if (type == VoxelType::complex64 || type == VoxelType::phasor8) {
        throw Error(ErrorCode::bad_setting, "complex voxels have no largest one", "peaks",
                    "choose another `recipe.quantity`");
    }
    if (peaks.depths == 4 || peaks.depths == 8) return;
    throw Error(ErrorCode::bad_setting, fmt::format("peaks of {} cannot be made", counted(peaks.depths, "voxels")),
                "peaks", "choose 4 or 8");
}

void store_peaks(VoxelType type, const std::byte* codes, std::int64_t depth, std::int64_t depths, std::byte* peaks) {
    switch (type) {
        case VoxelType::u8: return each_peak<std::uint8_t>(codes, depth, depths, peaks);
        case VoxelType::u16: return each_peak<std::uint16_t>(codes, depth, depths, peaks);
        case VoxelType::i16: return each_peak<std::int16_t>(codes, depth, depths, peaks);
        case VoxelType::f16: return each_peak<std::uint16_t, ByHalf>(codes, depth, depths, peaks);
        case VoxelType::f32: return each_peak<float>(codes, depth, depths, peaks);
        case VoxelType::complex64:
        case VoxelType::phasor8: return;
    }
}

}  // namespace echolux
