// Properties of whole pictures: size, background, presets and ranges of values. Refused views.
#include "compute/plan/describe.h"
#include "compute/plan/params.h"
#include "rendering.h"
#include "scenes.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

class Picture : public Rendering {
  protected:
    void SetUp() override {
        Rendering::SetUp();
        const VolumeGrid grid = db_grid(32, 32, 32);
        renderer().set_volume(grid, voxels(grid, ball(grid, 16)).data());
        view_.width = 61;  // not a multiple of the workgroup size
        set(view_, "height=45 box=false");
    }

    View view_;
};

TEST_F(Picture, HasRequestedSizeAndBackground) {
    view_.background = {0.2, 0.4, 0.6};
    EXPECT_EQ(renderer().bytes_read_back(), 0);
    const Image image = renderer().render(view_);
    EXPECT_EQ(renderer().bytes_read_back(), 61 * 45 * 4);
    EXPECT_EQ(image.width, 61);
    EXPECT_EQ(image.height, 45);
    ASSERT_EQ(image.pixels.size(), 61u * 45 * 4);
    EXPECT_EQ(pixel_at(image, 0, 0), (std::array{51, 102, 153, 255}));
    EXPECT_EQ(pixel_at(image, 60, 44), (std::array{51, 102, 153, 255}));
    EXPECT_NE(pixel_at(image, 30, 22), (std::array{51, 102, 153, 255}));
}

TEST_F(Picture, AutomaticPresetIsTissueForDbAndGrayOtherwise) {
    const auto picture_of = [&](const char* preset) {
        view_.preset = preset;
        return renderer().render(view_).pixels;
    };
    EXPECT_EQ(picture_of("automatic"), picture_of("tissue"));
    EXPECT_NE(picture_of("automatic"), picture_of("gray"));
    VolumeGrid grid = db_grid(32, 32, 32);
    grid.quantity = "amplitude";
    grid.unit = "counts";
    renderer().set_volume(grid, voxels(grid, ball(grid, 16)).data());
    EXPECT_EQ(picture_of("automatic"), picture_of("gray"));
    EXPECT_NE(picture_of("automatic"), picture_of("tissue"));
}

TEST(DbGrid, SpellsQuantityLikeRecipe) {
    const VolumeGrid grid = db_grid(1, 1, 1);
    EXPECT_EQ(Value(grid.quantity), value_of(Recipe{.quantity = Quantity::db}, "quantity"));
    EXPECT_EQ(grid.unit, "dB above noise floor");
}

TEST_F(Picture, OpenEndsOfRangeAreAutomatic) {
    const auto pixels = [&](double low, double high) {
        view_.low = low;
        view_.high = high;
        return renderer().render(view_).pixels;
    };
    const auto chosen = pixels(lowest_value, highest_value);
    EXPECT_EQ(chosen, pixels(3, 40));  // range of the preset tissue
    EXPECT_EQ(pixels(10, highest_value), pixels(10, 40));
    EXPECT_EQ(pixels(lowest_value, 30), pixels(3, 30));
    EXPECT_NE(pixels(10, highest_value), chosen);
    EXPECT_NE(pixels(lowest_value, 30), chosen);
    EXPECT_NE(pixels(0, 40), chosen);  // zero has no special meaning
}

TEST_F(Picture, ForeignVolumesSpanPercentiles) {
    VolumeGrid grid = db_grid(32, 32, 32);
    grid.quantity = grid.unit = "";
    const ValueAt some = ball(grid, 16);
    const auto houndsfield = [&](auto... at) { return 50 * some(at...) - 1000; };
    renderer().set_volume(grid, voxels(grid, houndsfield).data());
    const std::vector<RayMeasure> rays = renderer().measure(view_);
    EXPECT_LT(rays[22 * 61 + 30].transmittance, 0.1);
    EXPECT_GT(rays[0].transmittance, 0.99);
    EXPECT_GT(rays[22 * 61 + 12].transmittance, 0.99);
}

// ---- refused views --------------------------------------------------------------------------------------------------

struct RefusedView {
    const char* settings;  // JSON
    const char* where;
};

