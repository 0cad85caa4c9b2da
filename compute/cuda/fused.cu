// Host side of the fused kernel: checks recipes, prepares the tables in its layout, and sets up launches.
#include "compute/cuda/fused.h"

#include "compute/cuda/fused_kernel.cuh"
#include "compute/cuda/transform.h"
#include "compute/methods/nonuniform.h"
#include "compute/plan/choices.h"

namespace echolux::cuda {
namespace {

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

// Returns whether two lines of that length and their voxels fit on chip.
bool has_room(const Lengths& lengths, std::int64_t voxel_bytes) {
    if (!has_transform_size(lengths.transform)) {
        return mixed_shape(lengths.transform, lengths.samples, voxel_bytes).has_value();
    }
    return shared_bytes<SideBySide>(lengths.transform, voxel_bytes) <= max_shared_bytes();
}

// Returns whether the lines of a form that has more of them than SideBySide fit on chip.
template <class Form>
bool has_room_for(const Recipe& recipe, const Lengths& lengths) {
    return has_transform_size(lengths.transform) &&
           shared_bytes<Form>(lengths.transform, bytes_of(stored_type(recipe))) <= max_shared_bytes();
}

bool uses_halves(const ReconstructionSpec& spec, const Lengths& lengths) {
    return needs_halves(spec) && has_room_for<Halves>(spec.recipe, lengths);
}

// Returns the upper limit of samples, for formats of up to 16 bits.
double sample_end(const RawFormat& format) {
    return format.sample_format == SampleFormat::packed12 ? 4096 : 65536;
}

std::optional<MixedShape> shape_of(const Lengths& lengths, std::int64_t voxel_bytes) {
    if (has_transform_size(lengths.transform)) return {};
    return mixed_shape(lengths.transform, lengths.samples, has_room(lengths, voxel_bytes) ? voxel_bytes : 0);
}

}  // namespace

bool FusedKernel::fits(const ReconstructionSpec& spec, const PlainTables& tables) {
    return spec.recipe.method == Method::plain && !uses_nudft(spec) && !uses_nufft(spec) && tables.upsample == 1 &&
           tables.rolling_width == 0 && !tables.resample.prefilter && tables.resample.taps <= 4 &&
           has_room(tables.lengths, 0);
}

bool FusedKernel::makes_voxels(const ReconstructionSpec& spec, const PlainTables& tables) {
    const bool line_by_line = !needs_whole_b_scans(spec.recipe) && !needs_frame_range(spec.recipe) &&
                              spec.geometry.fast_axis == FastAxis::uniform;
    return line_by_line && has_room(tables.lengths, bytes_of(stored_type(spec.recipe)));
}

bool FusedKernel::makes_voxels_in_halves() const {
    return form_for_voxels(nullptr) == LineForm::halves;
}

bool FusedKernel::makes_both(const Recipe& recipe) {
    return ByteOfDecibel::fits(recipe);
}

FusedKernel::FusedKernel(const ReconstructionSpec& spec, const PlainTables& tables, const VoxelTables& voxels)
    : spec_(spec), lengths_(tables.lengths), voxels_(voxels),
      mixed_(shape_of(lengths_, bytes_of(stored_type(spec.recipe)))),
      known_(known_shape(lengths_.transform, lengths_.samples)), points_(tables, sample_end(spec.format)),
      twiddles_(uploaded(mixed_ ? mixed_radix_twiddles(mixed_->length) : transform_twiddles(lengths_.transform))),
      known_twiddles_(known_ ? uploaded(mixed_radix_twiddles(known_->length)) : DeviceBuffer()),
      half_twiddles_(uses_halves(spec, lengths_) ? uploaded(halves_of(transform_twiddles(lengths_.transform)))
                                                 : DeviceBuffer()),
      noise_floor_(uploaded(voxels_.noise_floor)) {}

// Lengths that are not powers of two subtract the background first unless the output is bytes. Otherwise, interpolating
// with it rounds a sample of 2000 counts to 1e-4 counts, which shifts 1 % of u16 codes by one.
LineForm FusedKernel::form_for_bins(const std::byte* raw) const {
    if (line_words(LineFormat(spec_.format, spec_.geometry), raw) == LineWords::none) return LineForm::subtracted;
    return !mixed_ || ByteOfDecibel::fits(spec_.recipe) ? LineForm::as_recorded : LineForm::subtracted;
}

LineForm FusedKernel::form_for_voxels(const std::byte* raw) const {
    const LineForm form = form_for_bins(raw);
    if (form != LineForm::as_recorded || mixed_) return form;
    if (half_twiddles_.bytes() > 0) return LineForm::halves;
    const bool two_in_one =
        points_.real() && points_.taps() == nullptr && has_room_for<TwoInOne>(spec_.recipe, lengths_);
    return two_in_one ? LineForm::two_in_one : form;
}

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
    const bool bytes = ByteOfDecibel::fits(spec_.recipe);
    if (mixed_) {
        launch_mixed(work, bytes ? FusedOutput::byte_voxels : FusedOutput::any_voxels, stream);
    } else if (lines.points.form == LineForm::halves) {
        launch_fused_halves(work, bytes, lengths_.transform, stream);
    } else if (lines.points.form == LineForm::two_in_one) {
        launch_fused_two_in_one(work, bytes, lengths_.transform, stream);
    } else if (bytes) {
        launch_fused_lines<ByteVoxel>(work, lengths_.transform, stream);
    } else {
        launch_fused_lines<AnyVoxel>(work, lengths_.transform, stream);
    }
}

void FusedKernel::both(cudaStream_t stream, const FusedLinesIn& lines, const DeviceTarget& target, float2* bins) const {
    FusedWork work = voxels_work(lines, target);
    work.bins = bins;
    if (mixed_) return launch_mixed(work, FusedOutput::byte_voxels_and_bins, stream);
    launch_fused_bytes_and_bins(work, lengths_.transform, stream);
}

void FusedKernel::both(cudaStream_t stream, const FusedLinesIn& lines, const DeviceTarget& target,
                       HalfBin* bins) const {
    FusedWork work = voxels_work(lines, target);
    work.half_bins = bins;
    work.half_bin_scale = half_bin_scale();
    if (mixed_) return launch_mixed(work, FusedOutput::byte_voxels_and_half_bins, stream);
    launch_fused_bytes_and_half_bins(work, lengths_.transform, stream);
}

float FusedKernel::half_bin_scale() const {
    const SampleFormat format = spec_.format.sample_format;
    return format == SampleFormat::u32 || format == SampleFormat::f32 ? 0 : points_.half_bin_scale();
}

void FusedKernel::bins(cudaStream_t stream, const FusedLinesIn& lines, float2* bins) const {
    FusedWork work = lines_work(lines);
    work.bins = bins;
    if (mixed_) return launch_mixed(work, FusedOutput::bins, stream);
    launch_fused_bins(work, lengths_.transform, stream);
}

// Bytes have the same bits with and without bins.
void FusedKernel::launch_mixed(const FusedWork& work, FusedOutput output, cudaStream_t stream) const {
    const bool bytes = output != FusedOutput::any_voxels && output != FusedOutput::bins;
    if (!known_ || !bytes || work.points.taps != nullptr) {
        return launch_fused_mixed(work, *mixed_, output, stream);
    }
    FusedWork known = work;
    known.twiddles = known_twiddles_.as<float2>();
    launch_fused_known(known, *known_, output, stream);
}

}  // namespace echolux::cuda
