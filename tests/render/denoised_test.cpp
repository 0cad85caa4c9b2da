// The denoiser, the noise estimate that ends pictures, and refinement and display of path-traced pictures.
#include <algorithm>
#include <cmath>
#include <set>

#include "render/denoiser.h"
#include "render/raycaster.h"
#include "slots_fixture.h"
#include "tests/support/set_fields.h"
#include "tests/unit/await.h"
#include "traced.h"

namespace echolux::test {
namespace {

// RMS difference of levels, in 8-bit steps.
double apart(const Image& a, const Image& b) {
    double squares = 0;
    for (std::size_t i = 0; i < a.pixels.size(); ++i) squares += std::pow(double(a.pixels[i]) - b.pixels[i], 2);
    return std::sqrt(squares / static_cast<double>(a.pixels.size()) * 4 / 3);  // opacity is 255 everywhere
}

// The largest RMS difference of green of all squares of 16 pixels.
double worst_apart(const Image& a, const Image& b) {
    double worst = 0;
    for (std::int64_t square = 0; square < a.height / 16 * (a.width / 16); ++square) {
        const std::int64_t top = square / (a.width / 16) * 16, left = square % (a.width / 16) * 16;
        double squares = 0;
        for (std::int64_t i = 0; i < 256; ++i) {
            const auto at = index(4 * ((top + i / 16) * a.width + left + i % 16) + 1);
            squares += std::pow(double(a.pixels[at]) - b.pixels[at], 2) / 256;
        }
        worst = std::max(worst, std::sqrt(squares));
    }
    return worst;
}

class Denoised : public Traced {
  protected:
    void SetUp() override {
        Traced::SetUp();
        const VolumeGrid grid = db_grid(48, 48, 48);
        set_volume(grid, [&](std::int64_t z, std::int64_t a, std::int64_t b) {
            return std::max(ball(grid, 22)(z, a, b), (a / 8 + b / 8) % 2 == 0 && z > 30 ? 30. : 0.);
        });
        set_curve({{0, 1, 1, 1, 0}, {.3, .9, .4, .3, 0}, {.35, .9, .4, .3, 60}, {1, 1, 1, .9, 60}}, 0);
        set(view_,
            "transparent=false look=free lighting=true zoom=4 width=48 height=32 exposure_ev=0 tone=reinhard "
            "lamp=free lamp_elevation_deg=50 lamp_brightness=3 bounces=8 denoise=true");
    }

    Image render(bool denoise, std::int64_t paths) {
        view_.denoise = denoise;
        view_.paths = paths;
        return renderer().render(view_);
    }

