// Area lights and the lens: compared with closed forms, with an equivalent sky, and with geometry. Ambient occlusion
// and shadows of the ray caster.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "compute/error.h"
#include "compute/indexing.h"
#include "rendering.h"
#include "tests/support/set_fields.h"
#include "traced.h"

namespace echolux::test {
namespace {

class TracedLights : public Traced {
  protected:
    void SetUp() override {
        Traced::SetUp();
        set(view_, "sky=0 lights=own lamp_brightness=1 paths=64");
    }

    // Six squares that form a closed box, each as bright as a sky of 1.
    void set_box_of_lights() {
        const double share = 2 / std::numbers::pi * std::numbers::sqrt2 * std::atan(1 / std::numbers::sqrt2);
        view_.area_lights.clear();
        constexpr std::array<std::array<double, 2>, 6> sides{{{0, 0}, {90, 0}, {180, 0}, {-90, 0}, {0, 90}, {0, -90}}};
        for (const auto& [azimuth, elevation] : sides) {
            for (const double number : {azimuth, elevation, 2., 4., 4., share, share, share})
                view_.area_lights.push_back(number);
        }
    }
};

// A distant disc that fills 45 degrees around the eye: single scattering, compared with quadrature of its closed form.
TEST_F(TracedLights, DistantDiscIsCapOfSky) {
    set_slab();
    set_white(1, 64);
    set(view_, "bounces=1 scattering=0.8");
    constexpr double far = 1e4;
    view_.area_lights = {0, 0, far, 2 * far, 0, .5, .5, .5};  // half of it would fill the hemisphere of a surface
    expect_light(.047674, "45 degrees");
}

// Objects in a closed box of lights receive as much light as under a sky. Tests direct sampling and paths that hit
// lights, tissue and surfaces, forward and isotropic scattering.
TEST_F(TracedLights, SlowBoxOfLightsConservesEnergy) {
    const VolumeGrid grid = db_grid(40, 40, 40);
    set_volume(grid, ball(grid, 18));
    set_curve({{0, 1, 1, 1, 0}, {.3, 1, 1, 1, 0}, {.35, 1, 1, 1, 20}, {1, 1, 1, 1, 20}}, 0);
    set(view_, "look=free scattering=1 zoom=2");
    set_box_of_lights();
    set(view_, "lighting_strength=1 roughness=0.2 width=32 height=32");
    for (const double anisotropy : {0., .9}) {
        for (const bool surfaces : {false, true}) {
            view_.anisotropy = anisotropy;
            view_.lighting = surfaces;
            double sum = 0, squares = 0, opacity = 0;
            for (const Pixel& pixel : pixels()) {
                sum += pixel.light - pixel.opacity;
                squares += std::pow(pixel.light - pixel.opacity, 2);
                opacity += pixel.opacity;
            }
            EXPECT_GT(opacity, 100);
            EXPECT_NEAR(sum / opacity, 0, 4 * std::sqrt(squares) / opacity) << anisotropy << surfaces;
            EXPECT_LT(4 * std::sqrt(squares) / opacity, .02);
        }
    }
}

// A point out of focus becomes a disc. Its radius is that of the lens, scaled by the ratio of the distances from the
// focal plane to the point and to the lens. In focus, it stays a point.
TEST_F(TracedLights, SlowOutOfFocusPointIsDisc) {
    const VolumeGrid grid = db_grid(65, 65, 65);
    set_volume(grid,
               [](std::int64_t z, std::int64_t a, std::int64_t b) { return z == 32 && a == 32 && b == 32 ? 40 : 0; });
    set_curve({{0, 1, 1, 1, 0}, {.2, 1, 1, 1, 0}, {.3, 1, 1, 1, 2000}, {1, 1, 1, 1, 2000}}, 65);
    set(view_, "lights=lamp projection=perspective zoom=4 paths=100");
    const auto spread = [&] {  // RMS distance of the opacity from the centre, in pixels
        double squares = 0, sum = 0;
        const std::vector<Pixel> all = pixels();
        for (std::size_t i = 0; i < all.size(); ++i) {
            const double x = static_cast<double>(i % 48) - 23.5, y = static_cast<double>(i / 48) - 23.5;
            squares += all[i].opacity * (x * x + y * y);
            sum += all[i].opacity;
        }
        return std::sqrt(squares / sum);
    };
    const double sharp = spread();
    view_.aperture_um = 40;
    EXPECT_NEAR(spread(), sharp, 0.1 * sharp);
    const double radius = 0.5 * std::sqrt(3.) * 65, eye = radius / std::sin(15 * std::numbers::pi / 180);
    const double pixel = eye * std::tan(15 * std::numbers::pi / 180) / 24 / view_.zoom;
    view_.focus_um = 60;
    const double blur = 20 * view_.focus_um / (eye + view_.focus_um) / pixel;  // radius in pixels
    EXPECT_GT(blur, 3 * sharp);
    EXPECT_NEAR(spread(), std::hypot(sharp, blur / std::numbers::sqrt2), 0.1 * blur);
}

// ---- ambient occlusion and shadows ----------------------------------------------------------------------------------

constexpr std::int64_t edge = 96;

// Seen from above, one pixel per column of voxels: pixel (x, y) shows A-scan x, B-scan edge - 1 - y.
class LightFromElsewhere : public SharedRendering {
  protected:
    void SetUp() override {
        view_ = voxel_view(db_grid(edge, edge, edge), edge, edge);
        set(view_, "elevation_deg=90 preset=oct-gray low=0 high=40");
    }

