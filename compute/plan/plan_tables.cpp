#include "compute/plan/plan_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include "compute/counted.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/missing_block.h"

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
    require(block.data != nullptr || is_missing(block), [] { return std::string("has no address"); });
    require(block.b_scans >= 1 && block.b_scans <= spec.block_b_scans, [&] {
        return fmt::format("has {}, 1 to {} are expected", counted(block.b_scans, "B-scans"), spec.block_b_scans);
    });
    require(block.volume >= 0 && block.first_b_scan >= 0 && block.b_scans <= geometry.b_scans - block.first_b_scan,
            [&] {
                return fmt::format("has {} from {} on of volume {}: a volume has {}", counted(block.b_scans, "B-scans"),
                                   block.first_b_scan, block.volume, geometry.b_scans);
            });
    if (is_missing(block)) return;
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

namespace {

// Returns the beam position at each recorded line.
std::vector<double> beam_positions(const ScanGeometry& geometry, const Calibration& calibration) {
    if (geometry.fast_axis == FastAxis::file) return calibration.fast_axis;
    std::vector<double> positions = counted(geometry.a_scans);
    const auto last = static_cast<double>(geometry.a_scans - 1);
    const double end = std::numbers::pi / 2 * geometry.sinusoidal_part;
    for (double& position : positions) position = std::sin(end * (2 * position / last - 1));
    return positions;
}

}  // namespace

std::vector<LineMix> line_mixes(const ScanGeometry& geometry, const Calibration& calibration) {
    if (geometry.fast_axis == FastAxis::uniform) return {};
    const std::vector<double> beam = beam_positions(geometry, calibration);
    const double step = (beam.back() - beam.front()) / static_cast<double>(geometry.a_scans - 1);
    const auto along = [&](std::int64_t line) { return (beam[index(line)] - beam.front()) / step; };
    std::vector<LineMix> mixes;
    std::int64_t first = 0;
    for (std::int64_t a = 0; a < geometry.a_scans; ++a) {
        const auto wanted = static_cast<double>(a);
        while (first + 2 < geometry.a_scans && along(first + 1) <= wanted) ++first;
        const double next = (wanted - along(first)) / (along(first + 1) - along(first));
        mixes.push_back({static_cast<std::int32_t>(first), static_cast<float>(std::min(1.0, std::max(0.0, next)))});
    }
    return mixes;
}

}  // namespace echolux
