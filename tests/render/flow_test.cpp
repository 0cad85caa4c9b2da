// Flow over structure: exact colours at known speeds in each mode, and phase wrapping.
#include <cmath>
#include <complex>
#include <numbers>

#include "render/view/curve.h"
#include "rendering.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

constexpr std::int64_t edge = 32;

class Flowing : public SharedRendering {
  protected:
    void SetUp() override {
        grid_ = db_grid(edge, edge, edge);
        set_structure([](auto...) { return 0.0; });
        view_ = voxel_view(grid_, edge, edge);
        set(view_, "background=0,0,0 low=3 high=40 flow_threshold=2 flow_range=10");
    }

    void set_structure(const ValueAt& value) { renderer().set_volume(grid_, voxels(grid_, value).data()); }

    void set_flow(const ValueAt& velocity) {
        VolumeGrid flow = grid_;
        flow.unit = "mm/s";
        flow.quantity = "velocity";
        renderer().set_flow(flow, voxels(flow, velocity).data());
    }

    // Sets phasors of length 1 with this phase.
    void set_phasor(const ValueAt& phase) {
        VolumeGrid flow = grid_;
        flow.type = VoxelType::complex64;
        std::vector<std::complex<float>> phasors;
        for (std::int64_t b = 0; b < edge; ++b) {
            for (std::int64_t a = 0; a < edge; ++a) {
                for (std::int64_t z = 0; z < edge; ++z) {
                    phasors.push_back(std::polar(1.0F, static_cast<float>(phase(z, a, b))));
                }
            }
        }
        renderer().set_flow(flow, phasors.data());
    }

    void expect_pixel(const Image& image, std::int64_t x, const glm::dvec3& colour, double tolerance) {
        const std::array<int, 4> found = pixel_at(image, x, edge / 2);
        for (int channel = 0; channel < 3; ++channel) {
            EXPECT_NEAR(found[index(channel)], 255 * colour[channel], tolerance)
                << "A-scan " << x << ", mode " << static_cast<int>(view_.mode);
        }
    }

    glm::dvec3 flow_colour(double velocity) const {
        return colour_at(flow_map(), 0.5 + 0.5 * velocity / view_.flow_range);
    }

    VolumeGrid grid_;
    View view_;
};

// -16 .. 15 from left to right.
double across(std::int64_t, std::int64_t a, std::int64_t) {
    return static_cast<double>(a - edge / 2);
}

// Velocities with their sign in a section, also of phasors; noise has none.
TEST_F(Flowing, ProbeKnowsVelocity) {
    set_structure([](auto...) { return 20.0; });
    set(view_, "show=slice flow_v_max=8");
    const auto probe = [&](std::int64_t x) { return renderer().probe(view_, x, edge / 2); };
    EXPECT_FALSE(probe(8)->velocity.has_value());
    set_flow([](std::int64_t, std::int64_t a, std::int64_t) { return a < edge / 2 ? -3.0 : 6.0; });
    EXPECT_NEAR(probe(8)->velocity.value(), -3, 1e-5);
    EXPECT_NEAR(probe(24)->velocity.value(), 6, 1e-5);
    EXPECT_EQ(probe(24)->velocity_unit, "mm/s");
    set_phasor([](std::int64_t, std::int64_t a, std::int64_t) { return a < edge / 2 ? -0.5 : 1.0; });
    EXPECT_NEAR(probe(8)->velocity.value(), -0.5 / std::numbers::pi * 8, 0.01);
    EXPECT_NEAR(probe(24)->velocity.value(), 1.0 / std::numbers::pi * 8, 0.01);
    EXPECT_EQ(probe(24)->velocity_unit, "mm/s");
    view_.flow_shown = FlowDisplay::hidden;
    EXPECT_FALSE(probe(24)->velocity.has_value());
}

// With an empty structure, only flow is visible: in the colour of its speed, if it is fast enough.
TEST_F(Flowing, SlowHasExactColoursInEmptyStructureInEveryMode) {
    set_flow(across);
    for (const ViewMode mode : all_modes) {
        view_.mode = mode;
        const Image image = renderer().render(view_);
        for (const int velocity : {-12, -8, -5, 4, 7, 10}) {
            expect_pixel(image, velocity + edge / 2, flow_colour(velocity), 2);
        }
        const bool shows_empty = mode == ViewMode::composite || mode == ViewMode::mip || mode == ViewMode::isosurface;
        for (const int velocity : {-2, -1, 0, 1, 2}) {
            if (shows_empty) expect_pixel(image, velocity + edge / 2, {0, 0, 0}, 0);
        }
    }
}