    void show(const ValueAt& value) {
        const VolumeGrid grid = db_grid(edge, edge, edge);
        renderer().set_volume(grid, voxels(grid, value).data());
    }

    // Brightness of the pixel at this A-scan and B-scan, relative to that without occlusion and shadows.
    double brightness(std::int64_t a, std::int64_t b) {
        const auto at = index(4 * ((edge - 1 - b) * edge + a));
        View plain = view_;
        plain.ambient_occlusion = plain.shadows = 0;
        return static_cast<double>(renderer().render(view_).pixels[at]) / renderer().render(plain).pixels[at];
    }

    View view_;
};

// A block below depth 40, with a shaft of 8 x 8 voxels down to depth 80.
double pit(std::int64_t z, std::int64_t a, std::int64_t b) {
    const bool in_shaft = std::abs(a - 48) < 4 && std::abs(b - 48) < 4 && z < 80;
    return z < 40 || in_shaft ? 0 : 38;
}

TEST_F(LightFromElsewhere, DarkensPitAndKeepsWallBright) {
    show(pit);
    for (const ViewMode mode : {ViewMode::composite, ViewMode::isosurface, ViewMode::mida, ViewMode::points}) {
        view_.mode = mode;
        view_.ambient_occlusion = 1;
        EXPECT_GT(brightness(20, 20), 0.95) << static_cast<int>(mode);
        EXPECT_GT(brightness(30, 70), 0.95) << static_cast<int>(mode);
        EXPECT_LT(brightness(48, 48), 0.45) << static_cast<int>(mode);
    }
}

// At the foot of a wall, the floor receives half of the light.
TEST_F(LightFromElsewhere, FootOfWallReceivesHalfLight) {
    show([](std::int64_t z, std::int64_t a, std::int64_t) { return z >= 60 || a < 30 ? 38.0 : 0.0; });
    view_.ambient_occlusion = 1;
    EXPECT_NEAR(brightness(32, 48), 0.55, 0.12);
    EXPECT_GT(brightness(80, 48), 0.95);
}

TEST_F(LightFromElsewhere, FollowsChangedVolume) {
    view_.ambient_occlusion = 1;
    show(pit);
    EXPECT_LT(brightness(48, 48), 0.45);
    show([](std::int64_t z, std::int64_t, std::int64_t) { return z < 40 ? 0.0 : 38.0; });
    EXPECT_GT(brightness(48, 48), 0.95);
}

TEST_F(LightFromElsewhere, IsWhiteWithoutOccluders) {
    show([](auto...) { return 0.0; });
    set(view_, "ambient_occlusion=1 shadows=1 lamp=free");
    const Image empty = renderer().render(view_);
    view_.ambient_occlusion = view_.shadows = 0;
    EXPECT_EQ(renderer().render(view_).pixels, empty.pixels);
}

}  // namespace
}  // namespace echolux::test
