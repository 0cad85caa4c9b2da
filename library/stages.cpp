// Adapts the caller's callbacks to stages of the pipeline.
#include "compute/reconstructor.h"

#include <array>

#include "library/call.h"
#include "library/convert.h"

namespace echolux::library {
namespace {

void call(echolux_stage stage, void* user, const echolux_staged& staged, const char* name) {
    if (stage(user, &staged) != 0) throw Error(ErrorCode::cancelled, "was ended by a stage", name);
}

echolux_staged staged_values(int stage, void* values, const std::array<std::int64_t, 5>& shape,
                             const std::array<std::int64_t, 5>& stride_bytes) {
    echolux_staged staged{};
    staged.size = sizeof staged;
    staged.stage = stage;
    staged.values = values;
    std::ranges::copy(shape, staged.shape);
    std::ranges::copy(stride_bytes, staged.stride_bytes);
    staged.scale = 1;
    return staged;
}

// Describes all lines of a block, each with `each` contiguous values of `bytes` bytes.
echolux_staged of_lines(int stage, void* values, const StagedLines& lines, const ScanGeometry& geometry,
                        std::int64_t each, std::int64_t bytes) {
    const std::int64_t line = each * bytes, position = geometry.a_repeats * line, frame = geometry.a_scans * position;
    echolux_staged staged =
        staged_values(stage, values, {lines.b_scans, geometry.b_repeats, geometry.a_scans, geometry.a_repeats, each},
                      {geometry.b_repeats * frame, frame, position, line, bytes});
    staged.volume = lines.volume;
    staged.first_b_scan = lines.first_b_scan;
    return staged;
}

echolux_staged of_voxels(const StagedVoxels& made, const VolumeGrid& grid) {
    echolux_staged staged = staged_values(
        ECHOLUX_STAGE_VOXELS, made.voxels, {made.b_scans, 1, grid.a_scans, 1, grid.depth},
        {made.b_scan_bytes, made.b_scan_bytes, made.a_scan_bytes, made.a_scan_bytes, bytes_of(grid.type)});
    staged.voxel = static_cast<std::int32_t>(grid.type);
    staged.volume = made.volume;
    staged.first_b_scan = made.first_b_scan;
    // Voxels have no repeats: those dimensions are 1 and their strides those of the next outer dimension.
    staged.scale = grid.scale;
    staged.offset = grid.offset;
    return staged;
}

}  // namespace

std::shared_ptr<CallersStages> stages_of(const echolux_stages* stages, const ScanGeometry& geometry) {
    const echolux_stages wanted = taken_or_default(stages, "stages");
    if (wanted.spectra == nullptr && wanted.bins == nullptr && wanted.voxels == nullptr) return nullptr;
    auto all = std::make_shared<CallersStages>();
    all->wanted = wanted;
    if (wanted.spectra != nullptr) {
        all->spectra = [wanted, geometry](const StagedSpectra& made) {
            echolux_staged staged =
                of_lines(ECHOLUX_STAGE_SPECTRA, made.counts, made.lines, geometry, geometry.samples, sizeof(float));
            staged.voxel = ECHOLUX_F32;
            call(wanted.spectra, wanted.user, staged, "spectra");
        };
    }
    if (wanted.bins != nullptr) {
        all->bins = [wanted, geometry](const StagedBins& made) {
            echolux_staged staged =
                of_lines(ECHOLUX_STAGE_BINS, made.bins, made.lines, geometry, made.depth, 2 * sizeof(float));
            staged.voxel = ECHOLUX_COMPLEX64;
            staged.scale = made.scale;
            call(wanted.bins, wanted.user, staged, "bins");
        };
    }
    if (wanted.voxels != nullptr) {
        all->voxels = [wanted](const StagedVoxels& made, const VolumeGrid& grid) {
            call(wanted.voxels, wanted.user, of_voxels(made, grid), "voxels");
        };
    }
    return all;
}

std::string names_of(const Stages& stages) {
    std::string names;
    const auto add = [&names](bool is_there, const char* name) {
        if (is_there) names += (names.empty() ? "" : ", ") + std::string(name);
    };
    add(static_cast<bool>(stages.spectra), "spectra");
    add(static_cast<bool>(stages.bins), "bins");
    add(static_cast<bool>(stages.voxels), "voxels");
    return names;
}

}  // namespace echolux::library

using namespace echolux;
using namespace echolux::library;

echolux_status echolux_scan_set_stages(echolux_scan* scan, const echolux_stages* stages, echolux_error* error) {
    return guarded(error, [&] {
        echolux_scan& handle = live_handle(scan, "scan");
        const std::shared_ptr<CallersStages> taken = stages_of(stages, handle.scan.geometry);
        if (taken) taken->are_kept = true;
        handle.stages = taken;
    });
}
