// Saved pictures: 16 bits computed from floats, the same bits in tiles and in one piece, in limited memory.
#include <algorithm>
#include <cstring>
#include <set>

#include "rendering.h"

namespace echolux::test {
namespace {

class Stills : public Rendering {
  protected:
    void SetUp() override {
        Rendering::SetUp();
        const VolumeGrid grid = db_grid(24, 24, 24);
        renderer().set_volume(grid, voxels(grid, [](auto z, auto a, auto b) { return 40 * noise(z, a, b); }).data());
        view_.preset = "tissue";
        view_.low = 0;
        view_.high = 40;
        view_.scale_bar = true;
        view_.samples = 3;
    }

    std::vector<std::uint16_t> fine(const View& view) {
        std::vector<std::uint16_t> codes;
        renderer().render(view, PictureBits::sixteen, [&](const PictureRows& rows) {
            EXPECT_EQ(std::ssize(rows.pixels), rows.count * view.width * 8);
            const std::size_t before = codes.size();
            codes.resize(before + rows.pixels.size() / 2);
            std::memcpy(codes.data() + before, rows.pixels.data(), rows.pixels.size());
        });
        return codes;
    }

    // As in a window: one accumulation buffer with all passes.
    Image followed(View view) {
        view.rest_samples = view.samples;
        PanePicture picture;
        for (double now_s = 0; !picture.is_final; now_s += 0.1) {
            picture = renderer().follow(view, now_s, 3);
            renderer().wait(picture.drawing);
        }
        return renderer().read(picture.drawing);
    }

    View view_;
};

TEST_F(Stills, SixteenBitsRefineSamePicture) {
    view_.width = 96;
    view_.height = 64;
    for (const std::int64_t samples : {1, 4}) {
        view_.samples = samples;
        const Image coarse = renderer().render(view_);
        const std::vector<std::uint16_t> codes = fine(view_);
        ASSERT_EQ(codes.size(), coarse.pixels.size());
        int most = 0;
        for (std::size_t i = 0; i < codes.size(); ++i)
            most = std::max(most, std::abs(codes[i] - 257 * coarse.pixels[i]));
        EXPECT_LE(most, 129 + 257) << "shapes that are drawn over 8 bits are rounded twice";
        EXPECT_GT(std::set(codes.begin(), codes.end()).size(), 1500u);
    }
}

// More columns than a tile. Positions of jittered passes are rounded the same way in tiles.
TEST_F(Stills, TilesEqualWholePictureBitForBit) {
    view_.width = 4096 + 256;
    view_.height = 40;
    view_.zoom = 6;
    const Image tiles = renderer().render(view_);
    const Image whole = followed(view_);
    ASSERT_EQ(tiles.pixels.size(), whole.pixels.size());
    EXPECT_GT(std::ranges::count_if(tiles.pixels, [](int level) { return level > 20 && level < 250; }), 20000);
    const auto [first, other] = std::ranges::mismatch(tiles.pixels, whole.pixels);
    EXPECT_EQ(first, tiles.pixels.end()) << "at byte " << first - tiles.pixels.begin();
}

TEST_F(Stills, CallbackMayStopRendering) {
    view_.width = view_.height = 64;
    struct Stop {};
    EXPECT_THROW(renderer().render(view_, PictureBits::eight, [](const PictureRows&) { throw Stop(); }), Stop);
    EXPECT_EQ(fine(view_).size(), 64u * 64u * 4u);
}

}  // namespace
}  // namespace echolux::test
