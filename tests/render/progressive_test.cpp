// Pictures as shown in a window: coarse while they move, complete at rest, then refined, and finally nothing is drawn.
#include <cstring>

#include "bench/volume.h"
#include "rendering.h"
#include "shaders/shared/raycast.h"
#include "similarity.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

constexpr std::int64_t width = 160, height = 120;
constexpr double min_frame_ms = 0.1;  // software needs more, even for half as many rays

class Progressive : public Rendering {
  protected:
    void SetUp() override {
        Rendering::SetUp();
        const BenchVolume tissue = speckled_tissue({64, 64, 64});
        renderer().set_volume(tissue.grid, tissue.voxels.data());
        view_.width = width;
        view_.height = height;
        view_.rest_samples = 4;
    }

    // Returns the next displayed picture when it is finished.
    PanePicture next(double step_s = 0.02) {
        now_s_ += step_s;
        const PanePicture shown = renderer().follow(view_, now_s_);
        renderer().wait(shown.drawing);
        return shown;
    }

    PanePicture at_rest() {
        PanePicture shown = next();
        for (int i = 0; i < 1000 && !shown.is_final; ++i) {
            renderer().read(shown.drawing);  // waits for the part that was submitted last
            shown = next();
        }
        EXPECT_TRUE(shown.is_final);
        return shown;
    }

    // Moves with a frame budget that no device can meet.
    Image moving() {
        view_.frame_ms = min_frame_ms;
        PanePicture shown;
        for (int i = 0; i < 4; ++i) {
            view_.azimuth_deg += 1;
            shown = next();
        }
        EXPECT_GT(shown.pitch, 1.5);  // because the budget is far too small
        return renderer().read(shown.drawing);
    }

    View view_;
    double now_s_ = 100;
};

TEST_F(Progressive, MotionUsesAffordableRays) {
    view_.frame_ms = min_frame_ms;
    next();
    view_.azimuth_deg += 1;
    EXPECT_EQ(next().pitch, 2);
    view_.frame_ms = 1000;
    view_.azimuth_deg += 1;
    EXPECT_EQ(next().pitch, 1);
}

// Close enough for grains of speckle, two voxels wide, to be larger than the distance of rays. From afar, with one
// voxel per pixel, half of the speckle is lost and the similarity is 0.86; with two pixels per voxel it is 0.897.
TEST_F(Progressive, MotionResemblesFullPicture) {
    view_.zoom = 3;
    const Image coarse = moving();
    set(view_, "frame_ms=33 rest_samples=16");
    const Image full = renderer().read(at_rest().drawing);
    EXPECT_NE(coarse.pixels, full.pixels);
    EXPECT_GE(similarity(coarse, full), 0.9);
    view_.azimuth_deg += 20;
    EXPECT_LT(similarity(renderer().render(view_), full), 0.9);  // proves that the measure can tell pictures apart
}

// Lighting is computed for four samples together, for any kind of light.
TEST_F(Progressive, MotionIsLitLikeFullPicture) {
    const VolumeGrid grid = db_grid(64, 64, 64);
    renderer().set_volume(grid, voxels(grid, ball(grid, 30)).data());
    set(view_, "box=false background=0,0,0 lamp=free lamp_azimuth_deg=60");
    const auto seen = [&](bool lit, double shadows) {
        view_.lighting = lit;
        view_.shadows = shadows;
        const std::array pictures{moving(), renderer().render(view_)};
        std::array<double, 2> brightness{};
        for (std::size_t i = 0; i < 2; ++i) {
            const std::vector<std::uint8_t>& codes = pictures[i].pixels;
            for (std::size_t j = 0; j < codes.size(); ++j) brightness[i] += j % 4 == 3 ? 0 : codes[j];
        }
        return brightness;
    };
    const auto plain = seen(false, 0), lit = seen(true, 0), shaded = seen(true, 1);
    EXPECT_NEAR(plain[0] / plain[1], 1, 0.02);
    EXPECT_NEAR(lit[0] / lit[1], 1, 0.02);
    EXPECT_NEAR(shaded[0] / shaded[1], 1, 0.02);
    EXPECT_LT(lit[1], 0.95 * plain[1]);
    EXPECT_LT(shaded[1], 0.95 * lit[1]);
}

TEST_F(Progressive, FirstFullPictureEqualsRendering) {
    view_.frame_ms = 1;
    next();
    const double stopped_s = now_s_;
    PanePicture shown = next();
    while (shown.pitch != 1 && now_s_ < stopped_s + 1) {
        renderer().read(shown.drawing);  // waits for the part that was submitted last
        shown = next(0.001);
    }
    ASSERT_EQ(shown.pitch, 1);
    EXPECT_EQ(shown.passes, 1);
    EXPECT_LT(now_s_ - stopped_s, 0.2);
    EXPECT_EQ(renderer().read(shown.drawing).pixels, renderer().render(view_).pixels);
}

