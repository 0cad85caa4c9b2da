// Optimisations that save samples are invisible. Skipping empty bricks changes no bit. Ending rays early and longer
// steps in thin regions change no pixel by more than 1/255, compared with a ray caster that takes every quarter-voxel
// step.
#include <algorithm>
#include <cmath>

#include "rendering.h"

namespace echolux::test {
namespace {

constexpr std::int64_t edge = 56;

// Speckled layers below a wavy surface, with a vessel: empty above, thin at depth, dense in between.
double tissue(std::int64_t z, std::int64_t a, std::int64_t b) {
    const double below = static_cast<double>(z) - 14 - 3 * std::sin(0.15 * static_cast<double>(a));
    const double speckle = 10 * std::log10(1e-3 - std::log(1 - noise(z, a, b)));  // fully developed speckle, dB
    if (below < 0) return 2 + 0.3 * speckle;
    if (std::hypot(static_cast<double>(a) - 24, static_cast<double>(b) - 30) < 6) return 8 + speckle;
    return 34 - 0.5 * below + speckle;
}

struct Case {
    const char* name;
    ViewMode mode;
    const char* preset;
    VoxelType type;
    double max_samples;  // relative to brute force
};

void PrintTo(const Case& c, std::ostream* out) {
    *out << c.name;
}

class Shortcuts : public Rendering, public testing::WithParamInterface<Case> {
  protected:
    void SetUp() override {
        Rendering::SetUp();
        const VolumeGrid grid = db_grid(edge, edge, edge, GetParam().type);
        renderer().set_volume(grid, voxels(grid, tissue).data());
        view_.mode = GetParam().mode;
        view_.preset = GetParam().preset;
        view_.box = false;
        view_.width = 90;
        view_.height = 70;
        view_.adaptive = view_.end_early = view_.skip_empty = false;
    }

    Image brute_force() { return renderer().render(view_); }

    double samples() {
        double sum = 0;
        for (const RayMeasure& ray : renderer().measure(view_)) sum += ray.samples;
        return sum;
    }

    static int largest_difference(const Image& a, const Image& b) {
        int largest = 0;
        for (std::size_t i = 0; i < a.pixels.size(); ++i)
            largest = std::max(largest, std::abs(a.pixels[i] - b.pixels[i]));
        return largest;
    }

    View view_;
};

TEST_P(Shortcuts, SkippingChangesNoBit) {
    for (const double step : {0.25, 1.0, 2.5}) {
        view_.step = step;
        view_.skip_empty = false;
        const Image expected = brute_force();
        view_.skip_empty = true;
        EXPECT_EQ(renderer().render(view_).pixels, expected.pixels) << "step " << step;
    }
}

TEST_P(Shortcuts, TogetherStayWithinOneLevelOfBruteForce) {
    view_.step = 0.25;
    const Image expected = brute_force();
    const double all = samples();
    view_.adaptive = view_.end_early = view_.skip_empty = true;
    EXPECT_LE(largest_difference(renderer().render(view_), expected), 1);
    EXPECT_LT(samples(), GetParam().max_samples * all);
}

INSTANTIATE_TEST_SUITE_P(All, Shortcuts,
                         testing::Values(Case{"tissue", ViewMode::composite, "tissue", VoxelType::f32, 0.8},
                                         Case{"tissue8bit", ViewMode::composite, "tissue", VoxelType::u8, 0.8},
                                         Case{"retina", ViewMode::composite, "retina", VoxelType::u16, 0.8},
                                         Case{"angiogram", ViewMode::composite, "angiogram", VoxelType::f32, 0.8},
                                         Case{"mip", ViewMode::mip, "tissue", VoxelType::u16, 1},
                                         Case{"isosurface", ViewMode::isosurface, "tissue", VoxelType::f32, 0.8}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace echolux::test
