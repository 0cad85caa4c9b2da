#include "compute/choose_path.h"

#include <algorithm>
#include <complex>
#include <vector>

#include "compute/flow/flow_tables.h"
#include "compute/methods/compressive.h"
#include "compute/methods/nonuniform.h"
#include "compute/plan/choices.h"
#include "compute/plan/tables.h"

namespace echolux {
namespace {

using cuda::LineForm;
using cuda::LineWords;

constexpr std::int64_t samples_bytes = 8;  // of two lines in floats

// Decides for one spec. Tables that are expensive are only built for the methods that need them.
class Choice {
  public:
    Choice(const ReconstructionSpec& spec, std::int64_t shared_bytes)
        : spec_(spec), recipe_(spec.recipe), shared_bytes_(shared_bytes), lengths_(lengths_of(spec.geometry, recipe_)),
          resample_(chosen_resample(recipe_, spec.calibration)),
          is_rolling_(chosen_background(recipe_, spec.calibration) == Background::rolling),
          words_(cuda::line_words(LineFormat(spec.format, spec.geometry), nullptr)) {}

    GpuPath with_fused() const {
        GpuPath path = recipe_.method == Method::defr          ? full_range_path()
                       : recipe_.method == Method::compressive ? compressive_path()
                                                               : plain_path();
        path.grid_on_chip = can_upsample_on_chip();
        return path;
    }

    GpuPath without_fused() const {
        if (recipe_.method == Method::defr) return {GpuKernels::full_range_in_passes};
        if (recipe_.method == Method::compressive) return {compressive_kernels()};
        if (resample_ == Resample::nudft) return {GpuKernels::matrix_product};
        return {resample_ == Resample::nufft ? GpuKernels::nufft_in_passes : GpuKernels::separate_passes};
    }

  private:
    GpuPath plain_path() const {
        if (resample_ == Resample::nudft) return {GpuKernels::matrix_product};
        if (resample_ == Resample::nufft) return nufft_path();
        const bool simple = recipe_.upsample == 1 && !is_rolling_ && resample_ != Resample::spline;
        if (simple && has_room(0)) return fused_path();
        const bool two = simple && cuda::two_pass_length(lengths_.transform, shared_bytes_).has_value();
        return {two ? GpuKernels::two_passes : GpuKernels::separate_passes};
    }

    // ---- The fused kernel.

    VoxelType stored_type() const {
        return recipe_.quantity == Quantity::complex ? VoxelType::complex64 : recipe_.voxel;
    }

    bool is_power_of_two() const { return cuda::has_transform_size(lengths_.transform); }

    std::optional<cuda::MixedShape> shape(std::int64_t voxel_bytes) const {
        return cuda::mixed_shape(lengths_.transform, lengths_.samples, voxel_bytes, shared_bytes_);
    }

    // Returns whether as many lines as a group of threads processes, and their voxels, fit on chip.
    bool has_room_for(std::int64_t lines, std::int64_t voxel_bytes) const {
        return cuda::fused_bytes(lengths_.transform, lines, voxel_bytes) <= shared_bytes_;
    }

    bool has_room(std::int64_t voxel_bytes) const {
        return is_power_of_two() ? has_room_for(2, voxel_bytes) : shape(voxel_bytes).has_value();
    }

    // Recipes that need neighbours or whole B-scans store bins first.
    GpuPath fused_path() const {
        const std::int64_t voxel_bytes = bytes_of(stored_type());
        const bool has_flow = spec_.flow.method != FlowMethod::none, bytes = writes_decibel_bytes(recipe_);
        const bool line_by_line = !needs_whole_b_scans(recipe_) && !needs_frame_range(recipe_) &&
                                  spec_.geometry.fast_axis == FastAxis::uniform;
        GpuPath path{GpuKernels::fused};
        path.to_voxels = line_by_line && has_room(voxel_bytes) && (!has_flow || bytes);
        if (!is_power_of_two()) path.shape = shape(has_room(voxel_bytes) ? voxel_bytes : 0);
        path.bins_form = bins_form(bytes);
        path.voxels_form = voxels_form(path.bins_form, voxel_bytes);
        path.in_halves = path.to_voxels && !has_flow && path.voxels_form == LineForm::halves;
        path.half_bins = path.to_voxels && has_flow && has_bounded_samples() && has_doppler_kernel(spec_);
        return path;
    }

    // Lengths that are not powers of two subtract the background first unless the output is bytes. Otherwise,
    // interpolating with it rounds a sample of 2000 counts to 1e-4 counts, which shifts 1 % of u16 codes by one.
    LineForm bins_form(bool bytes) const {
        const bool by_words = words_ != LineWords::none && (is_power_of_two() || bytes);
        return by_words ? LineForm::as_recorded : LineForm::subtracted;
    }

    LineForm voxels_form(LineForm of_bins, std::int64_t voxel_bytes) const {
        constexpr std::int64_t lines_together = 4;  // of LineForm::halves and two_in_one
        const bool four_fit =
            of_bins == LineForm::as_recorded && is_power_of_two() && has_room_for(lines_together, voxel_bytes);
        if (four_fit && allows_halves()) return LineForm::halves;
        const bool two_in_one = four_fit && resample_ == Resample::lagrange3 && has_real_weights();
        return two_in_one ? LineForm::two_in_one : of_bins;
    }

    bool has_real_weights() const {
        const std::vector<double> theta =
            dispersion_phase(recipe_, spec_.calibration, k_grid(spec_.calibration, lengths_.samples));
        return std::ranges::all_of(theta, [](double phase) { return phase == 0; });
    }

    // Returns whether the samples have a range, so that scaled bins fit into halves.
    bool has_bounded_samples() const {
        return spec_.format.sample_format != SampleFormat::u32 && spec_.format.sample_format != SampleFormat::f32;
    }

