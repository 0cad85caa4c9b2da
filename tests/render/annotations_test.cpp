// Annotations: correct texts at the correct positions, sharp, and identical however the picture is cast.
#include <gmock/gmock.h>

#include <cmath>
#include <glm/geometric.hpp>

#include "render/annotations/annotations.h"
#include "render/annotations/annotator.h"
#include "render/camera.h"
#include "render/vk/queue.h"
#include "render/vk/read_back.h"
#include "rendering.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

VolumeGrid cube() {
    VolumeGrid grid = db_grid(64, 64, 64);
    grid.spacing_um = {2, 3, 5};
    return grid;
}

View everything() {
    View view = with(View{},
                     "scale_bar=true axes=true colour_bar=true depth_ruler=true time_stamp=true "
                     "text_at=0.3,0.7 distances=0,0,0,100,150,200 angles=0,100,0,60,90,100,120,10,300");
    view.text = "µ° ×\nsecond line";
    return view;
}

Sheet sheet_of(const View& view, const VolumeGrid& grid = cube()) {
    return annotations_of(view, grid, transfer_function(view, grid, {0, 40}));
}

std::vector<std::string> texts_of(const Sheet& sheet) {
    std::vector<std::string> texts;
    for (const Label& label : sheet.labels()) texts.push_back(label.text);
    return texts;
}

TEST(Annotations, MeasuresAreNamedWithTheirValues) {
    EXPECT_TRUE(sheet_of(View{}).is_empty());
    View view = with(View{}, "distances=0,0,0,30,40,0,0,0,0,3000,4000,0 angles=0,10,0,0,0,0,0,0,20");
    EXPECT_EQ(texts_of(sheet_of(view)), (std::vector<std::string>{"50 µm", "5 mm", "90.0°"}));
    VolumeGrid bare = cube();
    bare.spacing_um = {};
    EXPECT_THAT(texts_of(sheet_of(view, bare)), testing::Contains("50 voxels"));
}

TEST(Annotations, MeasureConnectsItsPoints) {
    View view = voxel_view(db_grid(64, 64, 64), 200, 200);
    view.distances = {10, 5, 0, 10, 45, 0};
    const Sheet sheet = sheet_of(view, db_grid(64, 64, 64));
    const shared::Shape& line = sheet.shapes()[1];  // drawn above its rim
    // One pixel per voxel; the centre of the first voxel is half a voxel inside.
    EXPECT_NEAR(line.at.x, 100 - 32 + 5.5, 1e-3);
    EXPECT_NEAR(line.at.y, 100 - 32 + 10.5, 1e-3);
    EXPECT_NEAR(line.at.z, 100 - 32 + 45.5, 1e-3);
    EXPECT_NEAR(line.at.w, 100 - 32 + 10.5, 1e-3);
}

TEST(Annotations, AxesPointAsCameraProjects) {
    for (const Projection projection : {Projection::perspective, Projection::orthographic}) {
        View view = with(View{}, "azimuth_deg=-70 elevation_deg=33 roll_deg=12");
        view.projection = projection;
        const VolumeGrid grid = cube();
        const TransferFunction function = transfer_function(view, grid, {0, 40});
        const AnnotationContext context(view, grid, function);
        const Camera camera(view, volume_extent(grid));
        double scale = 0;
        for (int axis = 0; axis < 3; ++axis) {
            glm::dvec3 step(0);
            step[axis] = 1e-3;
            const glm::dvec2 moved = camera.project(step) - camera.project({});
            const glm::dvec2 drawn = context.direction(axis);
            EXPECT_NEAR(glm::dot(glm::normalize(moved), glm::normalize(drawn)), 1, 1e-5) << axis;
            const double ratio = glm::length(moved) / glm::length(drawn);
            EXPECT_NEAR(ratio, axis > 0 ? scale : ratio, 1e-3 * ratio);
            scale = ratio;
        }
    }
}