constexpr RefusedView refused_views[] = {
    {R"({"low": 5, "high": 5})", "view.low, view.high"},
    {R"({"low": 60})", "view.low, view.high"},  // the preset ends at 40 dB
    {R"({"shadows": 0.5})", "view.shadows"},    // the lamp is at the eye
    {R"({"background": [0, 0]})", "view.background"},
    {R"({"target_um": [0, 1]})", "view.target_um"},
    {R"({"distances": [1, 2, 3]})", "view.distances"},
    {R"({"angles": [1, 2, 3, 4, 5, 6]})", "view.angles"},
    {R"({"text_at": [1]})", "view.text_at"},
    {R"({"text_colour": [1]})", "view.text_colour"},
    {R"({"flow_arrows": [1, 2, 3]})", "view.flow_arrows"},
    {R"({"flow_streaks": [1, 2, 3]})", "view.flow_streaks"},
    {R"({"flow_streaks": [1, 0, 0, 0, -2, 1, 0, 0, 9, 2]})", "view.flow_streaks"},
    {R"({"streak_pulse": [1, 1, 0.5, 1]})", "view.streak_pulse"},
    {R"({"flow_threshold": 20, "flow_range": 10})", "view.flow_threshold, view.flow_range"},
    {R"({"clip_planes": [1, 0, 0]})", "view.clip_planes"},
    {R"({"clip_planes": [0, 0, 0, 5]})", "view.clip_planes"},
    {R"({"clip_planes": [1,1,1,1, 1,1,1,1, 1,1,1,1, 1,1,1,1, 1,1,1,1, 1,1,1,1, 1,1,1,1]})", "view.clip_planes"},
    {R"({"clip_low": [0.5, 0, 0], "clip_high": [0.5, 1, 1]})", "view.clip_low, view.clip_high"},
    {R"({"clip_low": [0.5, 0.5]})", "view.clip_low, view.clip_high"},
    {R"({"top_um": 5, "bottom_um": 4})", "view.top_um, view.bottom_um"},
    {R"({"slices": [1,1,1,1, 1,1,1,1, 1,1,1,1, 1,1,1,1, 1,1,1,1]})", "view.slices"},
    {R"({"plane_normal": [0, 0, 0]})", "view.plane_normal"},
    {R"({"area_lights": [1, 2, 3]})", "view.area_lights"},
    {R"({"area_lights": [0, 0, 0.5, 1, 1, 1, 1, 1]})", "view.area_lights"},
    {R"({"area_lights": [0, 0, 2, 0, 1, 1, 1, 1]})", "view.area_lights"},
    {R"({"area_lights": [0, 0, 2, 1, 1, 1, -1, 1]})", "view.area_lights"},
    {R"({"sky_picture": "there/is/none.png"})", "view.sky_picture"},
    {R"({"background_lower_colour": [1, 0.2]})", "view.background_lower_colour"},
    {R"({"outline_colour": []})", "view.outline_colour"},
    {R"({"stereo": "side-by-side", "width": 101})", "view.width"},
    {R"({"stereo": "anaglyph", "show": "slice"})", "view.stereo"},
    {R"({"stereo": "anaglyph", "projection": "panorama"})", "view.stereo, view.projection"},
};

class RefusedViews : public SharedRendering {};

TEST_F(RefusedViews, NameTheirKeys) {
    const VolumeGrid grid = db_grid(4, 4, 4);
    renderer().set_volume(grid, voxels(grid, [](auto...) { return 20; }).data());
    for (const RefusedView& one : refused_views) {
        View view;
        const nlohmann::json settings = nlohmann::json::parse(one.settings);
        for (const auto& [key, value] : settings.items()) set_field(view, key, value);
        const Error error = refusal_of([&] { renderer().render(view); });
        EXPECT_EQ(error.code(), ErrorCode::bad_setting) << one.settings;
        EXPECT_EQ(error.where(), one.where) << one.settings << ": " << error.line();
    }
    View view = sized_view(8, 8);
    EXPECT_EQ(renderer().render(view).pixels.size(), 8u * 8 * 4) << "the renderer still works";
}

// Every number outside its range is refused where a picture begins.
TEST_F(RefusedViews, NumbersOutsideTheirRanges) {
    for (const Field<View>& field : describe<View>()) {
        View view;
        const Value value = field.get(view);
        if (std::holds_alternative<double>(value))
            field.set(view, field.high + 1 + 0.01 * std::abs(field.high));
        else if (std::holds_alternative<std::int64_t>(value))
            field.set(view, std::int64_t(field.low) - 1);
        else
            continue;
        EXPECT_EQ(refusal_of([&] { check_view(view); }).where(), "view." + std::string(field.name));
    }
}

}  // namespace
}  // namespace echolux::test