// Values of the queue count submissions. A picture of one row of workgroups is cast in one part, however busy the
// machine is.
TEST_F(Progressive, RestDrawsNoPictures) {
    view_.width = 16;
    view_.height = shared::group_height;
    const PanePicture final = at_rest();
    for (int i = 0; i < 100; ++i) {
        const PanePicture shown = next();
        ASSERT_EQ(shown.drawing.image, final.drawing.image);
        ASSERT_EQ(shown.drawing.value, final.drawing.value);
    }
    view_.frame_ms = 1000;
    view_.azimuth_deg += 1;
    EXPECT_EQ(next().drawing.value, final.drawing.value + 2);  // the rays and their resolution, and nothing before them
}

TEST_F(Progressive, RestartsForNewVolumeAndFlow) {
    set(view_, "flow_threshold=2 flow_range=20");
    const auto seen = [&] { return renderer().read(at_rest().drawing).pixels; };
    const auto before = seen();
    VolumeGrid flow = db_grid(64, 64, 64);
    flow.unit = "mm/s";
    flow.quantity = "velocity";
    renderer().set_flow(flow, voxels(flow, [](auto...) { return 10.0; }).data());
    EXPECT_NE(seen(), before);
    renderer().clear_flow();
    EXPECT_EQ(seen(), before);
    const BenchVolume other = speckled_tissue({48, 48, 48});
    renderer().set_volume(other.grid, other.voxels.data());
    EXPECT_NE(seen(), before);
}

// A new ring restarts its volume numbers, and its slots may have the same addresses as the old ones.
TEST_F(Progressive, RestartsForNewRing) {
    const VolumeGrid grid = db_grid(24, 24, 24);
    const auto shown_at_rest = [&](double value) {
        SlotRequest wanted{.grid = grid, .range = {0, 40}};
        SlotWriter& slots = *renderer().make_slots(wanted).writer;
        const std::vector<std::byte> codes = voxels(grid, [=](auto...) { return value; });
        std::memcpy(slots.targets(0).structure.data, codes.data(), codes.size());
        slots.publish(0, 1, 0, grid.b_scans);
        const DisplayedSlot newest{.slot = 0, .serial = 1, .filled_to = grid.b_scans};
        std::uint64_t read = 0;
        PanePicture shown;
        for (int i = 0; i < 1000 && !shown.is_final; ++i) {
            now_s_ += 0.1;
            shown = with_next_signal({newest, {}, 1}, read, [&](const DisplayedSlots& slots_now) {
                return renderer().follow(view_, now_s_, 0, slots_now);
            });
            renderer().read(shown.drawing);
        }
        EXPECT_TRUE(shown.is_final);
        return renderer().read(shown.drawing).pixels;
    };
    EXPECT_NE(shown_at_rest(12), shown_at_rest(36));
}

TEST_F(Progressive, RejectedViewStaysRejectedAndNextIsShown) {
    const Image before = renderer().read(at_rest().drawing);
    const View good = view_;
    view_.width = width / 2;  // needs another accumulation buffer
    view_.top_from = "a map";
    EXPECT_THROW(next(), Error);  // there is no such map
    EXPECT_THROW(next(), Error);
    EXPECT_THROW(next(1), Error);  // at rest
    view_ = good;
    EXPECT_EQ(renderer().read(at_rest().drawing).pixels, before.pixels);
}

TEST_F(Progressive, MovementIsShownAtOnce) {
    at_rest();
    view_.azimuth_deg += 30;
    const PanePicture moved = next();
    EXPECT_EQ(moved.passes, 1);
    view_.rest_samples = 1;
    const Image settled = renderer().read(at_rest().drawing);
    EXPECT_GE(similarity(renderer().render(view_), settled), 0.999);
}

TEST_F(Progressive, SurvivesThousandResizes) {
    view_.rest_samples = 2;
    for (int i = 0; i < 1000; ++i) {
        view_.width = 1 + i * 37 % 48;
        view_.height = 1 + i * 53 % 32;
        now_s_ += i % 3 == 0 ? 0.1 : 0.001;
        const PanePicture shown = renderer().follow(view_, now_s_);
        if (i % 50 != 0) continue;
        const Image image = renderer().read(shown.drawing);
        EXPECT_EQ(image.width, view_.width);
        EXPECT_EQ(image.height, view_.height);
    }
}

TEST_F(Progressive, ModesMayChangeDuringPictures) {
    const std::array modes{ViewMode::composite, ViewMode::mip, ViewMode::isosurface, ViewMode::points};
    for (std::size_t i = 0; i < 60; ++i) {
        view_.mode = modes[i % modes.size()];
        view_.lighting = i % 2 == 0;
        now_s_ += i % 5 == 0 ? 0.1 : 0.001;
        renderer().follow(view_, now_s_);
    }
    const Image last = renderer().read(at_rest().drawing);
    view_.samples = view_.rest_samples;
    EXPECT_EQ(last.pixels, renderer().render(view_).pixels);
}

}  // namespace
}  // namespace echolux::test
