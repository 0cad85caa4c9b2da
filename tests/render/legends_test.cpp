// Legends over a picture: for any combination, they do not overlap and stay inside the frame. Also lights moved by
// handles.
#include <cmath>
#include <glm/geometric.hpp>
#include <numbers>

#include "compute/plan/describe.h"
#include "render/annotations/annotations.h"
#include "render/area_lights.h"
#include "rendering.h"

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
    View view;
    view.width = width;
    view.height = height;
    view.scale_bar = view.axes = view.colour_bar = view.time_stamp = true;
    view.time_rate = 0.4;
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