// A single voxel with a million times the speed does not darken all others.
TEST_F(Flowing, AutomaticRangeIsRoundAndCoversNearlyAllFlow) {
    set_flow([](std::int64_t z, std::int64_t a, std::int64_t b) {
        return z == 30 && a == 31 && b == 31 ? 1e6 : across(z, a, b);
    });
    view_.flow_range = 0;
    const Image open = renderer().render(view_);
    EXPECT_EQ(renderer().flow_scale(view_)->range, 20);
    view_.flow_range = 20;
    EXPECT_EQ(open.pixels, renderer().render(view_).pixels);
}

// A wide range makes flow dark, but not invisible.
TEST_F(Flowing, AutomaticThresholdIgnoresRange) {
    set_flow(across);
    set(view_, "flow_threshold=-1 flow_range=0");
    EXPECT_EQ(renderer().flow_scale(view_)->threshold, 2);
    view_.flow_range = 1000;
    EXPECT_EQ(renderer().flow_scale(view_)->threshold, 2);
    expect_pixel(renderer().render(view_), edge / 2 + 8, colour_at(flow_map(), 0.5 + 0.5 * 8 / 1000), 3);
    view_.flow_range = 5;
    EXPECT_EQ(renderer().flow_scale(view_)->threshold, 0.5);
}

TEST_F(Flowing, ZeroUnknownOrHiddenFlowChangesNoPixel) {
    set_structure(ball(grid_, 14));
    const Image without = renderer().render(view_);
    const auto expect_invisible = [&](const ValueAt& velocity) {
        set_flow(velocity);
        EXPECT_EQ(without.pixels, renderer().render(view_).pixels);
    };
    expect_invisible([](auto...) { return 0.0; });
    expect_invisible([](std::int64_t z, std::int64_t, std::int64_t) { return z % 2 == 0 ? NAN : -INFINITY; });
    VolumeGrid zeros = grid_;
    zeros.type = VoxelType::complex64;
    renderer().set_flow(zeros, std::vector<std::complex<float>>(index(grid_.voxels())).data());
    EXPECT_EQ(without.pixels, renderer().render(view_).pixels);
    set_flow(across);
    EXPECT_NE(without.pixels, renderer().render(view_).pixels);
    view_.flow_opacity = 0;
    EXPECT_EQ(without.pixels, renderer().render(view_).pixels);
    set(view_, "flow_opacity=1 flow_shown=hidden");
    EXPECT_EQ(without.pixels, renderer().render(view_).pixels);
    view_.flow_shown = FlowDisplay::overlay;
    renderer().clear_flow();
    EXPECT_EQ(without.pixels, renderer().render(view_).pixels);
}

// The phase changes from 0.8 pi across the wrap at pi to -0.8 pi. It is never close to zero, although interpolated
// angles would be. All displayed speeds are above 0.2 v_max.
TEST_F(Flowing, WrappedPhaseShowsNoSlowSeam) {
    view_.width = view_.height = 16 * edge;  // also between voxels
    set(view_, "flow_v_max=10 flow_range=10");
    set_phasor([](std::int64_t, std::int64_t a, std::int64_t) {
        const double turned = std::numbers::pi * (0.8 + 0.4 * static_cast<double>(a) / (edge - 1));
        return std::remainder(turned, 2 * std::numbers::pi);
    });
    for (const ViewMode mode : {ViewMode::composite, ViewMode::mip, ViewMode::isosurface}) {
        view_.mode = mode;
        view_.flow_threshold = 2;  // 0.2 v_max: lower speeds would show the background
        const Image image = renderer().render(view_);
        const glm::dvec3 fast = flow_colour(7.9);
        const glm::dvec3 opposite = flow_colour(-7.9);
        for (std::int64_t x = edge / 2; x < image.width - edge / 2; ++x) {
            const std::array<int, 4> found = pixel_at(image, x, image.height / 2);
            // As bright as one of the two ends, and never dark like the middle of the map or the background.
            const double brightest = std::max({found[0], found[1], found[2]});
            const auto most = [](const glm::dvec3& c) { return 255 * std::max({c.r, c.g, c.b}); };
            ASSERT_GE(brightest, std::min(most(fast), most(opposite)) - 12) << x << " mode " << static_cast<int>(mode);
        }
    }
}

TEST_F(Flowing, RejectsOtherSizesAndQuantities) {
    const VolumeGrid other = db_grid(edge, edge, edge - 1), structure = db_grid(edge, edge, edge);
    EXPECT_THROW(renderer().set_flow(other, voxels(other, across).data()), Error);
    EXPECT_THROW(renderer().set_flow(structure, voxels(structure, across).data()), Error);
    VolumeGrid foreign = structure;
    foreign.quantity = foreign.unit = "";
    EXPECT_NO_THROW(renderer().set_flow(foreign, voxels(foreign, across).data()));
    view_.flow_colour_map = "no such map";
    EXPECT_THROW(renderer().render(view_), Error);
}

}  // namespace
}  // namespace echolux::test
