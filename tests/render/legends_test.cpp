// Legends over a picture: for any combination, they do not overlap and stay inside the frame. Formatting of lengths,
// ticks and angles, text as kerned glyphs with the special characters of OCT, and lights moved by handles.
#include <cmath>
#include <glm/geometric.hpp>
#include <numbers>

#include "compute/plan/describe.h"
#include "render/annotations/annotations.h"
#include "render/annotations/sheet.h"
#include "render/area_lights.h"
#include "rendering.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

Sheet sheet_of(const View& view) {
    VolumeGrid grid = db_grid(64, 64, 64);
    grid.spacing_um = {2, 3, 5};
    return annotations_of(view, grid, transfer_function(view, grid, {0, 40}), FlowScale{.range = 3, .unit = "mm/s"});
}

struct Box {
    glm::dvec2 low, high;
};

// Approximate box, if letters are 0.55 of their height wide.
Box box_of(const Label& label) {
    const glm::dvec2 size(0.55 * label.size * static_cast<double>(label.text.size()), label.size);
    return {label.at - label.anchor * size, label.at + (1.0 - label.anchor) * size};
}

bool overlap(const Box& a, const Box& b) {
    return a.low.x < b.high.x && b.low.x < a.high.x && a.low.y < b.high.y && b.low.y < a.high.y;
}

View everything(std::int64_t width, std::int64_t height) {
    View view = sized_view(width, height);
    set(view, "scale_bar=true axes=true colour_bar=true time_stamp=true time_rate=0.4");
    view.title = "A retina in twelve letters and more";
    view.text = "where the time stamp is\nand the title";
    return view;
}

TEST(Legends, DoNotOverlap) {
    for (const std::vector<double>& at : {std::vector<double>{0, 0}, {0.5, 0}, {1, 0}, {1, 1}, {0, 1}, {1, 0.5}}) {
        for (const double frame : {0.0, 0.05}) {
            for (const auto& [width, height] : {std::pair(1024, 768), std::pair(640, 640), std::pair(700, 1000)}) {
                View view = everything(width, height);
                view.text_at = at;
                view.picture_frame = frame;
                const Sheet sheet = sheet_of(view);
                const std::vector<Label>& labels = sheet.labels();
                for (std::size_t i = 0; i < labels.size(); ++i) {
                    for (std::size_t j = 0; j < i; ++j) {
                        EXPECT_FALSE(overlap(box_of(labels[i]), box_of(labels[j])))
                            << labels[i].text << " over " << labels[j].text << ", " << at[0] << " " << at[1] << " of "
                            << width;
                    }
                }
            }
        }
    }
}

TEST(Legends, LieInsideFrame) {
    View view = everything(800, 800);
    view.picture_frame = 0.1;
    const Sheet sheet = sheet_of(view);
    for (const Label& label : sheet.labels()) {
        const auto [low, high] = box_of(label);
        if (label.text == view.title) {
            EXPECT_LT(high.y, 80);
            continue;
        }
        EXPECT_GE(low.x, 79) << label.text;
        EXPECT_GE(low.y, 79) << label.text;
        EXPECT_LE(high.x, 721) << label.text;
        EXPECT_LE(high.y, 721) << label.text;
    }
}

TEST(Legends, KeepPlacesIfThereIsRoom) {
    View view = everything(1024, 1024);
    view.title.clear();
    view.text_at = {0.5, 0};
    const Sheet sheet = sheet_of(view);
    for (const Label& label : sheet.labels()) {
        if (label.text.starts_with("0.000 s")) {
            EXPECT_EQ(label.at, glm::dvec2(sheet.em()));
        }
        if (label.text == "where the time stamp is") {
            EXPECT_EQ(label.at.y, sheet.em());
        }
    }
}

TEST(Quantities, RoundLengthsUseOneTwoFive) {
    EXPECT_DOUBLE_EQ(round_below(1), 1);
    EXPECT_DOUBLE_EQ(round_below(1.99), 1);
    EXPECT_DOUBLE_EQ(round_below(2), 2);
    EXPECT_DOUBLE_EQ(round_below(499), 200);
    EXPECT_DOUBLE_EQ(round_below(0.07), 0.05);
    EXPECT_DOUBLE_EQ(round_below(1000), 1000);
}

TEST(Quantities, LengthsAreWrittenInTheirUnit) {
    EXPECT_EQ(length_text(0.05, true), "50 nm");
    EXPECT_EQ(length_text(0.5, true), "500 nm");
    EXPECT_EQ(length_text(1, true), "1 µm");
    EXPECT_EQ(length_text(200, true), "200 µm");
    EXPECT_EQ(length_text(1234.5, true), "1.234 mm");
    EXPECT_EQ(length_text(20000, true), "2 cm");
    EXPECT_EQ(length_text(0, true), "0 µm");
    EXPECT_EQ(length_text(20000, false), "20000 voxels");
}

