// Planes inside the volume, sections and slabs, compared with values computed here.
#include <algorithm>
#include <cmath>

#include "rendering.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

// From 8 at the front of the volume to 32 at its back, and increasing to the right. Linear, so that interpolation is
// exact.
double ramp(std::int64_t, std::int64_t a, std::int64_t b) {
    return 8 + 0.5 * static_cast<double>(b) + 0.2 * static_cast<double>(a);
}

class Sliced : public SharedRendering {
  protected:
    void SetUp() override {
        grid_ = db_grid(32, 40, 36);
        renderer().set_volume(grid_, voxels(grid_, ramp).data());
        view_ = voxel_view(grid_, 40, 32);  // one voxel per pixel
        set(view_, "low=0 high=40");
    }

    // Makes the volume invisible. Slices can then only be measured.
    void hide_volume() { set(view_, "low=1000 high=2000"); }

    const RayMeasure& at(const std::vector<RayMeasure>& rays, std::int64_t x, std::int64_t y) const {
        return rays[index(y * view_.width + x)];
    }

    VolumeGrid grid_;
    View view_;
};

// The volume in front of the plane is cut away, but not the plane. All modes show the same values, in gray.
TEST_F(Sliced, SlowPlaneIsAtItsPositionInAllModes) {
    view_.slices = {0, 0, 2, -3.5};  // in the centre of B-scan 14
    set(view_, "slices_cut=false clip_planes=0,0,-1,-5");
    for (const ViewMode mode : all_modes) {
        view_.mode = mode;
        const std::vector<RayMeasure> rays = renderer().measure(view_);
        const Image image = renderer().render(view_);
        const double eye = std::sqrt(32.0 * 32 + 40 * 40 + 36 * 36);
        for (const std::int64_t x : {3, 20, 38}) {
            const double value = ramp(0, x, 14);
            EXPECT_NEAR(at(rays, x, 16).value, value, 0.02) << static_cast<int>(mode);
            EXPECT_NEAR(at(rays, x, 16).distance, eye - 3.5, 1e-2);
            EXPECT_EQ(at(rays, x, 16).transmittance, 0);
            const std::size_t pixel = index(4 * (16 * 40 + x));
            for (std::size_t channel = 0; channel < 3; ++channel) {
                EXPECT_NEAR(image.pixels[pixel + channel], 255 * value / 40, 1) << static_cast<int>(mode);
            }
        }
    }
}

TEST_F(Sliced, FirstOfSeveralPlanesEndsRay) {
    hide_volume();
    view_.slices = {0, 0, 1, 6, 0, 1, 1, 0, 0, 0, 1, -30};  // the last one is outside
    const std::vector<RayMeasure> rays = renderer().measure(view_);
    for (std::int64_t x = 0; x < 40; ++x) {
        const double a = static_cast<double>(x) + 0.5 - 20;
        const double b = a > 18 ? 6 : std::min(6.0, -a);  // a + b = 0, if it is inside and in front
        EXPECT_NEAR(at(rays, x, 10).value, 8 + 0.5 * (b + 17.5) + 0.2 * static_cast<double>(x), 0.03) << x;
    }
}

// Linear reflectivities are black on a linear scale: 1 % of the largest value is dark, its fourth root is not.
TEST_F(Sliced, SectionsOfReflectivityShowFourthRoot) {
    set(view_, "show=slice zoom=1 low=0 high=1");
    const auto faint = [](auto...) { return 0.01; };
    const auto centre = [&] { return int{renderer().render(view_).pixels[index(4 * (16 * 40 + 20))]}; };
    grid_.quantity = grid_.unit = "";
    renderer().set_volume(grid_, voxels(grid_, faint).data());
    EXPECT_LT(centre(), 6);
    grid_.quantity = "reflectivity";
    renderer().set_volume(grid_, voxels(grid_, faint).data());
    EXPECT_NEAR(centre(), 255 * std::pow(0.01, 0.25), 20);
}

TEST_F(Sliced, SectionFromBehindIsMirrored) {
    view_.show = ViewContent::slice;
    view_.zoom = 1;  // fills the picture
    const Image front = renderer().render(view_);
    view_.plane_from_behind = true;
    const Image behind = renderer().render(view_);
    view_.plane_from_behind = false;
    for (std::int64_t x = 4; x < 36; ++x) {
        const auto at = [&](std::int64_t column) { return index(4 * (16 * 40 + column)); };
        EXPECT_NEAR(behind.pixels[at(39 - x)], front.pixels[at(x)], 2) << x;
    }
    EXPECT_GT(front.pixels[index(4 * (16 * 40 + 34))], front.pixels[index(4 * (16 * 40 + 5))] + 10);
}

// Sections of random voxels: each pixel is a voxel, and samples are at the centres of voxels.
class Section : public SharedRendering {
  protected:
    static constexpr std::int64_t depth = 24, a_scans = 40, b_scans = 36;

    static double random(std::int64_t z, std::int64_t a, std::int64_t b) { return 40 * noise(z, a, b); }

    void SetUp() override {
        grid_ = db_grid(depth, a_scans, b_scans);
        renderer().set_volume(grid_, voxels(grid_, random).data());
        set(view_, "show=slice low=0 high=40 box=false");
    }