    PanePicture followed(double& now_s, int* updates = nullptr) {
        PanePicture shown = renderer().follow(view_, now_s);
        for (int i = 0; i < 1000 && !shown.is_final; ++i) {
            shown = renderer().follow(view_, now_s += .1);
            renderer().wait(shown.drawing);
            renderer().read(shown.drawing);
            if (updates != nullptr) ++*updates;
        }
        EXPECT_TRUE(shown.is_final);
        return shown;
    }
};

TEST_F(Denoised, SlowFewPathsApproachMany) {
    const Image many = render(false, 256);
    view_.seed = 1;
    const double raw = apart(render(false, 24), many);
    const double filtered = apart(render(true, 24), many);
    EXPECT_GT(raw, 4);
    EXPECT_LT(filtered, 0.6 * raw);
}

// Speckle about as fine as pixels: a filter that treats it as noise is worse than none.
TEST_F(Denoised, KeepsTexture) {
    const VolumeGrid grid = db_grid(48, 48, 48);
    set_volume(grid, [](std::int64_t z, std::int64_t a, std::int64_t b) {
        return static_cast<double>(
            (static_cast<std::uint64_t>(z * 73856093 + a * 19349663 + b * 83492791) * 0x9e3779b97f4a7c15U >> 32U) % 41);
    });
    set_curve({{0, .2, .15, .1, 60}, {1, 1, .95, .9, 60}}, 0);
    view_.zoom = 1.5;
    const Image many = render(false, 512);
    view_.seed = 1;
    EXPECT_LT(apart(render(true, 32), many), apart(render(false, 32), many));
}

TEST_F(Denoised, IsAppliedForSomePathsOnly) {
    EXPECT_TRUE(is_filtered(view_, 2));
    EXPECT_TRUE(is_filtered(view_, 1023));
    EXPECT_FALSE(is_filtered(view_, 1));
    EXPECT_FALSE(is_filtered(view_, 1024));
    view_.denoise = false;
    EXPECT_FALSE(is_filtered(view_, 32));
}

// A picture that has reached its noise target differs by about that much from pictures with other seeds. Windows and
// stills use the same number of paths for it.
TEST_F(Denoised, PicturesEndAtNoiseTarget) {
    double now_s = 10;
    set(view_, "paths=200 noise_target=6");
    const auto picture = [&](std::int64_t seed) {
        view_.seed = seed;
        const PanePicture shown = followed(now_s);
        EXPECT_LT(shown.passes, 200);
        EXPECT_GE(shown.passes, 16);
        return renderer().read(shown.drawing);
    };
    const Image one = picture(1);
    EXPECT_EQ(renderer().render(view_).pixels, one.pixels);
    const double found = worst_apart(one, picture(2)) / std::sqrt(2.);
    EXPECT_LT(found, 1.5 * view_.noise_target);
    EXPECT_GT(found, 0.2 * view_.noise_target);
    set(view_, "noise_target=0.01 paths=33");
    EXPECT_EQ(followed(now_s).passes, 33);
}

// More columns than a tile, and edges of tiles: the same bits as the whole picture.
TEST_F(Denoised, TilesEqualWholePicture) {
    set(view_, "height=12 zoom=20 paths=2");
    view_.width = 4096 + 40;
    double now_s = 10;
    const PanePicture whole = followed(now_s);
    EXPECT_EQ(renderer().render(view_).pixels, renderer().read(whole.drawing).pixels);
}

// Changes of display settings need no new paths.
TEST_F(Denoised, SlowChangedExposureAndToneKeepPaths) {
    set(view_, "box=true slices=1,0,0,5 paths=4");
    double now_s = 10;
    const auto expect_kept = [&](const char* what) {
        const PanePicture shown = renderer().follow(view_, now_s += .001);
        renderer().wait(shown.drawing);
        EXPECT_EQ(shown.passes, 4) << what;
        EXPECT_TRUE(shown.is_final) << what;
        EXPECT_EQ(renderer().read(shown.drawing).pixels, renderer().render(view_).pixels) << what;
    };
    followed(now_s);
    view_.exposure_ev = 1;
    expect_kept("exposure");
    view_.tone = Tone::filmic;
    expect_kept("tone");
    view_.white_point = 9;
    expect_kept("white point");
    view_.background = {.4, .2, .6};
    expect_kept("background");
    view_.denoise = false;
    expect_kept("denoiser");
    view_.transparent = true;
    expect_kept("transparency");
    view_.transparent = false;
    view_.background = {1, 1, 1};  // makes the lines dark
    EXPECT_FALSE(renderer().follow(view_, now_s += .001).is_final);
    followed(now_s);
    view_.box = false;  // paths had ended at its lines
    EXPECT_FALSE(renderer().follow(view_, now_s += .001).is_final);
    followed(now_s);
    view_.scattering = .5;
    EXPECT_FALSE(renderer().follow(view_, now_s += .001).is_final);
}

TEST_F(Denoised, SeveralPassesShareFrame) {
    set(view_, "width=16 height=16 paths=64 frame_ms=1000");
    double now_s = 10;
    int updates = 0;
    followed(now_s, &updates);
    EXPECT_LT(updates, 30);
}

// Fast passes are displayed whenever their number has doubled. Passes that take seconds are all displayed.
TEST_F(Denoised, SlowPassesAreShownOneByOne) {
    view_.width = view_.height = 16;
    const auto seen = [&](double step_s, std::int64_t seed) {
        view_.paths = 9;
        view_.seed = seed;
        std::set<std::int64_t> passes;
        double now_s = 10;
        PanePicture shown = renderer().follow(view_, now_s);
        for (TestTimeout timeout; timeout.lasts() && !shown.is_final;) {
            renderer().wait(shown.drawing);
            passes.insert(shown.passes);
            shown = renderer().follow(view_, now_s += step_s);
        }
        return passes;
    };
    EXPECT_EQ(seen(.1, 1), (std::set<std::int64_t>{1, 2, 4, 8}));
    EXPECT_EQ(seen(4, 2), (std::set<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

// Fades from the ray-cast picture within the configured time, and ends with exactly the final bits.
TEST_F(Denoised, WindowPicturesCrossFade) {
    set(view_, "width=16 height=16 paths=1 frame_ms=1000");
    view_.cross_fade_s = .1;
    double now_s = 10;
    const auto seen = [&](double step_s, bool is_final) {
        const PanePicture shown = renderer().follow(view_, now_s += step_s);
        renderer().wait(shown.drawing);
        EXPECT_EQ(shown.is_final, is_final) << now_s;
        return renderer().read(shown.drawing).pixels;
    };
    const auto cast = seen(0, false), traced = renderer().render(view_).pixels;
    EXPECT_NE(cast, traced);
    EXPECT_EQ(seen(.1, false), cast);
    for (const double share : {.3, .6, .9}) {
        const auto between = seen(.03, false);
        for (std::size_t i = 0; i < between.size(); ++i)
            ASSERT_NEAR(between[i], cast[i] + share * (traced[i] - cast[i]), 1) << share;
    }
    EXPECT_EQ(seen(.03, true), traced);
    EXPECT_EQ(seen(.03, true), traced);
    view_.exposure_ev = 1;
    EXPECT_EQ(seen(.001, true), renderer().render(view_).pixels);  // changes are displayed immediately
}

TEST_F(Denoised, MovieFramesHaveDifferentNoise) {
    const Image first = render(false, 2);
    view_.frame = 1;
    EXPECT_NE(render(false, 2).pixels, first.pixels);
}

// Parts hidden by the near limit do not affect light, as if they were cut away.
TEST_F(Denoised, NearLimitHidesPartsFromLight) {
    set_slab();
    set_white(4, 64);
    set(view_,
        "transparent=true zoom=20 look=top lighting=false tone=linear paths=32 denoise=false "
        "lamp_brightness=0 clip_low=0.5,0,0");
    view_.exposure_ev = stops;
    const Mean cut = mean();
    view_.clip_low = {0, 0, 0};
    const double diagonal = std::sqrt(64. * 64 + 2 * 64000. * 64000);
    view_.near_um = diagonal;  // the distance of the centre from the eye
    const Mean near = mean();
    EXPECT_NEAR(near.light, cut.light, 4 * std::hypot(near.sigma, cut.sigma) + 1e-3 * cut.light);
    view_.near_um = 0;
    EXPECT_GT(std::abs(mean().light - cut.light), 0.1 * cut.light);
}

// Incomplete volumes are ray cast even at rest: with ambient light, and with as many rays as for a composite.
TEST_F(Slots, IncompleteVolumesAreRayCast) {
    make(small_grid());
    write(0, noise_voxels(grid_, 1));
    View view = with(small_view(), "ambient_occlusion=1 rest_samples=5 frame_ms=1000");
    const auto at_rest = [&](std::size_t pane) {
        double now_s = 10;
        PanePicture picture;
        for (TestTimeout timeout; timeout.lasts() && !picture.is_final;) {
            picture = with_next_signal(
                {.newest = {0, 1, 6}, .previous = {}, .wait = written_, .signal = 0}, read_,
                [&](const DisplayedSlots& slots) { return renderer().follow(view, now_s += .1, pane, slots); });
            renderer().wait(picture.drawing);
        }
        EXPECT_EQ(picture.passes, 5);
        return renderer().read(picture.drawing);
    };
    const Image cast = at_rest(0);
    view.mode = ViewMode::traced;
    EXPECT_EQ(at_rest(1).pixels, cast.pixels);
}

// At rest between volumes, a picture shows only one of them: one volume scatters red light where the other scatters
// blue light.
class TracedSwaps : public Slots {
  protected:
    // Shows `swaps` volumes, each refined for a different time.
    void expect_unmixed(std::int64_t swaps) {
        make(db_grid(8, 8, 8, VoxelType::u8));
        View view = with(sized_view(8, 8), "mode=traced box=false lighting=false zoom=4 low=0 high=40 transfer=test");
        view.transfer_curve =
            TransferCurve{{{0, 1, 0, 0, 60}, {.5, 1, 0, 0, 60}, {.5, 0, 0, 1, 60}, {1, 0, 0, 1, 60}}, "", true, 0};
        set(view, "background=0,1,0 paths=64 frame_ms=1000");
        view.cross_fade_s = .15;  // some are replaced during a cross-fade
        const std::array codes{voxels(grid_, [](auto...) { return 10; }), voxels(grid_, [](auto...) { return 30; })};
        double now_s = 10;
        std::int64_t traced = 0;
        for (std::int64_t i = 0; i < swaps; ++i) {
            const std::size_t is_blue = index(i % 2);
            write(is_blue, codes[is_blue]);
            const std::uint64_t serial = written_;
            for (std::int64_t looks = 0; looks <= 1 + i % 3; ++looks) {
                const PanePicture shown = with_next_signal(
                    {.newest = {is_blue, serial, grid_.b_scans}, .previous = {}, .wait = written_, .signal = 0}, read_,
                    [&](const DisplayedSlots& slots) { return renderer().follow(view, now_s += .1, 0, slots); });
                renderer().wait(shown.drawing);
                traced += shown.passes > 1;
                const Image image = renderer().read(shown.drawing);
                for (std::size_t p = 0; p < image.pixels.size(); p += 4) {
                    ASSERT_EQ(image.pixels[p + (is_blue != 0 ? 0 : 2)], 0) << "volume " << i << ", look " << looks;
                    ASSERT_GT(image.pixels[p + (is_blue != 0 ? 2 : 0)], 0) << "volume " << i << ", look " << looks;
                }
            }
        }
        EXPECT_GT(traced, swaps / 2);
    }
};

TEST_F(TracedSwaps, AreNeverMixed) {
    expect_unmixed(12);
}

TEST_F(TracedSwaps, SlowThousandAreNeverMixed) {
    expect_unmixed(1000);
}

}  // namespace
}  // namespace echolux::test
