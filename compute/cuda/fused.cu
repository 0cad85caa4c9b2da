// The host side of the fused kernel: which recipes fit, the tables in the form that it wants, and what a launch is
// given.
#include "compute/cuda/fused.h"

#include "compute/cuda/fused_launch.cuh"
#include "compute/methods/nudft.h"
#include "compute/methods/nufft.h"
#include "compute/plan/choices.h"

namespace echolux::cuda {
namespace {

VoxelType stored_type(const Recipe& recipe) {
    return recipe.quantity == Quantity::complex ? VoxelType::complex64 : recipe.voxel;
}

// Fewer taps than four become four: the others weigh nothing.
struct FourTaps {
    std::vector<int> base;
    std::vector<float4> taps;

    FourTaps(const ResampleTable& table, const Lengths& lengths) {
        const auto wanted = static_cast<std::size_t>(lengths.transform);
        for (std::size_t j = 0; j < table.base.size(); ++j) {
            const std::int64_t first = std::min<std::int64_t>(table.base[j], lengths.samples - 4);
            float row[4] = {};
            for (std::int64_t m = 0; m < table.taps; ++m) {
                row[table.base[j] - first + m] = table.weights[j * static_cast<std::size_t>(table.taps) + m];
            }
            base.push_back(static_cast<int>(first));
            taps.push_back({row[0], row[1], row[2], row[3]});
        }
        base.resize(wanted);
        taps.resize(wanted);
    }
};

std::vector<float2> weights(const SpectralWeight& weight, std::int64_t transform) {
    std::vector<float2> values;
    for (const std::complex<float>& value : weight.values) values.push_back({value.real(), value.imag()});
    values.resize(static_cast<std::size_t>(transform));
    return values;
}

// What can be stored at a time wherever a row starts, and whichever part of it is kept.
int store_bytes(const FusedWork& work) {
    if (work.depth_flip) return work.voxel_bytes;
    std::uint64_t bits = static_cast<std::uint64_t>(work.depth_begin * work.voxel_bytes) |
                         static_cast<std::uint64_t>(work.depth * work.voxel_bytes);
    if (work.target.linear != nullptr) {
        bits |= reinterpret_cast<std::uintptr_t>(work.target.linear) |
                static_cast<std::uint64_t>(work.target.a_scan_bytes) |
                static_cast<std::uint64_t>(work.target.b_scan_bytes);
    }
    return std::min(16, 1 << std::countr_zero(bits));
}

}  // namespace

bool FusedKernel::fits(const ReconstructionSpec& spec, const PlainTables& tables) {
    const std::int64_t transform = tables.lengths.transform;
    return spec.recipe.method == Method::plain && !uses_nudft(spec) && !uses_nufft(spec) &&
           has_transform_size(transform) && tables.upsample == 1 && tables.rolling_width == 0 &&
           !tables.resample.prefilter && tables.resample.taps <= 4 && shared_bytes(transform, 0) <= max_shared_bytes();
}

bool FusedKernel::makes_voxels(const ReconstructionSpec& spec, const PlainTables& tables) {
    const bool line_by_line = !needs_whole_b_scans(spec.recipe) && !needs_frame_range(spec.recipe) &&
                              spec.geometry.fast_axis == FastAxis::uniform;
    return line_by_line &&
           shared_bytes(tables.lengths.transform, bytes_of(stored_type(spec.recipe))) <= max_shared_bytes();
}

bool FusedKernel::makes_both(const Recipe& recipe) {
    return ByteOfDecibel::fits(recipe);
}

FusedKernel::FusedKernel(const ReconstructionSpec& spec, const PlainTables& tables, const VoxelTables& voxels)
    : spec_(spec), lengths_(tables.lengths), voxels_(voxels) {
    const FourTaps four(tables.resample, lengths_);
    base_ = uploaded(four.base);
    taps_ = uploaded(four.taps);
    weight_ = uploaded(weights(tables.weight, lengths_.transform));
    twiddles_ = uploaded(transform_twiddles(lengths_.transform));
    noise_floor_ = uploaded(voxels_.noise_floor);
}

// Whole acquired B-scans, without what concerns voxels.
FusedWork FusedKernel::lines_work(const std::byte* raw, std::int64_t lines, const DeviceBackground& background) const {
    const std::int64_t frame_lines = spec_.geometry.lines_per_b_scan();
    const std::int64_t background_row =
        background.frame_lines == 0 ? 0 : background.first_line / background.frame_lines * background.samples;
    FusedWork work;
    work.format = LineFormat(spec_.format, spec_.geometry);
    work.base = base_.as<int>();
    work.taps = taps_.as<float4>();
    work.weight = weight_.as<float2>();
    work.twiddles = twiddles_.as<float2>();
    work.raw = raw;
    work.samples = static_cast<int>(spec_.geometry.samples);
    work.frame_lines = static_cast<int>(frame_lines);
    work.pairs_per_frame = static_cast<std::uint32_t>((frame_lines + 1) / 2);
    work.pairs = static_cast<std::uint32_t>(lines / frame_lines) * work.pairs_per_frame;
    work.background = background;
    work.background.whole += background_row;
    work.background.rest += background_row;
    return work;
}

FusedWork FusedKernel::voxels_work(const std::byte* raw, std::int64_t lines, const DeviceBackground& background,
                                   const DeviceTarget& target) const {
    const Recipe& recipe = spec_.recipe;
    const VoxelType type = stored_type(recipe);
    const CodeRange range{static_cast<float>(recipe.low), static_cast<float>(recipe.high)};
    FusedWork work = lines_work(raw, lines, background);
    work.depth_begin = static_cast<int>(kept_depth(recipe, lengths_.bins).begin);
    work.depth = static_cast<int>(voxels_.depth);
    work.depth_flip = voxels_.depth_flip;
    work.scale = voxels_.scale;
    work.power_scale = voxels_.scale * voxels_.scale;
    work.value = VoxelValue(voxels_, noise_floor_.as<float>());
    work.code = VoxelCode(type, range);
    work.target = target;
    work.first_recorded_slice = static_cast<int>(target.first_line / work.frame_lines);
    work.first_slice = target.first_slice + work.first_recorded_slice;
    work.voxel_bytes = static_cast<int>(bytes_of(type));
    work.store_bytes = store_bytes(work);
    return work;
}

DeviceBins FusedKernel::kept(float2* bins) const {
    return {bins + kept_depth(spec_.recipe, lengths_.bins).begin, bins_of_a_line()};
}

void FusedKernel::voxels(cudaStream_t stream, const std::byte* raw, std::int64_t lines,
                         const DeviceBackground& background, const DeviceTarget& target) const {
    const FusedWork work = voxels_work(raw, lines, background, target);
    if (ByteOfDecibel::fits(spec_.recipe)) {
        launch_fused<ByteVoxel>(work, spec_.format, lengths_, stream);
    } else {
        launch_fused<AnyVoxel>(work, spec_.format, lengths_, stream);
    }
}

void FusedKernel::both(cudaStream_t stream, const std::byte* raw, std::int64_t lines,
                       const DeviceBackground& background, const DeviceTarget& target, float2* bins) const {
    FusedWork work = voxels_work(raw, lines, background, target);
    work.bins = bins;
    launch_fused_bytes_and_bins(work, spec_.format, lengths_, stream);
}

void FusedKernel::bins(cudaStream_t stream, const std::byte* raw, std::int64_t lines,
                       const DeviceBackground& background, float2* bins) const {
    FusedWork work = lines_work(raw, lines, background);
    work.bins = bins;
    launch_fused_bins(work, spec_.format, lengths_, stream);
}

}  // namespace echolux::cuda
