#include "compute/calibrate/probe.h"

namespace echolux {

Probe probed(const ReconstructionPlan& given, const Recipe& recipe, const Block& block) {
    ReconstructionPlan plan = given;
    plan.recipe = recipe;
    plan.flow = {};
    plan.recipe.depth_begin = 0;
    plan.recipe.depth_end = 0;
    plan.geometry.depth_flip = false;
    plan.geometry.b_scans = block.b_scans;
    plan.block_b_scans = block.b_scans;
    Block first = block;
    first.first_b_scan = 0;

    const auto reconstructor = plan_on_cpu(plan);
    Probe probe{reconstructor->grid(), {}};
    probe.voxels.resize(static_cast<std::size_t>(probe.grid.bytes()));
    const std::int64_t line_bytes = probe.grid.depth * bytes_of(probe.grid.type);
    reconstructor->wait(reconstructor->submit(
        first, Place{PlaceKind::host_linear, probe.voxels.data(), 0, line_bytes, probe.grid.a_scans * line_bytes}));
    return probe;
}

std::int64_t first_row_past_zero_delay(std::int64_t depth) {
    constexpr double share = 0.05;
    return static_cast<std::int64_t>(share * static_cast<double>(depth)) + 1;
}

}  // namespace echolux