TEST(Annotations, RulerShowsDepthFromZeroDelay) {
    VolumeGrid grid = db_grid(200, 64, 64);
    grid.spacing_um = {5, 5, 5};
    grid.first_depth_um = 300;
    View view = with(voxel_view(grid, 800, 800), "depth_ruler=true text_size=0.01");
    const Sheet sheet = sheet_of(view, grid);
    EXPECT_THAT(texts_of(sheet), testing::IsSupersetOf({"300", "1000", "1200", "depth in µm"}));
    EXPECT_THAT(texts_of(sheet), testing::Not(testing::Contains("200")));
    grid.spacing_um = {500, 500, 500};
    EXPECT_THAT(texts_of(sheet_of(view, grid)), testing::IsSupersetOf({"1", "10", "depth in cm"}));
    view.elevation_deg = 90;  // the edge points at the viewer
    EXPECT_TRUE(sheet_of(view, grid).is_empty());
}

TEST(Annotations, PerspectiveScaleBarIsForTarget) {
    View view;
    view.scale_bar = true;
    EXPECT_THAT(texts_of(sheet_of(view)), testing::ElementsAre(testing::EndsWith(" at the target")));
    view.projection = Projection::orthographic;
    EXPECT_THAT(texts_of(sheet_of(view)), testing::ElementsAre(testing::EndsWith("0 µm")));
}

TEST(Annotations, ColourBarHasUnitOfVolumeOrDepth) {
    View view;
    view.colour_bar = true;
    EXPECT_THAT(texts_of(sheet_of(view)), testing::ElementsAre("dB above noise floor", "10", "20", "30", "40"));
    view.mode = ViewMode::isosurface;
    EXPECT_TRUE(sheet_of(view).is_empty());
    view.mode = ViewMode::depth_mip;
    const Sheet sheet = sheet_of(view);  // 128 um deep
    EXPECT_THAT(texts_of(sheet), testing::ElementsAre("depth in µm", "0", "50", "100"));
    EXPECT_LT(sheet.labels()[1].at.y, sheet.labels()[3].at.y);  // downwards, like depth
}

TEST(Annotations, FlowHasSeparateColourBar) {
    View view;
    view.colour_bar = true;
    view.mode = ViewMode::isosurface;  // it has no colour bar
    const VolumeGrid grid = cube();
    const TransferFunction function = transfer_function(view, grid, {0, 40});
    const Sheet sheet = annotations_of(view, grid, function, FlowScale{10, "mm/s"});
    EXPECT_THAT(texts_of(sheet), testing::ElementsAre("flow in mm/s, + away from probe", "-10", "-5", "0", "5", "10"));
    EXPECT_GT(sheet.labels()[1].at.y, sheet.labels()[5].at.y);
    view.mode = ViewMode::composite;
    const Sheet both = annotations_of(view, grid, function, FlowScale{10, ""});
    EXPECT_THAT(texts_of(both),
                testing::IsSupersetOf({"dB above noise floor", "40", "flow, + away from probe", "-10"}));
    const Sheet angiogram = annotations_of(view, grid, function, {{.range = 10, .unit = "dB", .has_sign = false}});
    EXPECT_THAT(texts_of(angiogram), testing::IsSupersetOf({"flow in dB", "0", "10"}));
    EXPECT_THAT(texts_of(angiogram), testing::Not(testing::Contains("-10")));
}

class AnnotatedPicture : public Rendering {
  protected:
    void SetUp() override {
        Rendering::SetUp();
        const VolumeGrid grid = db_grid(64, 64, 64);
        renderer().set_volume(grid, voxels(grid, [](auto...) { return 0.0; }).data());  // the volume is invisible
        view_ = voxel_view(grid, 300, 200);
        view_.background = {0, 0, 0};
    }

    // Length of the bar in pixels. Only the bar is bright in this row.
    static double bar_in_row(const Image& image, std::int64_t row) {
        double sum = 0;
        for (std::int64_t x = 0; x < image.width; ++x) sum += pixel_at(image, x, row)[0];
        return sum / pixel_at(image, image.width - 8, row)[0];
    }

    // Length given by the annotations of `view`.
    static double bar_length(const View& view) {
        const Sheet sheet = sheet_of(view, db_grid(64, 64, 64));
        return std::stod(sheet.labels().front().text);
    }

    View view_;
};

