// Host side of the fused kernel: prepares the tables in its layout and sets up launches.
#include "compute/cuda/fused.h"

#include "compute/cuda/fused_kernel.cuh"
#include "compute/cuda/transform.h"
#include "compute/plan/choices.h"

namespace echolux::cuda {
namespace {

static_assert(sizeof(SideBySide::Point) == point_pair_bytes && sizeof(TwoInOne::Point) == point_pair_bytes &&
              sizeof(Halves::Point) == point_pair_bytes);

VoxelType stored_type(const Recipe& recipe) {
    return recipe.quantity == Quantity::complex ? VoxelType::complex64 : recipe.voxel;
}

// Returns the store size that fits the start of every row and the kept part of it.
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

// Returns the upper limit of samples, for formats of up to 16 bits.
double sample_end(const RawFormat& format) {
    return format.sample_format == SampleFormat::packed12 ? 4096 : 65536;
}

}  // namespace

FusedKernel::FusedKernel(const ReconstructionSpec& spec, const PlainTables& tables, const VoxelTables& voxels,
                         const GpuPath& path)
    : spec_(spec), lengths_(tables.lengths), voxels_(voxels), path_(path),
      known_(known_shape(lengths_.transform, lengths_.samples)), points_(tables, sample_end(spec.format)),
      twiddles_(
          uploaded(path.shape ? mixed_radix_twiddles(path.shape->length) : transform_twiddles(lengths_.transform))),
      known_twiddles_(known_ ? uploaded(mixed_radix_twiddles(known_->length)) : DeviceBuffer()),
      half_twiddles_(path.in_halves ? uploaded(halves_of(transform_twiddles(lengths_.transform))) : DeviceBuffer()),
      noise_floor_(uploaded(voxels_.noise_floor)) {}

// Fills everything except the voxel settings.
FusedWork FusedKernel::lines_work(const FusedLinesIn& lines) const {
    const std::int64_t frame_lines = spec_.geometry.lines_per_b_scan();
    const DeviceBackground& background = lines.background;
    const std::int64_t background_row =
        background.frame_lines == 0 ? 0 : background.first_line / background.frame_lines * background.samples;
    FusedWork work;
    work.format = LineFormat(spec_.format, spec_.geometry);
    work.points = lines.points;
    work.twiddles = twiddles_.as<float2>();
    work.half_twiddles = half_twiddles_.as<HalfFactor>();
    work.raw = lines.raw;
    work.words = line_words(work.format, lines.raw);
    work.samples = static_cast<int>(spec_.geometry.samples);
    work.frame_lines = static_cast<int>(frame_lines);
    work.frames = static_cast<std::uint32_t>(lines.count / frame_lines);
    work.background = background;
    work.background.whole += background_row;
    work.background.rest += background_row;
    return work;
}

FusedWork FusedKernel::voxels_work(const FusedLinesIn& lines, const DeviceTarget& target) const {
    const Recipe& recipe = spec_.recipe;
    const VoxelType type = stored_type(recipe);
    const CodeRange range{static_cast<float>(recipe.low), static_cast<float>(recipe.high)};
    FusedWork work = lines_work(lines);
    work.depth_begin = static_cast<int>(kept_depth(recipe, lengths_.bins).begin);
    work.depth = static_cast<int>(voxels_.depth);
    work.depth_flip = voxels_.depth_flip;
    // Samples are halved counts, and weights are scaled so that none overflows.
    const float smaller = lines.points.form == LineForm::halves ? points_.half_scale() / 2 : 1;
    work.scale = voxels_.scale / smaller;
    work.power_scale = work.scale * work.scale;
    work.value = VoxelValue(voxels_, noise_floor_.as<float>());
    work.code = VoxelCode(type, range);
    work.byte = ByteOfDecibel(voxels_, double{work.scale} * double{work.scale});
    work.target = target;
    work.first_recorded_slice = static_cast<int>(target.first_line / work.frame_lines);
    work.first_slice = target.first_slice + work.first_recorded_slice;
    work.voxel_bytes = static_cast<int>(bytes_of(type));
    work.store_bytes = store_bytes(work);
    work.voxel = type;
    work.peaks_of_16 = target.peaks != nullptr && work.store_bytes == 16 && type == VoxelType::u8 &&
                       target.has_peaks_at(16 / target.depths_of_a_peak);
    return work;
}

void FusedKernel::voxels(cudaStream_t stream, const FusedLinesIn& lines, const DeviceTarget& target) const {
    const FusedWork work = voxels_work(lines, target);
    const bool bytes = writes_decibel_bytes(spec_.recipe);
    if (path_.shape) {
        launch_mixed(work, bytes ? FusedOutput::byte_voxels : FusedOutput::any_voxels, stream);
    } else if (lines.points.form == LineForm::halves) {
        launch_fused_halves(work, bytes, lengths_.transform, stream);
    } else if (lines.points.form == LineForm::two_in_one) {
        launch_fused_two_in_one(work, bytes, lengths_.transform, stream);
    } else if (bytes) {
        launch_fused<SideBySide, ByteVoxel>(work, lengths_.transform, stream);
    } else {
        launch_fused<SideBySide, AnyVoxel>(work, lengths_.transform, stream);
    }
}

void FusedKernel::both(cudaStream_t stream, const FusedLinesIn& lines, const DeviceTarget& target, float2* bins) const {
    FusedWork work = voxels_work(lines, target);
    work.bins = bins;
    if (path_.shape) return launch_mixed(work, FusedOutput::byte_voxels_and_bins, stream);
    launch_fused_bytes_and_bins(work, lengths_.transform, stream);
}

void FusedKernel::both(cudaStream_t stream, const FusedLinesIn& lines, const DeviceTarget& target,
                       HalfBin* bins) const {
    FusedWork work = voxels_work(lines, target);
    work.half_bins = bins;
    work.half_bin_scale = half_bin_scale();
    if (path_.shape) return launch_mixed(work, FusedOutput::byte_voxels_and_half_bins, stream);
    launch_fused_bytes_and_half_bins(work, lengths_.transform, stream);
}

void FusedKernel::bins(cudaStream_t stream, const FusedLinesIn& lines, float2* bins) const {
    FusedWork work = lines_work(lines);
    work.bins = bins;
    if (path_.shape) return launch_mixed(work, FusedOutput::bins, stream);
    launch_fused_bins(work, lengths_.transform, stream);
}

// Bytes have the same bits with and without bins.
void FusedKernel::launch_mixed(const FusedWork& work, FusedOutput output, cudaStream_t stream) const {
    const bool bytes = output != FusedOutput::any_voxels && output != FusedOutput::bins;
    if (!known_ || !bytes || work.points.taps != nullptr) {
        return launch_fused_mixed(work, *path_.shape, output, stream);
    }
    FusedWork known = work;
    known.twiddles = known_twiddles_.as<float2>();
    launch_fused_known(known, *known_, output, stream);
}

}  // namespace echolux::cuda
