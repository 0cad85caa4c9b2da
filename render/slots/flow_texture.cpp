#include "render/slots/flow_texture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "compute/error.h"
#include "render/slots/upload.h"

namespace echolux {
namespace {

bool has_reals(VoxelType type) {
    return type == VoxelType::f32 || type == VoxelType::complex64;
}

// The voxels, or a copy of them without what is not finite.
class Finite {
  public:
    Finite(const VolumeGrid& grid, const void* voxels) : voxels_(voxels) {
        if (!has_reals(grid.type)) return;
        const auto* reals = static_cast<const float*>(voxels);
        const auto count = static_cast<std::size_t>(grid.bytes()) / sizeof(float);
        if (std::all_of(reals, reals + count, [](float real) { return std::isfinite(real); })) return;
        const auto none = static_cast<float>(grid.type == VoxelType::f32 ? -grid.offset / grid.scale : 0);
        copy_.assign(reals, reals + count);
        std::ranges::replace_if(
            copy_, [](float real) { return !std::isfinite(real); }, none);
        voxels_ = copy_.data();
    }
    const void* voxels() const { return voxels_; }

  private:
    const void* voxels_;
    std::vector<float> copy_;
};

double largest_speed(const VolumeGrid& grid, const void* voxels) {
    double largest = 0;
    for (std::int64_t i = 0; i < grid.voxels(); ++i) {
        const double speed = std::abs(code_at(grid.type, voxels, i) * grid.scale + grid.offset);
        if (std::isfinite(speed)) largest = std::max(largest, speed);
    }
    return largest > 0 ? largest : 1;
}

}  // namespace

void check_flow(const VolumeGrid& flow, const VolumeGrid& structure) {
    const bool may_be_flow = flow.type == VoxelType::complex64 || flow.quantity.empty() || flow.quantity == "velocity";
    if (!may_be_flow) {
        throw Error(ErrorCode::bad_setting, fmt::format("voxels of the quantity {} are no velocities", flow.quantity),
                    "flow", "give a volume of velocities or phasors");
    }
    if (flow.depth == structure.depth && flow.a_scans == structure.a_scans && flow.b_scans == structure.b_scans) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("{} x {} x {} voxels of flow do not fit {} x {} x {} of the structure", flow.depth,
                            flow.a_scans, flow.b_scans, structure.depth, structure.a_scans, structure.b_scans),
                "flow", "reconstruct both from the same scan, with the same depth range");
}

VolumeTexture flow_texture(const gpu::Device& device, gpu::Queue& queue, BrickBuilder& builder, const VolumeGrid& grid,
                           const void* voxels) {
    VolumeTexture texture(device, grid, {});
    const Finite finite(grid, voxels);
    if (grid.type != VoxelType::complex64) {
        const double largest = largest_speed(grid, finite.voxels());
        texture.set_range({-largest, largest}, {-largest, largest});
    }
    upload(device, queue, builder, texture, *voxels_in_memory(grid, finite.voxels()));
    return texture;
}

}  // namespace echolux
