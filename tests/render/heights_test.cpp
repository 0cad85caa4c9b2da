// The part between two heights: en face projections and the peeled volume, compared with sums over columns computed
// here.
#include <algorithm>
#include <cmath>

#include "rendering.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

constexpr std::int64_t depth = 64, a_scans = 40, b_scans = 36;

// Linear in depth: the mean between two heights is the value halfway between them.
double ramp(std::int64_t z, std::int64_t, std::int64_t) {
    return 0.5 * static_cast<double>(z);
}

double top_row(std::int64_t a, std::int64_t b) {
    return 10 + 0.25 * static_cast<double>(a) + 0.125 * static_cast<double>(b);
}

double bottom_row(std::int64_t a, std::int64_t b) {
    return 50 - 0.125 * static_cast<double>(a) - 0.25 * static_cast<double>(b);
}

class Between : public SharedRendering {
  protected:
    void SetUp() override {
        grid_ = db_grid(depth, a_scans, b_scans);
        grid_.spacing_um = {2, 2, 2};
        grid_.first_depth_um = 30;
        renderer().set_volume(grid_, voxels(grid_, ramp).data());
        HeightMaps maps{.a_scans = a_scans, .b_scans = b_scans, .top_um = {}, .bottom_um = {}};
        for (std::int64_t b = 0; b < b_scans; ++b) {
            for (std::int64_t a = 0; a < a_scans; ++a) {
                maps.top_um.push_back(static_cast<float>(30 + 2 * top_row(a, b)));
                maps.bottom_um.push_back(static_cast<float>(30 + 2 * bottom_row(a, b)));
            }
        }
        renderer().set_heights(maps);
        set(view_, "bottom_from=another low=0 high=40 box=false");
        view_.top_from = "a map";
        view_.width = a_scans;
        view_.height = b_scans;
    }

    // Expects `expected(a, b)` for each pixel of the en face view.
    template <class Expected>
    void expect_en_face(const Expected& expected, double tolerance) {
        view_.show = ViewContent::en_face;
        const std::vector<RayMeasure> rays = renderer().measure(view_);
        for (std::int64_t y = 0; y < b_scans; ++y) {
            for (std::int64_t x = 0; x < a_scans; ++x) {
                const auto pixel = index(y * a_scans + x);
                ASSERT_NEAR(rays[pixel].value, expected(x, b_scans - 1 - y), tolerance) << x << " " << y;
            }
        }
    }

    VolumeGrid grid_;
    View view_;
};

TEST_F(Between, EnFaceRaysBeginAndEndAtTiltedHeights) {
    view_.show = ViewContent::en_face;
    const std::vector<RayMeasure> rays = renderer().measure(view_);
    for (std::int64_t y = 0; y < b_scans; ++y) {
        for (std::int64_t x = 0; x < a_scans; ++x) {
            const double path = 2 * (bottom_row(x, b_scans - 1 - y) - top_row(x, b_scans - 1 - y));
            ASSERT_NEAR(rays[index(y * a_scans + x)].path, path, 2e-3) << x << " " << y;
        }
    }
}

// The last of the evenly spaced samples is half a step above the end.
TEST_F(Between, LargestValueIsAboveBottomAndItsOffset) {
    set(view_, "mode=mip step=0.1");
    expect_en_face([](std::int64_t a, std::int64_t b) { return 0.5 * (bottom_row(a, b) - 0.05); }, 5e-3);
    view_.bottom_from = "";
    view_.bottom_um = 30 + 2 * 55;
    expect_en_face([](std::int64_t, std::int64_t) { return 0.5 * (55 - 0.05); }, 5e-3);
    set(view_, "bottom_from=another bottom_um=-8");
    expect_en_face([](std::int64_t a, std::int64_t b) { return 0.5 * (bottom_row(a, b) - 4 - 0.05); }, 5e-3);
}

// Seen from above, each ray hits the surface at the upper height.
TEST_F(Between, CutVolumeFromAnyDirection) {
    view_.mode = ViewMode::isosurface;
    view_.isovalue = 2;  // everything from row 4 on, so rays hit the cut itself
    set(view_, "projection=orthographic azimuth_deg=0 elevation_deg=90");
    view_.zoom = std::hypot(2.0 * depth, 2.0 * a_scans, 2.0 * b_scans) / (2.0 * b_scans);
    const std::vector<RayMeasure> rays = renderer().measure(view_);
    const double eye = std::hypot(2.0 * depth, 2.0 * a_scans, 2.0 * b_scans);  // distance from the centre
    for (std::int64_t y = 2; y < b_scans - 2; ++y) {
        for (std::int64_t x = 2; x < a_scans - 2; ++x) {
            const double surface = 2 * (top_row(x, b_scans - 1 - y) + 0.5) - depth;
            ASSERT_NEAR(rays[index(y * a_scans + x)].distance, eye + surface, 0.02) << x << " " << y;
        }
    }
}

TEST_F(Between, EveryModeShowsOnlyRemainingPart) {
    const auto outside = [](std::int64_t z, std::int64_t a, std::int64_t b) {
        const double row = static_cast<double>(z);
        return row < top_row(a, b) - 1.5 || row > bottom_row(a, b) + 1.5 ? 38.0 : 0.0;
    };
    renderer().set_volume(grid_, voxels(grid_, outside).data());
    set(view_, "transparent=true isovalue=20");
    for (const ViewMode mode : {ViewMode::composite, ViewMode::mip, ViewMode::average, ViewMode::attenuated_mip,
                                ViewMode::depth_mip, ViewMode::isosurface, ViewMode::mida, ViewMode::points}) {
        view_.mode = mode;
        const Image image = renderer().render(view_);
        for (std::size_t i = 3; i < image.pixels.size(); i += 4)
            ASSERT_EQ(image.pixels[i], 0) << static_cast<int>(mode);
    }
}

TEST_F(Between, MissingMapsAreErrors) {
    renderer().set_heights({});
    EXPECT_THROW(renderer().render(view_), Error);
    EXPECT_THROW(renderer().set_heights({.a_scans = 3, .b_scans = 2, .top_um = {1}, .bottom_um = {}}), Error);
}

}  // namespace
}  // namespace echolux::test
