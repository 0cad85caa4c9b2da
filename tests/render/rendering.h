// Shared by rendering tests: a renderer under the validation layer, each message of which fails the test, and volumes
// computed from a function of the position.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>

#include "compute/error.h"
#include "compute/indexing.h"
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

// A device under the validation layer (see validation.h), each message of which fails the test.
GpuDevice validated_device(const VolumeLimits& limits = {});
std::unique_ptr<Renderer> renderer_with(const VolumeLimits& limits);

class Rendering : public testing::Test {
  protected:
    void SetUp() override { renderer_ = renderer_with({}); }
    void TearDown() override { renderer_.reset(); }

    Renderer& renderer() { return *renderer_; }

  private:
    std::unique_ptr<Renderer> renderer_;
};

// One renderer for all cases of a suite, since most of their time is the compilation of shaders.
class SharedRendering : public testing::Test {
  protected:
    static void SetUpTestSuite() { renderer_ = renderer_with({}); }
    static void TearDownTestSuite() { renderer_.reset(); }

    static Renderer& renderer() { return *renderer_; }

  private:
    static inline std::unique_ptr<Renderer> renderer_;
};

// The error thrown by `work`; its code is `cancelled` if nothing is thrown.
template <class Work>
Error refusal_of(const Work& work) {
    try {
        work();
    } catch (const Error& error) {
        return error;
    }
    return Error(ErrorCode::cancelled, "no error", "");
}

// Largest difference of a level of two pictures of the same size.
int largest_difference(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b);
inline int largest_difference(const Image& a, const Image& b) {
    return largest_difference(a.pixels, b.pixels);
}

inline View sized_view(std::int64_t width, std::int64_t height) {
    View view;
    view.width = width;
    view.height = height;
    return view;
}

// Renders a picture with 16 bits per channel.
std::vector<std::uint16_t> codes_of_16_bits(Renderer& renderer, const View& view);

// Follows the view of a pane, as a window does, until its picture is final.
PanePicture followed_to_rest(Renderer& renderer, const View& view, double& now_s, std::size_t pane = 0);

// Number of open files of this process.
std::ptrdiff_t open_descriptors();

// Levels of one pixel.
inline std::array<int, 4> pixel_at(const Image& image, std::int64_t x, std::int64_t y) {
    const std::uint8_t* at = image.pixels.data() + 4 * (y * image.width + x);
    return {at[0], at[1], at[2], at[3]};
}

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
