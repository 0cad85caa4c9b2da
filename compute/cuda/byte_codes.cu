// Four bins per thread and sixteen codes per store. A block iterates over several lines, so that it divides by the
// A-scans of a slice only once.
#include "compute/cuda/byte_codes.h"

#include "compute/cuda/byte_codes.cuh"
#include "compute/cuda/memory.h"
#include "compute/plan/choices.h"

namespace echolux::cuda {
namespace {

constexpr int threads = 256;
constexpr int lines_of_a_block = 4;

__global__ void __launch_bounds__(threads) store_byte_codes(DeviceBins bins, std::int64_t lines, int depth, bool flip,
                                                            ByteOfDecibel code, DeviceTarget target) {
    constexpr unsigned all_lanes = 0xffffffffu;
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * lines_of_a_block;
    const std::int64_t end = min(first + lines_of_a_block, lines);
    const int fours = depth / 4, lane = static_cast<int>(threadIdx.x) % 32;
    TargetRow row = target.row(first);
    for (std::int64_t line = first; line < end; ++line) {
        const auto* pairs = reinterpret_cast<const float4*>(bins.first + line * bins.stride);
        for (int four = static_cast<int>(threadIdx.x); four - lane < fours; four += threads) {  // whole warps
            std::uint32_t word = 0;
            if (four < fours) {
                const float4 a = pairs[2 * four], b = pairs[2 * four + 1];
                const std::uint32_t first_code = code({a.x, a.y}), second_code = code({a.z, a.w});
                const std::uint32_t third_code = code({b.x, b.y}), fourth_code = code({b.z, b.w});
                word = first_code | second_code << 8 | third_code << 16 | fourth_code << 24;
            }
            if (flip) word = __byte_perm(word, 0, 0x0123);
            if (row.peaks != nullptr) {
                const int depths = target.depths_of_a_peak, place = flip ? depth - 4 - 4 * four : 4 * four;
                const unsigned beside = __shfl_xor_sync(all_lanes, word, 1);
                const unsigned peak = depths == 8 ? max_byte(word, beside) : max_byte(word);
                if (four < fours && place % depths == 0) row.peaks[place / depths] = static_cast<std::byte>(peak);
            }
            const std::uint32_t second = __shfl_down_sync(all_lanes, word, 1);
            const std::uint32_t third = __shfl_down_sync(all_lanes, word, 2);
            const std::uint32_t fourth = __shfl_down_sync(all_lanes, word, 3);
            if (lane % 4 != 0 || four >= fours) continue;
            const int z = 4 * four;
            if (flip) {
                row.store(depth - 16 - z, uint4{fourth, third, second, word});
            } else {
                row.store(z, uint4{word, second, third, fourth});
            }
        }
        if (++row.a_scan < target.a_scans) {
            if (row.linear != nullptr) row.linear += target.a_scan_bytes;
            if (row.peaks != nullptr) row.peaks += target.peaks_a_scan_bytes;
        } else {
            row = target.row(line + 1);
        }
    }
}

bool are_simple(const VoxelTables& tables, const DeviceTarget& target) {
    const Recipe& recipe = tables.recipe;
    return ByteOfDecibel::fits(recipe) && !needs_frame_range(recipe) && recipe.average == Average::none &&
           tables.depth % 16 == 0 && target.wide();
}

ByteOfDecibel code_of(const VoxelTables& tables) {
    return {tables, double{tables.scale} * double{tables.scale}};
}

}  // namespace

std::optional<ByteCodes> byte_codes(const VoxelTables& tables, const DeviceTarget& target) {
    const bool has_peaks = target.peaks != nullptr;
    if (!are_simple(tables, target) || (has_peaks && !target.has_peaks_at(16 / target.depths_of_a_peak))) return {};
    return ByteCodes{code_of(tables), static_cast<int>(tables.depth), tables.depth_flip, target};
}

bool enqueue_byte_codes(cudaStream_t stream, const DeviceBins& bins, std::int64_t lines, const VoxelTables& tables,
                        const DeviceTarget& target) {
    const bool lie_well = reinterpret_cast<std::uintptr_t>(bins.first) % sizeof(float4) == 0 && bins.stride % 2 == 0;
    if (!lie_well || !are_simple(tables, target)) return false;
    const auto blocks = static_cast<unsigned>((lines + lines_of_a_block - 1) / lines_of_a_block);
    store_byte_codes<<<blocks, threads, 0, stream>>>(bins, lines, static_cast<int>(tables.depth), tables.depth_flip,
                                                     code_of(tables), target);
    checked_launch("store voxels");
    return true;
}

}  // namespace echolux::cuda
