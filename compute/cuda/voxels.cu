// Kernels of the voxel stage: one thread block per output line, or per B-scan if codes span its range.
#include "compute/cuda/voxels.h"

#include <cfloat>
#include <cub/block/block_reduce.cuh>

#include "compute/cuda/launch.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/voxels.cuh"
#include "compute/plan/choices.h"

namespace echolux::cuda {

// ---- Four bins per thread and sixteen codes per store. A block iterates over several lines, so that it divides by the
// A-scans of a slice only once.

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
    return writes_decibel_bytes(recipe) && !needs_frame_range(recipe) && recipe.average == Average::none &&
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

namespace {

struct LineShape {
    std::int64_t depth;
    bool flip;
    float scale;  // amplitude factor
    Average average;
    Joining joining;
    std::int64_t first_frame;  // in the volume

    // Maps bin z to its position in the row and back (an involution).
    __device__ std::int64_t place(std::int64_t z) const { return flip ? depth - 1 - z : z; }
};

// Calls use(bin, weight) for each line of an output line.
template <class Use>
__device__ inline void each_bin(const DeviceBins& bins, const LineShape& shape, std::int64_t output, std::int64_t z,
                                const Use& use) {
    for (std::int64_t i = 0; i < shape.joining.terms(); ++i) {
        const Joining::Term term = shape.joining.term(output, i, shape.first_frame);
        use(bins.first[term.line * bins.stride + z], term.weight);
    }
}

__device__ inline float2 mean_bin(const DeviceBins& bins, const LineShape& shape, std::int64_t output, std::int64_t z) {
    if (shape.joining.as_recorded) return bins.first[output * bins.stride + z];
    float2 mean{};
    each_bin(bins, shape, output, z, [&](float2 bin, float weight) {
        mean.x += bin.x * weight;
        mean.y += bin.y * weight;
    });
    const float share = 1.0f / static_cast<float>(shape.joining.joined);
    return {mean.x * share, mean.y * share};
}

// Returns the scaled power of an output line's bin.
__device__ inline float joined_power(const DeviceBins& bins, const LineShape& shape, std::int64_t output,
                                     std::int64_t z) {
    const auto power_of = [](float2 bin) { return Power{}(bin.x, bin.y); };
    if (shape.joining.terms() == 1 || shape.average == Average::complex) {
        return power_of(mean_bin(bins, shape, output, z)) * (shape.scale * shape.scale);
    }
    const float share = 1.0f / static_cast<float>(shape.joining.joined);
    float sum = 0;
    if (shape.average == Average::magnitude) {
        const float factor = shape.scale * share;
        each_bin(bins, shape, output, z,
                 [&](float2 bin, float weight) { sum += std::sqrt(power_of(bin)) * (factor * weight); });
        return sum * sum;
    }
    const float factor = shape.scale * shape.scale * share;
    each_bin(bins, shape, output, z, [&](float2 bin, float weight) { sum += power_of(bin) * (factor * weight); });
    return sum;
}

// Calls use(place, is_inside) for every position of a line, by whole warps.
template <class Use>
__device__ inline void each_place(std::int64_t depth, const Use& use) {
    const std::int64_t lane = threadIdx.x % 32;
    for (std::int64_t place = threadIdx.x; place - lane < depth; place += blockDim.x) use(place, place < depth);
}

__global__ void store_voxels(DeviceBins bins, LineShape shape, VoxelValue value, VoxelCode code, DeviceTarget target) {
    const std::int64_t output = blockIdx.x;
    const TargetRow row = target.row(output);
    each_place(shape.depth, [&](std::int64_t place, bool is_inside) {
        float here = -INFINITY;
        if (is_inside) {
            const std::int64_t z = shape.place(place);
            here = value(joined_power(bins, shape, output, z), z);
            code.store(here, row, place);
        }
        if (row.peaks != nullptr) store_peak(code, here, row.peaks, target.depths_of_a_peak, place, is_inside);
    });
}

__global__ void store_complex(DeviceBins bins, LineShape shape, DeviceTarget target) {
    const std::int64_t output = blockIdx.x;
    const TargetRow row = target.row(output);
    for (std::int64_t z = threadIdx.x; z < shape.depth; z += blockDim.x) {
        const float2 bin = mean_bin(bins, shape, output, z);
        row.store(shape.place(z) * static_cast<std::int64_t>(sizeof(float2)),
                  float2{bin.x * shape.scale, bin.y * shape.scale});
    }
}

constexpr int threads_of_a_slice = 1024;

// One block per slice: finds its min and max, then stores its codes.
__global__ void __launch_bounds__(threads_of_a_slice)
    store_over_range(const float* values, std::int64_t a_scans, std::int64_t depth, VoxelType type,
                     DeviceTarget target) {
    using Reduce = cub::BlockReduce<float, threads_of_a_slice>;
    __shared__ typename Reduce::TempStorage storage;
    __shared__ float range[2];
    const float* slice = values + blockIdx.x * a_scans * depth;
    float least = FLT_MAX, greatest = -FLT_MAX;
    for (std::int64_t i = threadIdx.x; i < a_scans * depth; i += blockDim.x) {
        least = fminf(least, slice[i]);
        greatest = fmaxf(greatest, slice[i]);
    }
    least = Reduce(storage).Reduce(least, [](float a, float b) { return fminf(a, b); });
    __syncthreads();
    greatest = Reduce(storage).Reduce(greatest, [](float a, float b) { return fmaxf(a, b); });
    if (threadIdx.x == 0) {
        range[0] = least;
        range[1] = greatest;
    }
    __syncthreads();
    const VoxelCode code(type, {range[0], range[1]});
    for (std::int64_t a = 0; a < a_scans; ++a) {
        const TargetRow row = target.row(blockIdx.x * a_scans + a);
        each_place(depth, [&](std::int64_t place, bool is_inside) {
            const float here = is_inside ? slice[a * depth + place] : -INFINITY;
            if (is_inside) code.store(here, row, place);
            if (row.peaks != nullptr) store_peak(code, here, row.peaks, target.depths_of_a_peak, place, is_inside);
        });
    }
}

Joining joining_of(const ReconstructionSpec& spec, const BlockShape& shape, const DeviceBuffer& mixes) {
    const ScanGeometry& geometry = spec.geometry;
    Joining joining;
    joining.joined = shape.joined;
    joining.a_scans = geometry.a_scans;
    joining.frame_lines = shape.frame_lines;
    joining.order = {geometry.a_scans, geometry.bidirectional};
    joining.mixes = mixes.as<LineMix>();
    joining.as_recorded = spec.recipe.average == Average::none && joining.mixes == nullptr;
    if (spec.recipe.average == Average::none) return joining;
    joining.a_repeats = geometry.a_repeats;
    joining.b_repeats = geometry.b_repeats;
    return joining;
}

CodeRange range_of(const Recipe& recipe) {
    return {static_cast<float>(recipe.low), static_cast<float>(recipe.high)};
}

}  // namespace

VoxelKernels::VoxelKernels(const VoxelTables& tables, const ReconstructionSpec& spec, const BlockShape& shape)
    : tables_(tables), mixes_(uploaded(line_mixes(spec.geometry, spec.calibration))),
      joining_(joining_of(spec, shape, mixes_)), noise_floor_(uploaded(tables.noise_floor)) {}

void VoxelKernels::store(cudaStream_t stream, const DeviceBins& bins, std::int64_t lines, std::int64_t first_frame,
                         const DeviceTarget& target) const {
    const bool in_order = joining_.as_recorded && target.recorded.reversed == 0;
    if (in_order && enqueue_byte_codes(stream, bins, lines, tables_, target)) return;
    enqueue(stream, bins, lines, first_frame, tables_.recipe.voxel, target);
}

bool VoxelKernels::store_codes(LineMethod& method, const RawLines& lines, const DeviceTarget& target) const {
    const auto codes = joining_.as_recorded ? byte_codes(tables_, target) : std::nullopt;
    return codes && method.enqueue_codes(lines, *codes);
}

void VoxelKernels::values(cudaStream_t stream, const DeviceBins& bins, std::int64_t lines, std::int64_t first_frame,
                          float* values) const {
    DeviceTarget target;
    target.linear = reinterpret_cast<std::byte*>(values);
    target.a_scan_bytes = tables_.depth * std::int64_t{sizeof(float)};
    target.a_scans = lines;
    enqueue(stream, bins, lines, first_frame, VoxelType::f32, target);
}

void VoxelKernels::enqueue(cudaStream_t stream, const DeviceBins& bins, std::int64_t lines, std::int64_t first_frame,
                           VoxelType type, const DeviceTarget& target) const {
    const LineShape shape{tables_.depth,          tables_.depth_flip, tables_.scale,
                          tables_.recipe.average, joining_,           first_frame};
    const auto blocks = static_cast<unsigned>(lines);
    if (tables_.recipe.quantity == Quantity::complex) {
        store_complex<<<blocks, threads_of_a_line, 0, stream>>>(bins, shape, target);
    } else {
        const VoxelValue value(tables_, noise_floor_.as<float>());  // null without a noise floor
        store_voxels<<<blocks, threads_of_a_line, 0, stream>>>(bins, shape, value,
                                                               VoxelCode(type, range_of(tables_.recipe)), target);
    }
    checked_launch("store voxels");
}

void VoxelKernels::store_slices(cudaStream_t stream, const float* values, std::int64_t slices,
                                const DeviceTarget& target) const {
    store_over_range<<<static_cast<unsigned>(slices), threads_of_a_slice, 0, stream>>>(
        values, target.a_scans, tables_.depth, tables_.recipe.voxel, target);
    checked_launch("store voxels");
}

}  // namespace echolux::cuda