TEST(Quantities, TicksAreRoundAndInside) {
    const auto values = [](double low, double high, int most) {
        std::vector<std::string> texts;
        for (const Tick& tick : ticks_between(low, high, most)) texts.push_back(tick.text);
        return texts;
    };
    EXPECT_EQ(values(3, 40, 6), (std::vector<std::string>{"10", "20", "30", "40"}));
    EXPECT_EQ(values(-0.25, 0.25, 5), (std::vector<std::string>{"-0.2", "-0.1", "0.0", "0.1", "0.2"}));
    EXPECT_EQ(values(0, 1, 11).size(), 11u);
    for (int most = 1; most < 30; ++most) {
        for (const double high : {0.013, 1.0, 7.7, 64000.0}) {
            EXPECT_LE(static_cast<int>(ticks_between(-0.3 * high, high, most).size()), most);
        }
    }
}

TEST(Quantities, DistancesAndAngles) {
    EXPECT_DOUBLE_EQ(distance_um({1, 2, 3}, {3, 5, 9}), 7);
    EXPECT_NEAR(angle_deg({1, 0, 0}, {0, 0, 0}, {0, 2, 0}), 90, 1e-12);
    EXPECT_NEAR(angle_deg({4, 1, 1}, {1, 1, 1}, {2, 2, 1}), 45, 1e-12);
    EXPECT_NEAR(angle_deg({1, 0, 0}, {0, 0, 0}, {-3, 0, 0}), 180, 1e-12);
    EXPECT_NEAR(angle_deg({1, 0, 0}, {0, 0, 0}, {1, 1e-7, 0}), std::atan(1e-7) * 180 / std::acos(-1.0), 1e-16);
    EXPECT_EQ(angle_deg({1, 1, 1}, {1, 1, 1}, {2, 2, 1}), 0);
}

double begin_of(Typesetter& typesetter, const char* text) {
    const Label label{text, {2000, 0}, {1, 0}, glm::vec3(1), 100};
    const std::vector<SheetGlyph> glyphs = typesetter.set(label, glm::vec3(0));
    return glyphs.empty() ? 2000 : glyphs.front().left_top.x - glyphs.front().pixels->offset.x;
}

TEST(Typesetter, KernsAndHasUnitSymbols) {
    const std::unique_ptr<Typesetter> made = make_typesetter();
    if (!made) GTEST_SKIP() << "built without a font";
    Typesetter& typesetter = *made;
    const auto width = [&](const char* text) { return 2000 - begin_of(typesetter, text); };
    EXPECT_LT(width("AV"), width("A") + width("V") - 3);
    const auto coverage = [&](const char* text) {
        return typesetter.set({text, {}, {}, glm::vec3(1), 40}, glm::vec3(0)).front().pixels->coverage;
    };
    for (const char* sign : {"µ", "°", "×"}) EXPECT_NE(coverage(sign), coverage("\uE0FF")) << sign;
    EXPECT_TRUE(typesetter.set({"unreadable", {}, {}, glm::vec3(1), 2}, glm::vec3(0)).empty());
}

View lit_by(Lights lights) {
    View view;
    view.mode = ViewMode::traced;
    view.lights = lights;
    return view;
}

TEST(LightHandles, ArePlacedAtTheirLights) {
    const View view = lit_by(Lights::three_point);
    const std::vector<LightHandle> handles = light_handles(view);
    const std::vector<AreaLight> lights = area_lights(view);
    ASSERT_EQ(handles.size(), 3U);
    const Orientation eye = orientation_of(view);
    for (std::size_t i = 0; i < 3; ++i) {
        const glm::dvec3 towards = direction_of(lights[i], eye);
        EXPECT_NEAR(handles[i].at.x, glm::dot(towards, eye.right), 1e-12);
        EXPECT_NEAR(handles[i].at.y, -glm::dot(towards, eye.up), 1e-12);
        EXPECT_EQ(handles[i].is_behind, glm::dot(towards, eye.towards) < 0);
    }
    EXPECT_TRUE(light_handles(View{}).empty());  // the lamp is at the eye
}

TEST(LightHandles, DraggingMovesLights) {
    View view = lit_by(Lights::three_point);
    for (const glm::dvec2 at : {glm::dvec2{0.3, -0.5}, {-0.8, 0.1}, {0, 0}, {0.6, 0.79}}) {
        for (const bool behind : {false, true}) {
            View moved = view;
            for (const auto& [key, value] : with_light_at(view, 1, at, behind, 2)) {
                for (const Field<View>& field : describe<View>()) {
                    if ("view." + std::string(field.name) == key) field.set(moved, value);
                }
            }
            check_view(moved);
            const LightHandle handle = light_handles(moved).at(1);
            EXPECT_LT(glm::distance(handle.at, at), 1e-9);
            EXPECT_EQ(handle.is_behind, behind);
            EXPECT_EQ(area_lights(moved)[1].distance, 6);
            EXPECT_EQ(area_lights(moved)[0].azimuth_deg, 40);
        }
    }
    const auto over_rim = with_light_at(view, 0, {1.5, 0}, false);
    const auto& numbers = std::get<std::vector<double>>(over_rim.at("view.area_lights"));
    EXPECT_NEAR(numbers[0], 150, 1e-9);  // half as far out, on the back
}

}  // namespace
}  // namespace echolux::test
