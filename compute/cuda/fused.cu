// The host side of the fused kernel: which recipes fit, the tables in the form that it wants, and the launch of the one
// variant for this length, format and kind of voxel.
#include "compute/cuda/fused.h"

#include <algorithm>
#include <bit>

#include "compute/cuda/fused_kernel.cuh"
#include "compute/methods/nudft.h"
#include "compute/validate.h"

namespace echolux::cuda {
namespace {

// The kernel for transforms of 2^9 ... 2^13 points, as use(size) with a FusedSize.
template <class Use>
void with_size(std::int64_t transform, const Use& use) {
    switch (transform) {
        case 512: return use(FusedSize<9>{});
        case 1024: return use(FusedSize<10>{});
        case 2048: return use(FusedSize<11>{});
        case 4096: return use(FusedSize<12>{});
        default: return use(FusedSize<13>{});
    }
}

int shared_bytes(std::int64_t transform, VoxelType voxel) {
    std::int64_t bytes = 0;
    with_size(transform, [&](auto size) {
        using Size = decltype(size);
        bytes = Size::groups * (Size::exchange_bytes + 2 * (Size::n / 2) * bytes_of(voxel));
    });
    return static_cast<int>(bytes);
}

int most_shared_bytes() {
    int device = 0, bytes = 0;
    checked(cudaGetDevice(&device), "ask for the device");
    checked(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "ask for shared memory");
    return bytes;
}

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

std::vector<float2> twiddles(std::int64_t transform) {
    std::vector<float2> table;
    with_size(transform, [&](auto size) {
        using Size = decltype(size);
        append_twiddles(table, 16, 16);
        if (Size::four_stages) append_twiddles(table, 16, 256);
        append_twiddles(table, Size::last_radix, Size::n / Size::last_radix);
    });
    return table;
}

// Calls use(source) with the fastest way to read such lines.
template <class Use>
void with_source(const RawFormat& format, const Lengths& lengths, std::int64_t line_bytes, const std::byte* raw,
                 const Use& use) {
    const bool words = lengths.samples == lengths.transform && format.channels == 1 && format.shift == 0 &&
                       format.bits == 0 && format.byte_order == ByteOrder::little &&
                       (reinterpret_cast<std::uintptr_t>(raw) | static_cast<std::uintptr_t>(line_bytes)) % 4 == 0;
    if (words && format.sample_format == SampleFormat::u16) return use(ByWords<U16Words>{});
    if (words && format.sample_format == SampleFormat::packed12) return use(ByWords<Packed12Words>{});
    use(BySamples{});
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

template <class Size, class Source, class Voxel>
void launch(const FusedWork& work, int shared, cudaStream_t stream) {
    const auto kernel = fused<std::countr_zero(static_cast<unsigned>(Size::n)), Source, Voxel>;
    checked(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "ask for shared memory");
    const std::uint32_t blocks = (work.pairs + Size::groups - 1) / Size::groups;
    kernel<<<blocks, Size::block, static_cast<std::size_t>(shared), stream>>>(work);
    checked_launch("reconstruct in one kernel");
}

}  // namespace

bool FusedKernel::fits(const ReconstructionPlan& plan, const PlainTables& tables) {
    const std::int64_t transform = tables.lengths.transform;
    const bool size =
        std::has_single_bit(static_cast<std::uint64_t>(transform)) && transform >= 512 && transform <= 8192;
    const bool line_by_line = tables.upsample == 1 && tables.rolling_width == 0 && !tables.resample.prefilter &&
                              !needs_whole_b_scans(plan.recipe) && !needs_frame_range(plan.recipe) &&
                              !uses_nudft(plan) && tables.resample.taps <= 4;
    return size && line_by_line && shared_bytes(transform, stored_type(plan.recipe)) <= most_shared_bytes();
}

FusedKernel::FusedKernel(const ReconstructionPlan& plan, const PlainTables& tables, const VoxelTables& voxels)
    : plan_(plan), lengths_(tables.lengths), voxels_(voxels) {
    const FourTaps four(tables.resample, lengths_);
    base_ = uploaded(four.base);
    taps_ = uploaded(four.taps);
    weight_ = uploaded(weights(tables.weight, lengths_.transform));
    twiddles_ = uploaded(twiddles(lengths_.transform));
    noise_floor_ = uploaded(voxels_.noise_floor);
}

void FusedKernel::enqueue(cudaStream_t stream, const std::byte* raw, std::int64_t lines,
                          const DeviceBackground& background, const DeviceTarget& target) const {
    const Recipe& recipe = plan_.recipe;
    const std::int64_t frame_lines = plan_.geometry.lines_per_b_scan();
    const std::int64_t frames = lines / frame_lines;
    const VoxelType type = stored_type(recipe);
    const CodeRange range{static_cast<float>(recipe.low), static_cast<float>(recipe.high)};
    FusedWork work;
    work.format = LineFormat(plan_.format, plan_.geometry);
    work.base = base_.as<int>();
    work.taps = taps_.as<float4>();
    work.weight = weight_.as<float2>();
    work.twiddles = twiddles_.as<float2>();
    work.raw = raw;
    work.samples = static_cast<int>(plan_.geometry.samples);
    work.frame_lines = static_cast<int>(frame_lines);
    work.pairs_per_frame = static_cast<std::uint32_t>((frame_lines + 1) / 2);
    work.pairs = static_cast<std::uint32_t>(frames) * work.pairs_per_frame;
    work.background = background;
    work.depth_begin = static_cast<int>(kept_depth(recipe, lengths_.bins).begin);
    work.depth = static_cast<int>(voxels_.depth);
    work.depth_flip = voxels_.depth_flip;
    work.scale = voxels_.scale;
    work.power_scale = voxels_.scale * voxels_.scale;
    work.value = VoxelValue(voxels_, noise_floor_.as<float>());
    work.code = VoxelCode(type, range);
    work.target = target;
    work.first_slice = target.first_slice + target.first_line / frame_lines;
    work.voxel_bytes = static_cast<int>(bytes_of(type));
    work.store_bytes = store_bytes(work);
    const int shared = shared_bytes(lengths_.transform, type);
    with_size(lengths_.transform, [&](auto size) {
        with_source(plan_.format, lengths_, work.format.line_bytes(), raw, [&](auto source) {
            if (ByteOfDecibel::fits(recipe)) {
                launch<decltype(size), decltype(source), ByteVoxel>(work, shared, stream);
            } else {
                launch<decltype(size), decltype(source), AnyVoxel>(work, shared, stream);
            }
        });
    });
}

}  // namespace echolux::cuda