// Orthographic, at the target in perspective, and in a section that fills the height: 200 pixels for 64 voxels.
TEST_F(AnnotatedPicture, ScaleBarHasStatedLength) {
    view_.scale_bar = true;
    for (const double magnification : {1.0, 1.37, 3.3}) {
        View view = view_;
        view.zoom *= magnification;
        const double bar = bar_length(view);
        EXPECT_NEAR(bar_in_row(renderer().render(view), 200 - 5 - 1), bar * magnification, 0.5);
        EXPECT_GT(bar, 0.05 * 300 / magnification);
    }
    View perspective = view_;
    perspective.projection = Projection::perspective;
    set(perspective, "zoom=1 fov_deg=40");
    const double angle = 20 * std::acos(-1.0) / 180;
    const double pixel = 2 * 0.5 * std::sqrt(3.0) * 64 / std::sin(angle) * std::tan(angle) / 200;
    EXPECT_NEAR(bar_in_row(renderer().render(perspective), 200 - 5 - 1), bar_length(perspective) / pixel, 0.5);
    View section = with(view_, "zoom=1 show=slice");
    const double bar = bar_length(section_view(section, db_grid(64, 64, 64)));
    for (const std::int64_t samples : {1, 2}) {
        section.samples = samples;
        EXPECT_NEAR(bar_in_row(renderer().render(section), 200 - 5 - 1), bar * 200 / 64, 0.5) << samples;
    }
}

TEST_F(AnnotatedPicture, AnySizeWorksWithEverythingOn) {
    for (const auto& [width, height] : {std::pair{1, 1}, {1, 700}, {700, 1}, {17, 16}, {64, 48}}) {
        View view = everything();
        view.width = width;
        view.height = height;
        EXPECT_EQ(renderer().render(view).pixels.size(), index(4 * width * height));
        set(view, "projection=orthographic elevation_deg=90");
        renderer().render(view);
    }
}

// Uses the device directly: a gray picture with the annotations of one region.
class Regions : public testing::Test {
  protected:
    std::vector<std::uint8_t> drawn(const Sheet& sheet, const Region& region) {
        const gpu::ImageShape shape{
            .extent = {static_cast<std::uint32_t>(region.width), static_cast<std::uint32_t>(region.height), 1},
            .usage = vk::ImageUsageFlagBits::eStorage | vk::ImageUsageFlagBits::eTransferSrc |
                     vk::ImageUsageFlagBits::eTransferDst};
        const gpu::DeviceImage picture(device_, shape, "picture");
        annotator_.prepare(drawn_, sheet, region, picture);
        queue_.run([&](const vk::raii::CommandBuffer& commands) {
            picture.record_first_use(commands);
            commands.clearColorImage(picture.handle(), vk::ImageLayout::eGeneral,
                                     vk::ClearColorValue(std::array{0.4F, 0.5F, 0.6F, 0.5F}),
                                     vk::ImageSubresourceRange{vk::ImageAspectFlagBits::eColor, 0, 1, 0, 1});
            gpu::record_order(commands);
            annotator_.record(commands, drawn_);
        });
        const auto pixels = read_back_.pixels(picture);
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(pixels.data());
        return {bytes, bytes + pixels.size()};
    }

  private:
    gpu::Device device_{{}};
    gpu::Queue queue_{device_};
    gpu::ReadBack read_back_{device_, queue_};
    Annotator annotator_{device_};
    SheetBuffers drawn_{device_};
};

TEST_F(Regions, EqualPartsOfWholePicture) {
    View view = with(everything(), "width=611 height=407");
    const Sheet sheet = sheet_of(view);
    const std::vector<std::uint8_t> whole = drawn(sheet, {0, 0, 611, 407});
    std::size_t changed = 0;
    for (std::size_t i = 0; i < whole.size(); i += 4) changed += whole[i + 3] == 255 ? 1 : 0;
    EXPECT_GT(changed, 1500u);
    for (std::int64_t top = 0; top < 407; top += 53) {
        for (std::int64_t left = 0; left < 611; left += 137) {
            const Region region{left, top, std::min<std::int64_t>(137, 611 - left),
                                std::min<std::int64_t>(53, 407 - top)};
            const std::vector<std::uint8_t> part = drawn(sheet, region);
            for (std::int64_t row = 0; row < region.height; ++row) {
                const auto begin = whole.begin() + 4 * ((top + row) * 611 + left);
                ASSERT_TRUE(std::equal(begin, begin + 4 * region.width, part.begin() + 4 * row * region.width))
                    << "region at " << left << ", " << top << ", row " << row;
            }
        }
    }
}

}  // namespace
}  // namespace echolux::test
