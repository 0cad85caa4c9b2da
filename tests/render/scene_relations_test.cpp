// Relations between pictures of the same scene that hold exactly, for every scene of scenes.json: ways by which voxels
// reach the display, optimisations, and kinds of pictures. Scenes name those that do not apply ("without").
#include <algorithm>
#include <cmath>
#include <cstring>

#include "compute/voxel_target.h"
#include "scenes.h"

namespace echolux::test {
namespace {

class SceneRelations : public SharedRendering, public testing::WithParamInterface<SceneCase> {
  protected:
    static void TearDownTestSuite() {
        paged_.reset();
        SharedRendering::TearDownTestSuite();
    }

    // Volumes of the scenes have 4 x 4 x 4 pages or fewer.
    static Renderer& paged() {
        if (!paged_) paged_ = renderer_with({.edge = 40, .page_edge = 16});
        return *paged_;
    }

    static Image changed(SceneData data, const std::function<void(View&)>& edit) {
        edit(data.view);
        return renderer().render(data.view);
    }

    // The picture of the same voxels in a slot of a live ring.
    static Image live(const SceneData& data, bool with_peaks) {
        SlotRequest wanted;
        wanted.grid = data.grid;
        if (!data.flow.empty()) wanted.flow = data.flow_grid;
        wanted.range = {0, 40};
        wanted.peaks = with_peaks;
        SlotWriter& slots = *renderer().make_slots(wanted).writer;
        set_surroundings(renderer(), data);
        const VoxelTargets targets = slots.targets(0);
        std::memcpy(targets.structure.data, data.voxels.data(), data.voxels.size());
        if (!data.flow.empty()) std::memcpy(targets.flow->data, data.flow.data(), data.flow.size());
        EXPECT_EQ(targets.peaks.has_value(), with_peaks);
        for (std::int64_t line = 0; with_peaks && line < data.grid.b_scans * data.grid.a_scans; ++line) {
            store_peaks(
                data.grid.type, data.voxels.data() + line * data.grid.a_scan_bytes(), data.grid.depth,
                targets.peaks->depths,
                static_cast<std::byte*>(targets.peaks->target.data) + line * targets.peaks->target.a_scan_bytes);
        }
        slots.publish(0, 1, 0, data.grid.b_scans);
        return renderer().read(renderer().draw(data.view, DisplayedSlots{{0, 1, data.grid.b_scans}, {}, 1, 1}));
    }

    static bool has(const char* relation) { return GetParam().has(relation); }

  private:
    static inline std::unique_ptr<Renderer> paged_;
};

TEST_P(SceneRelations, SlowPicturesAreEqual) {
    const SceneData data = scene_data(GetParam().scene);
    const Image picture = picture_of(renderer(), data);
    EXPECT_EQ(renderer().render(data.view).pixels, picture.pixels) << "again";
    EXPECT_EQ(renderer().begin(data.view)().pixels, picture.pixels) << "begun now, read later";
    if (has("skipping")) {
        const Image all = changed(data, [](View& view) { view.adaptive = view.skip_empty = false; });
        EXPECT_EQ(changed(data, [](View& view) { view.adaptive = false; }).pixels, all.pixels) << "skipping";
    }
    if (has("window")) {
        const Image still = changed(data, [](View& view) { view.samples = view.rest_samples; });
        static double now_s = 10;
        const PanePicture shown = followed_to_rest(renderer(), data.view, now_s += 1);
        EXPECT_EQ(renderer().read(shown.drawing).pixels, still.pixels) << "window";
    }
}

// A transparent picture over a background equals the picture with that background.
TEST_P(SceneRelations, AlphaMatchesBackground) {
    if (!has("alpha")) return;
    SceneData data = scene_data(GetParam().scene);
    data.view.background = {0.2, 0.4, 0.6};
    data.view.transparent = false;
    const Image opaque = picture_of(renderer(), data);
    data.view.transparent = true;
    const Image clear = renderer().render(data.view);
    double largest = 0;
    for (std::size_t i = 0; i < opaque.pixels.size(); i += 4) {
        const double alpha = clear.pixels[i + 3] / 255.0;
        for (std::size_t c = 0; c < 3; ++c) {
            const double over = alpha * clear.pixels[i + c] + (1 - alpha) * 255 * data.view.background[c];
            largest = std::max(largest, std::abs(over - opaque.pixels[i + c]));
        }
    }
    EXPECT_LE(largest, 2);
}

// Annotations are drawn over 8 bits and rounded twice. Colours of nearly clear pixels are quotients of small numbers.
TEST_P(SceneRelations, SixteenBitsRefineSamePicture) {
    const SceneData data = scene_data(GetParam().scene);
    if (data.view.transparent) return;
    const Image coarse = picture_of(renderer(), data);
    const std::vector<std::uint16_t> codes = codes_of_16_bits(renderer(), data.view);
    ASSERT_EQ(codes.size(), coarse.pixels.size());
    int most = 0;
    for (std::size_t i = 0; i < codes.size(); ++i) most = std::max(most, std::abs(codes[i] - 257 * coarse.pixels[i]));
    EXPECT_LE(most, 129 + 257);
}

TEST_P(SceneRelations, LiveVolumesLookLikeFiles) {
    if (!has("live")) return;
    const SceneData data = scene_data(GetParam().scene);
    const Image file = picture_of(renderer(), data);
    EXPECT_EQ(live(data, false).pixels, file.pixels);
    EXPECT_EQ(live(data, true).pixels, file.pixels) << "with peaks";
}

// Coordinates in the pool are rounded differently than in one texture, by less than 1e-4 voxels. Interpolated values
// change accordingly, and sometimes a value at the boundary of two entries of the transfer table uses the other entry.
TEST_P(SceneRelations, SlowPagesLookLikeOneTexture) {
    if (!has("pages")) return;
    const SceneData data = scene_data(GetParam().scene);
    const Image whole = picture_of(renderer(), data);
    paged().set_volume(voxels_in_memory(data.grid, data.voxels.data()));
    ASSERT_TRUE(paged().is_in_pages());
    if (!data.flow.empty()) paged().set_flow(data.flow_grid, data.flow.data());
    set_surroundings(paged(), data);
    const Image pages = paged().render(data.view);
    EXPECT_GT(pages.pages.needed, 0);
    EXPECT_EQ(pages.pages.coarse, 0);
    EXPECT_LE(largest_difference(pages, whole), 2);
    std::size_t differing = 0;
    for (std::size_t i = 0; i < whole.pixels.size(); ++i) differing += whole.pixels[i] != pages.pixels[i];
    EXPECT_LT(differing, whole.pixels.size() / 50);
}

INSTANTIATE_TEST_SUITE_P(Scenes, SceneRelations, testing::ValuesIn(scene_cases()), [](const auto& instance) {
    std::string name = instance.param.name;
    std::ranges::replace(name, '-', '_');
    return name;
});

}  // namespace
}  // namespace echolux::test
