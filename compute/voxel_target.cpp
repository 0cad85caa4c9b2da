#include "compute/voxel_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "compute/backend.h"
#include "compute/error.h"
#include "compute/gpu_backend.h"
#include "compute/indexing.h"
#include "compute/plural.h"

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
        throw Error(ErrorCode::bad_setting, "complex voxels have no maximum", "peaks",
                    "choose another `recipe.quantity`");
    }
    if (peaks.depths == 4 || peaks.depths == 8) return;
    throw Error(ErrorCode::bad_setting, fmt::format("peaks of {} cannot be computed", plural(peaks.depths, "voxels")),
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

// ---- allocation -----------------------------------------------------------------------------------------------------

namespace {

constexpr std::int64_t page = 4096;

struct Free {
    void operator()(std::byte* data) const { std::free(data); }
};

// Returns pinned memory, or null if there is no GPU or pinning is refused.
std::shared_ptr<std::byte> pinned(std::int64_t bytes) {
    if (surveyed_gpus().usable.empty()) return nullptr;
    const GpuBackend& gpu = required_gpu();
    std::byte* data = gpu.allocate_pinned(bytes);
    return data == nullptr ? nullptr : std::shared_ptr<std::byte>(data, gpu.release_pinned);
}

std::shared_ptr<std::byte> pageable(std::int64_t bytes) {
    auto* data = static_cast<std::byte*>(std::aligned_alloc(page, index(bytes)));
    if (data == nullptr) {
        throw Error(ErrorCode::out_of_memory, fmt::format("no memory for a block of {}", plural(bytes, "bytes")),
                    "block", "reconstruct fewer B-scans at a time");
    }
    return {data, Free{}};
}

}  // namespace

// The size is rounded up by a page, so that an empty block also has an address.
BlockMemory block_memory(std::int64_t bytes, MemoryKind wanted) {
    if (bytes < 0 || wanted == MemoryKind::device) {
        throw Error(ErrorCode::bad_setting, fmt::format("cannot allocate {} of host memory", plural(bytes, "bytes")),
                    "block");
    }
    const std::int64_t rounded = bytes / page * page + page;
    std::shared_ptr<std::byte> memory = wanted == MemoryKind::pinned ? pinned(rounded) : nullptr;
    const MemoryKind kind = memory ? MemoryKind::pinned : MemoryKind::host;
    if (!memory) memory = pageable(rounded);
    return {memory.get(), bytes, kind, memory};
}

BlockMemory device_memory(std::int64_t bytes, const DeviceId& gpu) {
    return required_gpu().device_memory(bytes, gpu);
}

std::shared_ptr<void> device_stream(const DeviceId& gpu) {
    return required_gpu().device_stream(gpu);
}

std::int64_t free_device_memory(const DeviceId& gpu) {
    return required_gpu().free_device_memory(gpu);
}

void copy_memory(std::byte* to, const std::byte* from, std::int64_t bytes) {
    if (const GpuBackend* gpu = gpu_backend()) return gpu->copy_memory(to, from, bytes);
    std::memcpy(to, from, index(bytes));
}

}  // namespace echolux
