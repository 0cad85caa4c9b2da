#include "compute/plan/plan_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "compute/counted.h"
#include "compute/error.h"

namespace echolux {

PlainTables plain_tables(const ReconstructionSpec& spec) {
    const KGrid grid = k_grid(spec.calibration, spec.geometry.samples);
    PlainTables tables;
    tables.lengths = lengths_of(spec.geometry, spec.recipe);
    tables.resample =
        resample_table(chosen_resample(spec.recipe, spec.calibration), grid, spec.calibration, tables.lengths);
    tables.weight = spectral_weight(spec.recipe, spec.calibration, grid);
    for (const std::complex<float>& value : tables.weight.values) tables.real_weight.push_back(value.real());
    tables.upsample = spec.recipe.upsample;
    const bool rolling = chosen_background(spec.recipe, spec.calibration) == Background::rolling;
    tables.rolling_width = rolling ? spec.recipe.rolling_width : 0;
    return tables;
}

VoxelTables voxel_tables(const ReconstructionSpec& spec, double weight_sum, DepthRange kept) {
    VoxelTables tables;
    tables.depth = kept.end - kept.begin;
    tables.scale = static_cast<float>(1 / weight_sum);
    if (spec.recipe.noise_floor != NoiseFloor::none) {
        const auto& floor = spec.calibration.noise_floor;
        std::transform(floor.begin() + kept.begin, floor.begin() + kept.end, std::back_inserter(tables.noise_floor),
                       [](double value) { return static_cast<float>(value); });
    }
    if (spec.recipe.levels == Levels::noise_floor) tables.reference_db = spec.recipe.noise_floor_db;
    tables.recipe = spec.recipe;
    tables.depth_flip = spec.geometry.depth_flip;
    return tables;
}

BlockShape block_shape(const ReconstructionSpec& spec, const VolumeGrid& grid) {
    BlockShape shape;
    shape.frame_lines = spec.geometry.lines_per_b_scan();
    shape.frames = spec.block_b_scans * spec.geometry.b_repeats;
    shape.outputs_per_b_scan = grid.a_scans * slices_per_b_scan(grid, spec.geometry);
    if (spec.recipe.average != Average::none) shape.joined = spec.geometry.a_repeats * spec.geometry.b_repeats;
    return shape;
}

// Messages are built only on failure.
void check_block(const Block& block, const ReconstructionSpec& spec) {
    const auto require = [](bool holds, const auto& problem) {
        if (!holds) throw Error(ErrorCode::bad_setting, problem(), "block");
    };
    const ScanGeometry& geometry = spec.geometry;
    require(block.data != nullptr, [] { return std::string("has no address"); });
    require(block.b_scans >= 1 && block.b_scans <= spec.block_b_scans, [&] {
        return fmt::format("has {}, 1 to {} are expected", counted(block.b_scans, "B-scans"), spec.block_b_scans);
    });
    require(block.volume >= 0 && block.first_b_scan >= 0 && block.b_scans <= geometry.b_scans - block.first_b_scan,
            [&] {
                return fmt::format("has {} from {} on of volume {}: a volume has {}", counted(block.b_scans, "B-scans"),
                                   block.first_b_scan, block.volume, geometry.b_scans);
            });
    const std::int64_t frame_bytes = geometry.lines_per_b_scan() * line_bytes(spec.format, geometry);
    const std::int64_t stride = block.frames.stride_bytes;
    require(block.frames.offset_bytes >= 0 && (stride == 0 || stride >= frame_bytes), [&] {
        return fmt::format("has B-scans of {} that begin {} apart, behind headers of {}", counted(frame_bytes, "bytes"),
                           counted(stride, "bytes"), counted(block.frames.offset_bytes, "bytes"));
    });
    const std::int64_t last = block.b_scans * geometry.b_repeats - 1;
    const std::int64_t end = frame_offset(block.frames, last, frame_bytes) + frame_bytes;
    require(block.bytes >= end, [&] {
        return fmt::format("has {}, its {} take {}", counted(block.bytes, "bytes"), counted(block.b_scans, "B-scans"),
                           end);
    });
}

}  // namespace echolux
