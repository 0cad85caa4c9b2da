// Shared by rendering tests: a renderer under the validation layer, each message of which fails the test, and volumes
// computed from a function of the position.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>

#include "render/renderer.h"

namespace echolux::test {

// The modes of the ray caster: all but traced light.
inline constexpr auto all_modes = [] {
    std::array<ViewMode, view_modes.size() - 1> modes{};
    std::size_t count = 0;
    for (const ViewModeText& mode : view_modes) {
        if (mode.ray != RayKind::light) modes.at(count++) = mode.mode;
    }
    return modes;
}();

class Rendering : public testing::Test {
  protected:
    void SetUp() override;
    void TearDown() override;

    Renderer& renderer() { return *renderer_; }

    // Creates another renderer, whose messages also fail the test.
    std::unique_ptr<Renderer> renderer_with(const VolumeLimits& limits);

  private:
    std::vector<std::string> messages_;
    std::unique_ptr<Renderer> renderer_;
};

VolumeGrid db_grid(std::int64_t depth, std::int64_t a_scans, std::int64_t b_scans, VoxelType type = VoxelType::f32);

// Returns voxels of `grid.type` (f32, u16 or u8) from values at (depth, A-scan, B-scan) indices.
using ValueAt = std::function<double(std::int64_t depth, std::int64_t a_scan, std::int64_t b_scan)>;
std::vector<std::byte> voxels(const VolumeGrid& grid, const ValueAt& value);

// Returns 40 at the centre, falling linearly to 0 at `radius` voxels.
ValueAt ball(const VolumeGrid& grid, double radius);

// Returns the same pseudo-random number in [0, 1) for the same arguments on any machine.
double noise(std::int64_t x, std::int64_t y, std::int64_t z);

// Orthographic, no box, no light: pixels as large as voxels of edge 1 for a volume of `grid`, whose spacing is 1.
View voxel_view(const VolumeGrid& grid, std::int64_t width, std::int64_t height);

// Returns the result of `ask` for slots of a live ring with the next signal value. `read` counts the signals that were
// submitted.
template <class Ask>
auto with_next_signal(DisplayedSlots shown, std::uint64_t& read, const Ask& ask) {
    bool submitted = false;
    shown.signal = read + 1;
    shown.submitted = &submitted;
    auto answer = ask(shown);
    if (submitted) ++read;
    return answer;
}

}  // namespace echolux::test