    // Complex voxels and flow never use half precision.
    bool allows_halves() const {
        return recipe_.precision == Precision::fast && recipe_.quantity != Quantity::complex &&
               spec_.flow.method == FlowMethod::none;
    }

    // Returns whether a thread block can hold two padded and up-sampled lines: up to 8192 padded samples for factor
    // two.
    bool can_upsample_on_chip() const {
        const std::int64_t padded = lengths_.padded, factor = recipe_.upsample;
        const bool possible = factor > 1 && padded % 2 == 0 && padded <= 8192 && cuda::has_transform_size(padded / 2) &&
                              resample_ != Resample::spline && !is_rolling_;
        return possible && cuda::upsampling_bytes(padded, factor) <= shared_bytes_;
    }

    // ---- Other methods.

    // The grids of two lines (and before that their spectra) and two rows of codes must fit on chip, and all kept bins
    // must be stored: of a complex grid those of the first half, which are all bins with two-fold oversampling.
    GpuPath nufft_path() const {
        if (is_rolling_ || !spec_.calibration.k_jitter.empty()) return {GpuKernels::nufft_in_passes};
        const NufftTables tables = nufft_tables(spec_);
        const GridTaps grid = grid_taps(tables);
        const std::int64_t samples_read = lengths_.samples + grid.repeated;
        const std::int64_t depth = std::ssize(tables.correction), end = tables.first_bin + depth;
        GpuPath path{GpuKernels::nufft_on_chip};
        if (cuda::has_transform_size(grid.points) && (tables.real || 2 * end <= grid.points)) {
            const std::int64_t bytes = cuda::exchange_points(grid.points) * cuda::point_pair_bytes;
            if (bytes + 2 * depth <= shared_bytes_ && samples_read * samples_bytes <= bytes) {
                path.in_halves = allows_halves() && words_ == LineWords::u16 && lengths_.samples == grid.points;
                return path;
            }
        }
        path.shape = cuda::mixed_shape(grid.points, samples_read, 0, shared_bytes_);
        if (!path.shape) path.kernels = GpuKernels::nufft_in_passes;
        return path;
    }

    GpuPath full_range_path() const {
        const std::int64_t n = lengths_.points;
        const bool fits = !spec_.defr.double_precision && cuda::has_transform_size(n) &&
                          cuda::exchange_points(n) * cuda::point_bytes <= shared_bytes_;
        GpuPath path{fits ? GpuKernels::full_range_on_chip : GpuKernels::full_range_in_passes};
        path.in_halves = fits && allows_halves() && cuda::fits_halves(spec_.format);
        return path;
    }

    GpuKernels compressive_kernels() const {
        const bool exact = spec_.compressive.transform == SensingTransform::exact;
        return exact ? GpuKernels::compressive_by_matrix : GpuKernels::compressive_in_passes;
    }

    // The kernel's real grid is twice as fine as its complex one, also for real tables on the k grid itself.
    GpuPath compressive_path() const {
        const SensingTables tables = sensing_tables(spec_);
        const std::int64_t modes = tables.modes, sensed = std::ssize(tables.samples);
        const std::int64_t grid = tables.grid * (tables.on_k_grid && tables.real ? 2 : 1);
        const bool fits = grid == (tables.real ? 4 : 2) * modes && (modes == 512 || modes == 1024 || modes == 2048) &&
                          cuda::sparse_search_bytes(modes, sensed) <= shared_bytes_;
        return {fits ? GpuKernels::compressive_on_chip : compressive_kernels()};
    }

    const ReconstructionSpec& spec_;
    const Recipe& recipe_;
    std::int64_t shared_bytes_;
    Lengths lengths_;
    Resample resample_;
    bool is_rolling_;
    LineWords words_;  // of lines at multiples of four bytes
};

}  // namespace

GpuPath choose_path(const ReconstructionSpec& spec, std::int64_t shared_bytes, bool fused) {
    const Choice choice(spec, shared_bytes);
    return fused ? choice.with_fused() : choice.without_fused();
}

const char* name_of(const GpuPath& path) {
    switch (path.kernels) {
        case GpuKernels::fused:
            if (path.in_halves) return "fused, half precision";
            return path.to_voxels ? "fused" : "fused to bins";
        case GpuKernels::two_passes: return "two passes";
        case GpuKernels::separate_passes:
            return path.grid_on_chip ? "separate passes, up-sampled on chip" : "separate passes";
        case GpuKernels::nufft_on_chip: return path.in_halves ? "nufft on chip, half precision" : "nufft on chip";
        case GpuKernels::nufft_in_passes: return "nufft in passes";
        case GpuKernels::matrix_product: return "matrix product";
        case GpuKernels::full_range_on_chip:
            return path.in_halves ? "full range on chip, half precision" : "full range on chip";
        case GpuKernels::full_range_in_passes: return "full range in passes";
        case GpuKernels::compressive_on_chip: return "compressive on chip";
        case GpuKernels::compressive_by_matrix: return "compressive by matrix products";
        case GpuKernels::compressive_in_passes: return "compressive in passes";
    }
    return "";
}

bool has_doppler_kernel(const ReconstructionSpec& spec) {
    if (spec.flow.method != FlowMethod::doppler) return false;
    const FlowTables tables = flow_tables(spec, 1, {0, 1});
    const Repeats& repeats = tables.repeats;
    const bool neighbours =
        repeats.count == 2 && repeats.step == 1 && repeats.series == 1 && repeats.position_step == 1;
    return neighbours && spec.geometry.fast_axis == FastAxis::uniform && !tables.removes_bulk && !tables.unwraps &&
           tables.window_positions <= cuda::max_doppler_lines && tables.window_depth <= cuda::max_doppler_depths;
}

}  // namespace echolux
