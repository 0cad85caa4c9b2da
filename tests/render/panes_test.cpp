// Pictures that a window shows in panes: each as if it were alone, and a pane is not redrawn because another moves.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>

#include "compute/indexing.h"
#include "rendering.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

// Counts how often it is read.
class CountingSource : public VoxelSource {
  public:
    CountingSource(const VolumeGrid& grid, const void* voxels) : source_(voxels_in_memory(grid, voxels)) {}

    const VolumeGrid& grid() const override { return source_->grid(); }
    void read(const VoxelBox& box, std::byte* codes) const override {
        ++reads_;
        source_->read(box, codes);
    }
    int reads() const { return reads_; }

  private:
    std::shared_ptr<const VoxelSource> source_;
    mutable std::atomic<int> reads_ = 0;
};

class Panes : public Rendering {
  protected:
    void TearDown() override {
        other_.reset();
        Rendering::TearDown();
    }

    void SetUp() override {
        Rendering::SetUp();
        grid_ = db_grid(40, 36, 32);
        voxels_ = voxels(grid_, [ball = ball(grid_, 14)](auto z, auto a, auto b) {
            return 0.7 * ball(z, a, b) + 12 * noise(z, a, b);
        });
        renderer().set_volume(grid_, voxels_.data());
        View volume = with(sized_view(96, 80), "rest_samples=3 lamp=free shadows=0.6 ambient_occlusion=0.5");
        views_.assign(4, volume);
        const std::array planes{SlicePlane::b_scan, SlicePlane::en_face, SlicePlane::side};
        for (std::size_t i = 0; i < planes.size(); ++i) {
            View& section = views_[i + 1];
            set(section, "show=slice shadows=0 ambient_occlusion=0");
            section.plane = planes[i];
            section.width = 50 + 10 * static_cast<std::int64_t>(i);
        }
    }

    // Follows a pane and waits for everything that was submitted.
    PanePicture next(std::size_t pane) {
        now_s_ += 0.1;
        const PanePicture shown = renderer().follow(views_[pane], now_s_, pane);
        renderer().read(shown.drawing);
        return shown;
    }

    // Follows one pane after the other until all are final.
    std::vector<PanePicture> at_rest() {
        std::vector<PanePicture> shown(views_.size());
        const auto all_final = [&] { return std::ranges::all_of(shown, &PanePicture::is_final); };
        for (int i = 0; i < 1000 && !all_final(); ++i) {
            for (std::size_t pane = 0; pane < views_.size(); ++pane) shown[pane] = next(pane);
        }
        EXPECT_TRUE(all_final());
        return shown;
    }

    // The picture of another renderer that follows nothing.
    Image alone(const View& view) {
        if (!other_) {
            other_ = renderer_with({});
            other_->set_volume(grid_, voxels_.data());
        }
        View finest = view;
        finest.samples = view.rest_samples;
        return other_->render(finest);
    }

    VolumeGrid grid_;
    std::vector<std::byte> voxels_;
    std::vector<View> views_;
    double now_s_ = 100;

  private:
    std::unique_ptr<Renderer> other_;
};

TEST_F(Panes, StayUnchangedWhileAnotherMoves) {
    const std::vector<PanePicture> before = at_rest();
    std::vector<std::vector<std::uint8_t>> pixels;
    for (const PanePicture& shown : before) pixels.push_back(renderer().read(shown.drawing).pixels);
    for (int step = 0; step < 12; ++step) {
        views_[1].plane_offset_um += 0.5;
        const PanePicture moved = next(1);
        EXPECT_FALSE(moved.is_final);
        for (const std::size_t pane : {0U, 2U, 3U}) {
            const PanePicture shown = next(pane);
            EXPECT_TRUE(shown.is_final);
            ASSERT_EQ(shown.drawing.image, before[pane].drawing.image);
            ASSERT_EQ(shown.drawing.value, before[pane].drawing.value);  // nothing was submitted for it
        }
    }
    for (const std::size_t pane : {0U, 2U, 3U}) {
        EXPECT_EQ(renderer().read(before[pane].drawing).pixels, pixels[pane]) << "pane " << pane;
    }
}

// With a live ring, each pane shows new volumes.
TEST_F(Panes, EqualSeparateRenderersForLiveRing) {
    SlotRequest wanted{.grid = grid_, .range = {0, 40}};
    SlotWriter& slots = *renderer().make_slots(wanted).writer;
    std::memcpy(slots.targets(0).structure.data, voxels_.data(), voxels_.size());
    slots.publish(0, 1, 0, grid_.b_scans);
    const DisplayedSlot newest{.slot = 0, .serial = 1, .filled_to = grid_.b_scans};
    std::uint64_t read = 0;
    std::map<std::size_t, PanePicture> shown;
    for (View& view : views_) {
        set(view, "low=0 high=40");
    }
    for (int i = 0; i < 100; ++i) {
        for (std::size_t pane = 0; pane < views_.size(); ++pane) {
            now_s_ += 0.1;
            shown[pane] = with_next_signal({newest, {}, 1}, read, [&](const DisplayedSlots& slots_now) {
                return renderer().follow(views_[pane], now_s_, pane, slots_now);
            });
            renderer().read(shown[pane].drawing);
        }
    }
    for (std::size_t pane = 0; pane < views_.size(); ++pane) {
        EXPECT_TRUE(shown[pane].is_final);
        EXPECT_EQ(renderer().read(shown[pane].drawing).pixels, alone(views_[pane]).pixels) << "pane " << pane;
    }
}

// The pool has room for the pages of the sections, but not for all those of the volume. Panes must not evict each
// other's pages forever.
TEST_F(Panes, SlowPagedVolumeComesToRest) {
    VolumeLimits limits{.edge = 32, .pool_bytes = 60 * 18 * 18 * 18 * 4, .page_edge = 16};
    const auto paged = renderer_with(limits);
    const VolumeGrid grid = db_grid(80, 70, 60);
    const auto large = voxels(grid, [](auto z, auto a, auto b) { return 40 * noise(z / 3, a / 3, b / 3); });
    const auto source = std::make_shared<CountingSource>(grid, large.data());
    paged->set_volume(source);
    for (View& view : views_) view.rest_samples = 2;
    views_[0].lamp = Lamp::headlight;
    views_[0].shadows = views_[0].ambient_occlusion = 0;
    const Image alone = paged->render(views_[0]);
    EXPECT_GT(alone.pages.coarse, 10);
    std::vector<bool> are_final(views_.size());
    const auto follow_all = [&] {
        now_s_ += 0.1;
        for (std::size_t pane = 0; pane < views_.size(); ++pane) {
            const PanePicture shown = paged->follow(views_[pane], now_s_, pane);
            paged->read(shown.drawing);
            are_final[pane] = shown.is_final;
        }
    };
    const auto are_all_final = [&] { return std::ranges::all_of(are_final, std::identity{}); };
    for (int i = 0; i < 60 && !are_all_final(); ++i) follow_all();
    EXPECT_TRUE(are_all_final());
    const int reads = source->reads();
    for (int i = 0; i < 5; ++i) follow_all();
    EXPECT_EQ(source->reads(), reads);
    for (int step = 0; step < 8; ++step) {
        views_[1].plane_offset_um += 5;
        follow_all();
        EXPECT_TRUE(are_final[0] && are_final[2] && are_final[3]) << "step " << step;
        paged->probe(views_[0], 48, 40);
        follow_all();
        EXPECT_TRUE(are_final[0] && are_final[2] && are_final[3]) << "step " << step;
    }
}

}  // namespace
}  // namespace echolux::test