    // Value of a section through voxels `first` to `last` of the viewing axis.
    template <class Voxel>
    static double expected(ViewMode mode, std::int64_t first, std::int64_t last, const Voxel& voxel) {
        double least = 1e9, most = -1e9, sum = 0;
        for (std::int64_t i = first; i <= last; ++i) {
            const double value = voxel(i);
            least = std::min(least, value);
            most = std::max(most, value);
            sum += value;
        }
        return mode == ViewMode::mip     ? most
               : mode == ViewMode::minip ? least
                                         : sum / static_cast<double>(last - first + 1);
    }

    // `voxel(x, y, i)` is the i-th voxel along the normal at pixel (x, y).
    template <class Voxel>
    void expect_section(SlicePlane plane, std::int64_t width, std::int64_t height, std::int64_t along,
                        const Voxel& voxel) {
        view_.plane = plane;
        view_.width = width;
        view_.height = height;
        for (const ViewMode mode : {ViewMode::mip, ViewMode::minip, ViewMode::average, ViewMode::composite}) {
            view_.mode = mode;
            for (const auto& [first, last] : {std::pair{7, 7}, {3, 12}}) {
                view_.plane_offset_um = 0.5 * (first + last + 1) - 0.5 * static_cast<double>(along);
                view_.slab_um = first == last ? 0 : last - first + 1;
                const std::vector<RayMeasure> rays = renderer().measure(view_);
                const Image image = renderer().render(view_);
                for (std::int64_t y = 0; y < height; ++y) {
                    for (std::int64_t x = 0; x < width; ++x) {
                        const double value =
                            expected(mode, first, last, [&](std::int64_t i) { return voxel(x, y, i); });
                        const auto pixel = index(y * width + x);
                        ASSERT_NEAR(rays[pixel].value, value, 0.05) << x << " " << y << " " << first;
                        ASSERT_NEAR(image.pixels[4 * pixel], 255 * value / 40, 1);
                        ASSERT_EQ(image.pixels[4 * pixel + 3], 255);
                    }
                }
            }
        }
    }

    VolumeGrid grid_;
    View view_;
};

TEST_F(Section, BScanShowsAScansAndDepth) {
    expect_section(SlicePlane::b_scan, a_scans, depth, b_scans,
                   [](std::int64_t x, std::int64_t y, std::int64_t i) { return random(y, x, i); });
}

TEST_F(Section, EnFaceShowsBScansUpwards) {
    expect_section(SlicePlane::en_face, a_scans, b_scans, depth,
                   [](std::int64_t x, std::int64_t y, std::int64_t i) { return random(i, x, b_scans - 1 - y); });
}

TEST_F(Section, SideShowsBScansToRight) {
    expect_section(SlicePlane::side, b_scans, depth, a_scans,
                   [](std::int64_t x, std::int64_t y, std::int64_t i) { return random(y, i, x); });
}

TEST_F(Section, ObliquePlaneShowsItsValues) {
    renderer().set_volume(grid_, voxels(grid_, ramp).data());
    set(view_, "mode=mip plane=oblique plane_normal=0,3,4 plane_offset_um=2 width=60 height=50");
    const std::vector<RayMeasure> rays = renderer().measure(view_);
    // At the centre of the picture: 2 um along the normal from the centre of the volume.
    const double a = 0.6 * 2, b = 0.8 * 2;
    const double middle = 8 + 0.5 * (17.5 + b) + 0.2 * (19.5 + a);
    const auto value = [&](std::int64_t x) { return static_cast<double>(rays[index(25 * 60 + x)].value); };
    EXPECT_NEAR(0.5 * (value(29) + value(30)), middle, 0.02);
    // To the right of the picture is 0.8 along A-scans and -0.6 along B-scans.
    const double outline = 0.8 * 40 + 0.6 * 36;
    const double per_pixel = std::max(outline / 60, 24.0 / 50);
    EXPECT_NEAR(value(35) - value(25), 10 * per_pixel * (0.2 * 0.8 - 0.5 * 0.6), 0.03);
}

// With an automatic range, a slice mixes nothing: a value in the middle of the range has half the brightness.
TEST_F(Section, UnknownUnitUsesLevelsOfVoxels) {
    grid_.unit = "";
    grid_.quantity = "";
    renderer().set_volume(grid_, voxels(grid_, [](auto, std::int64_t a, auto) {
                                     return 100.0 * static_cast<double>(a) / (a_scans - 1);
                                 }).data());
    view_.low = lowest_value;
    view_.high = highest_value;
    view_.preset = "gray";
    view_.width = a_scans;
    view_.height = depth;
    const Image image = renderer().render(view_);
    const auto gray = [&](std::int64_t x) {
        return static_cast<double>(image.pixels[index(4 * (depth / 2 * a_scans + x))]);
    };
    EXPECT_LT(gray(0), 3);
    EXPECT_NEAR(gray(a_scans / 2), 128, 8);
    EXPECT_LT(gray(3 * a_scans / 4), 205);
}

}  // namespace
}  // namespace echolux::test
