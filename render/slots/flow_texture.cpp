#include "render/slots/flow_texture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "compute/error.h"
#include "render/slots/upload.h"

namespace echolux {
namespace {

// The caller's voxels, or a copy with zero flow for voxels that are not finite if there are any.
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

std::complex<double> phasor_at(const VolumeGrid& grid, const void* voxels, std::int64_t at) {
    if (grid.type == VoxelType::complex64) {
        std::complex<float> phasor;
        std::memcpy(&phasor, static_cast<const std::byte*>(voxels) + at * bytes_of(grid.type), sizeof phasor);
        return {phasor.real(), phasor.imag()};
    }
    const auto* parts = static_cast<const std::int8_t*>(voxels) + 2 * at;
    return {parts[0] / 127.0, parts[1] / 127.0};
}

// Returns the absolute speed of a voxel, in radians for phasors. Empty for zero flow and for phasors of low confidence.
std::optional<double> speed_of(const VolumeGrid& grid, const void* voxels, std::int64_t at) {
    // Smallest magnitude of a phasor whose phase is reliable.
    constexpr double sure_phasor = 0.5;
    if (is_phasor(grid)) {
        const std::complex<double> phasor = phasor_at(grid, voxels, at);
        if (!(std::abs(phasor) >= sure_phasor)) return {};
        return std::abs(std::arg(phasor));
    }
    const double speed = std::abs(code_at(grid.type, voxels, at) * grid.scale + grid.offset);
    if (!std::isfinite(speed) || speed == 0) return {};
    return speed;
}

// Share of the flow below the usual speed. The rest is noise and outliers, which must not set the colours.
constexpr double usual_share = 0.995;

// Returns the usual speed of at most a million evenly spaced voxels.
double usual_speed(const VolumeGrid& grid, const void* voxels) {
    constexpr std::int64_t most = 1 << 20;
    std::int64_t stride = std::max<std::int64_t>(1, grid.voxels() / most);
    // A stride coprime to the depth samples all depths.
    while (std::gcd(stride, grid.depth) != 1) ++stride;
    std::vector<double> speeds;
    for (std::int64_t i = 0; i < grid.voxels(); i += stride) {
        if (const auto speed = speed_of(grid, voxels, i)) speeds.push_back(*speed);
    }
    if (speeds.empty()) return 1;
    const auto usual =
        speeds.begin() + static_cast<std::ptrdiff_t>(usual_share * static_cast<double>(speeds.size() - 1));
    std::ranges::nth_element(speeds, usual);
    return *usual > 0 ? *usual : 1;
}

}  // namespace

std::optional<double> usual_speed(const Histogram& histogram) {
    double all = 0, below = 0;
    for (const std::uint32_t count : histogram.counts) all += count;
    if (all == 0) return {};
    std::size_t bin = 0;
    while (bin + 1 < histogram.counts.size() && below + histogram.counts[bin] < usual_share * all) {
        below += histogram.counts[bin++];
    }
    const double width = (histogram.high - histogram.low) / static_cast<double>(histogram.counts.size());
    return histogram.low + width * static_cast<double>(bin + 1);
}

double round_speed(double speed) {
    const double decade = std::pow(10.0, std::floor(std::log10(speed) + 1e-9));
    for (const double digits : {1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0}) {
        if (digits * decade >= speed * (1 - 1e-9)) return digits * decade;
    }
    return 10 * decade;
}

// Velocities have a sign, angiograms do not.
ValueRange flow_range_to(const VolumeGrid& grid, double speed) {
    const bool is_velocity = grid.quantity.empty() || grid.quantity == "velocity" || grid.quantity == "doppler";
    return {is_velocity ? -speed : 0, speed};
}

ValueRange expected_flow(const VolumeGrid& grid) {
    constexpr double strong_db = 30, strong_noise = 10;  // values of a strong signal
    // Variance of a phase that is uniform in [-pi, pi).
    constexpr double random_phase = std::numbers::pi * std::numbers::pi / 3;
    if (is_phasor(grid)) return flow_range_to(grid, std::numbers::pi);
    if (grid.v_max > 0) return flow_range_to(grid, grid.v_max);
    if (grid.unit.starts_with("dB")) return flow_range_to(grid, strong_db);
    if (grid.unit.starts_with("noise")) return flow_range_to(grid, strong_noise);
    return flow_range_to(grid, grid.unit == "rad^2" ? random_phase : 1);
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
    const ValueRange range = flow_range_to(grid, usual_speed(grid, finite.voxels()));
    texture.set_range(range, range);
    upload(device, queue, builder, texture, *voxels_in_memory(grid, finite.voxels()));
    return texture;
}

}  // namespace echolux
