#include "render/slots/flow_texture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <string_view>
#include <vector>

#include "compute/error.h"
#include "render/slots/upload.h"

namespace echolux {
namespace {

// The voxels, or a copy of them without what is not finite.
class Finite {
  public:
    Finite(const VolumeGrid& grid, const void* voxels) : voxels_(voxels) {
        const auto nothing = static_cast<float>(-grid.offset / grid.scale);
        const auto is_finite = [](float real) { return std::isfinite(real); };
        const auto is_half_finite = [](std::uint16_t half) { return (half & 0x7C00) != 0x7C00; };
        if (grid.type == VoxelType::f32) mend(grid.voxels(), nothing, is_finite);
        if (grid.type == VoxelType::complex64) mend(2 * grid.voxels(), 0.0F, is_finite);
        if (grid.type == VoxelType::f16) mend(grid.voxels(), std::uint16_t{0}, is_half_finite);
    }
    const void* voxels() const { return voxels_; }

  private:
    template <class Code, class IsFinite>
    void mend(std::int64_t count, Code nothing, const IsFinite& is_finite) {
        const std::span codes(static_cast<const Code*>(voxels_), static_cast<std::size_t>(count));
        if (std::ranges::all_of(codes, is_finite)) return;
        copy_.resize(codes.size_bytes());
        auto* target = reinterpret_cast<Code*>(copy_.data());
        std::ranges::transform(codes, target, [&](Code code) { return is_finite(code) ? code : nothing; });
        voxels_ = copy_.data();
    }

    const void* voxels_;
    std::vector<std::byte> copy_;
};

// Velocities have a sign, angiograms have none.
ValueRange range_to(const VolumeGrid& grid, double largest) {
    const bool is_velocity = grid.quantity.empty() || grid.quantity == "velocity" || grid.quantity == "doppler";
    return {is_velocity ? -largest : 0, largest};
}

double largest_speed(const VolumeGrid& grid, const void* voxels) {
    double largest = 0;
    for (std::int64_t i = 0; i < grid.voxels(); ++i) {
        const double speed = std::abs(code_at(grid.type, voxels, i) * grid.scale + grid.offset);
        if (std::isfinite(speed)) largest = std::max(largest, speed);
    }
    return largest > 0 ? largest : 1;
}

}  // namespace

ValueRange expected_flow(const VolumeGrid& grid) {
    constexpr double strong_db = 30, strong_noise = 10;  // of what stands out clearly
    constexpr double random_phase = std::numbers::pi * std::numbers::pi / 3;
    if (grid.v_max > 0) return range_to(grid, grid.v_max);
    if (grid.unit.starts_with("dB")) return range_to(grid, strong_db);
    if (grid.unit.starts_with("noise")) return range_to(grid, strong_noise);
    return range_to(grid, grid.unit == "rad^2" ? random_phase : 1);
}

void check_flow(const VolumeGrid& flow, const VolumeGrid& structure) {
    constexpr std::array<std::string_view, 4> structures{"db", "amplitude", "intensity", "phase"};
    if (!is_phasor(flow) && std::ranges::find(structures, flow.quantity) != structures.end()) {
        throw Error(ErrorCode::bad_setting, fmt::format("voxels of the quantity {} are not flow", flow.quantity),
                    "flow", "give a volume of velocities, phasors or an angiogram");
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
    if (!is_phasor(grid)) {
        const ValueRange range = range_to(grid, largest_speed(grid, finite.voxels()));
        texture.set_range(range, range);
    }
    upload(device, queue, builder, texture, *voxels_in_memory(grid, finite.voxels()));
    return texture;
}

}  // namespace echolux
