// Contents of a window, composed off screen: panes in their places, and the interface over them as computed by hand.
#include "render/screen.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>

#include "render/presentation.h"
#include "rendering.h"

namespace echolux::test {
namespace {

constexpr std::int64_t width = 64, height = 48;

using Pixel = std::array<int, 4>;

std::uint32_t rgba(std::uint32_t red, std::uint32_t green, std::uint32_t blue, std::uint32_t alpha) {
    return red | green << 8U | blue << 16U | alpha << 24U;
}

// Adds two triangles that fill a rectangle, with texture coordinates from (u0, v0) to (u1, v1).
void add_rectangle(InterfaceMesh& mesh, const std::array<float, 4>& at, std::uint32_t colour,
                   const std::array<float, 4>& clip, const std::array<float, 4>& uv = {0, 0, 1, 1}) {
    const auto first = static_cast<std::uint32_t>(mesh.indices.size());
    const auto corner = static_cast<std::uint32_t>(mesh.vertices.size());
    for (const std::size_t i : {0U, 1U, 2U, 3U}) {
        const std::size_t x = i % 2 * 2, y = i / 2 * 2 + 1;
        mesh.vertices.push_back({at[x], at[y], uv[x], uv[y], colour});
    }
    for (const std::uint16_t i : {0, 1, 2, 1, 3, 2}) mesh.indices.push_back(i);
    mesh.parts.push_back({clip, first, 6, corner});
}

constexpr std::array<float, 4> everywhere{0, 0, width, height};
constexpr std::array<float, 3> black{0, 0, 0};

class Screens : public Rendering {
  protected:
    void SetUp() override {
        Rendering::SetUp();
        const VolumeGrid grid = db_grid(24, 24, 24);
        renderer().set_volume(grid, voxels(grid, [](auto z, auto a, auto b) { return 40 * noise(z, a, b); }).data());
        screen_ = std::make_unique<Screen>(renderer(), width, height);
    }
    void TearDown() override {
        screen_.reset();
        Rendering::TearDown();
    }

    Screen& screen() { return *screen_; }

    Drawing picture(std::int64_t across, std::int64_t down, std::size_t pane = 0) {
        View view = sized_view(across, down);
        return renderer().follow(view, now_s_ += 0.001, pane).drawing;
    }

    Image shown(std::span<const ScreenPane> panes, const InterfaceMesh& mesh = {},
                const std::array<float, 3>& background = black) {
        EXPECT_TRUE(screen().show(panes, mesh, background));
        return screen().read();
    }

    double now_s_ = 1;

  private:
    std::unique_ptr<Screen> screen_;
};

// Compares every pixel with `expected(x, y)`.
template <class Expected>
void expect_pixels(const Image& image, const Expected& expected) {
    ASSERT_EQ(image.width, width);
    ASSERT_EQ(image.height, height);
    for (std::int64_t y = 0; y < height; ++y) {
        for (std::int64_t x = 0; x < width; ++x) ASSERT_EQ(pixel_at(image, x, y), expected(x, y)) << x << ", " << y;
    }
}

TEST_F(Screens, AreOffScreenWithBackgroundWithoutWindow) {
    EXPECT_TRUE(screen().is_off_screen());
    EXPECT_EQ(screen().width(), width);
    EXPECT_EQ(screen().height(), height);
    expect_pixels(shown({}, {}, {0.2F, 0.4F, 1}), [](auto...) { return Pixel{51, 102, 255, 255}; });
    screen().resize(0, 30);
    EXPECT_FALSE(screen().show({}, {}, black));
    screen().resize(20, 30);
    EXPECT_TRUE(screen().show({}, {}, black));
}

// Complete, across the top left corner, across the bottom right one, and outside; later panes are on top.
TEST_F(Screens, ShowPanesAtTheirPlaces) {
    const std::array panes{
        ScreenPane{picture(20, 16, 0), {10, 12, 20, 16}}, ScreenPane{picture(30, 30, 1), {-11, -7, 30, 30}},
        ScreenPane{picture(25, 25, 2), {50, 40, 25, 25}}, ScreenPane{picture(8, 8, 3), {width, 0, 8, 8}},
        ScreenPane{picture(8, 9, 4), {-8, -9, 8, 9}},     ScreenPane{{}, {0, 0, 9, 9}}};
    std::vector<Image> pictures;
    for (const ScreenPane& pane : panes) {
        pictures.push_back(pane.drawing.image != nullptr ? renderer().read(pane.drawing) : Image{});
    }
    expect_pixels(shown(panes, {}, {0, 1, 0}), [&](std::int64_t x, std::int64_t y) {
        Pixel expected{0, 255, 0, 255};
        for (std::size_t i = 0; i < panes.size(); ++i) {
            const std::int64_t column = x - panes[i].place.left, row = y - panes[i].place.top;
            const bool is_inside = column >= 0 && row >= 0 && column < pictures[i].width && row < pictures[i].height;
            if (is_inside) expected = pixel_at(pictures[i], column, row);
        }
        return expected;
    });
}

TEST_F(Screens, ScalePanesOfOtherSizes) {
    View view = sized_view(10, 10);
    view.box = false;
    view.target_um = {1e4, 0, 0};  // shows only the background
    view.background = {1, 0.2, 0};
    const std::array panes{ScreenPane{renderer().follow(view, ++now_s_).drawing, {30, 20, 80, 7}}};
    expect_pixels(shown(panes), [](std::int64_t x, std::int64_t y) {
        return x >= 30 && y >= 20 && y < 27 ? Pixel{255, 51, 0, 255} : Pixel{0, 0, 0, 255};
    });
}

TEST(PaneCopies, CopyVisiblePart) {
    const auto copy = pane_copy({-10, 5, 40, 20}, {80, 10, 1}, {20, 100, 1});
    ASSERT_TRUE(copy);
    EXPECT_TRUE(copy->is_scaled());
    EXPECT_EQ(copy->to.left, 0);
    EXPECT_EQ(copy->to.width, 20);
    EXPECT_EQ(copy->from.left, 20);
    EXPECT_EQ(copy->from.width, 40);
    EXPECT_EQ(copy->to.top, 5);
    EXPECT_EQ(copy->to.height, 20);
    EXPECT_EQ(copy->from.top, 0);
    EXPECT_EQ(copy->from.height, 10);
    EXPECT_FALSE(pane_copy({20, 0, 5, 5}, {5, 5, 1}, {20, 20, 1}));
    EXPECT_FALSE(pane_copy({0, 0, 0, 5}, {5, 5, 1}, {20, 20, 1}));
}

// All values are multiples of 51 = 255 / 5, so that most products with the weights are integers.
TEST_F(Screens, BlendTrianglesIntoTheirClipRectangles) {
    InterfaceMesh mesh;
    add_rectangle(mesh, {8, 8, 40, 40}, rgba(255, 0, 0, 255), everywhere);
    add_rectangle(mesh, {0, 0, width, height}, rgba(0, 255, 255, 51), {20, 4, 30, 12});
    expect_pixels(shown({}, mesh, {0, 0, 0.2F}), [](std::int64_t x, std::int64_t y) {
        const bool is_red = x >= 8 && x < 40 && y >= 8 && y < 40;
        const bool is_clipped = x >= 20 && x < 30 && y >= 4 && y < 12;
        if (!is_clipped) return is_red ? Pixel{255, 0, 0, 255} : Pixel{0, 0, 51, 255};
        return is_red ? Pixel{204, 51, 51, 255} : Pixel{0, 51, 92, 255};  // 91.8 rounded
    });
}

// A triangle covers the pixels whose centres it contains, including those on its left and top edges.
TEST_F(Screens, FillTrianglesToTheirEdges) {
    InterfaceMesh mesh;
    const std::uint32_t white = rgba(255, 255, 255, 255);
    mesh.vertices = {{4, 4, 0, 0, white}, {24, 4, 0, 0, white}, {4, 24.25F, 0, 0, white}};
    mesh.indices = {0, 1, 2};
    mesh.parts = {{everywhere, 0, 3, 0}};
    expect_pixels(shown({}, mesh), [](std::int64_t x, std::int64_t y) {
        const double across = static_cast<double>(x) + 0.5 - 4, down = static_cast<double>(y) + 0.5 - 4;
        const bool is_inside = across > 0 && down > 0 && across / 20 + down / 20.25 < 1;
        return is_inside ? Pixel{255, 255, 255, 255} : Pixel{0, 0, 0, 255};
    });
}

TEST_F(Screens, ShowGlyphsByTheirCoverage) {
    const std::array<std::uint8_t, 6> coverage{0, 51, 102, 153, 204, 255};
    screen().set_glyphs(3, 2, coverage);
    InterfaceMesh mesh;
    add_rectangle(mesh, {10, 10, 13, 12}, rgba(255, 255, 0, 255), everywhere);
    add_rectangle(mesh, {20, 10, 24, 11}, rgba(255, 0, 0, 255), everywhere, {1 / 6.0F, 0.25F, 3 / 6.0F, 0.25F});
    const Image image = shown({}, mesh);
    for (std::int64_t i = 0; i < 6; ++i) {
        const int covered = coverage[index(i)];
        EXPECT_EQ(pixel_at(image, 10 + i % 3, 10 + i / 3), (Pixel{covered, covered, 0, 255}));
    }
    // Linear between the centres of the first and the second.
    for (std::int64_t i = 0; i < 4; ++i) {
        EXPECT_NEAR(pixel_at(image, 20 + i, 10)[0], 51 * (static_cast<double>(i) + 0.5) / 4, 1.01);
    }
}

// Indices are relative to the part's first vertex.
TEST_F(Screens, DrawPartsInOrderAndGrow) {
    for (const int count : {3, 2000, 10, 9000}) {
        InterfaceMesh mesh;
        for (int i = 0; i < count; ++i) {
            const auto shade = static_cast<std::uint32_t>(i % 251);
            add_rectangle(mesh, {0, 0, width, height}, rgba(shade, 0, 0, 255), everywhere);
        }
        EXPECT_EQ(pixel_at(shown({}, mesh), 5, 5)[0], (count - 1) % 251);
    }
}

TEST_F(Screens, RejectInvalidParts) {
    InterfaceMesh mesh;
    add_rectangle(mesh, everywhere, rgba(255, 0, 0, 255), everywhere);
    mesh.parts.front().indices = 7;
    EXPECT_THROW(screen().show({}, mesh, black), Error);
    mesh.parts.front().indices = 6;
    EXPECT_EQ(pixel_at(shown({}, mesh), 0, 0)[0], 255);
    EXPECT_THROW(screen().set_glyphs(2, 2, std::array<std::uint8_t, 3>{}), Error);
}

TEST_F(Screens, ShowManyPicturesOfManySizes) {
    const std::int64_t read_before = renderer().bytes_read_back();
    std::int64_t read = 0;
    for (int i = 0; i < 120; ++i) {
        if (i % 3 == 0) screen().resize(1 + i * 37 % 90, 1 + i * 53 % 70);
        InterfaceMesh mesh;
        add_rectangle(mesh, {0, 0, 1, 1}, rgba(0, 0, 255, 255), {0, 0, 1e6F, 1e6F});
        const std::array panes{ScreenPane{picture(1 + i % 50, 30), {i - 20, 0, 1 + i % 50, 30}}};
        ASSERT_TRUE(screen().show(panes, mesh, {1, 0, 0}));
        if (i % 10 != 0) continue;
        const Image image = screen().read();
        ASSERT_EQ(image.width, screen().width());
        ASSERT_EQ(image.height, screen().height());
        EXPECT_EQ(pixel_at(image, 0, 0), (Pixel{0, 0, 255, 255}));
        read += image.width * image.height * 4;
    }
    EXPECT_EQ(renderer().bytes_read_back() - read_before, read);
}

TEST_F(Screens, ReportInterfaceTime) {
    EXPECT_FALSE(screen().interface_seconds());
    InterfaceMesh mesh;
    add_rectangle(mesh, everywhere, rgba(255, 0, 0, 255), everywhere);
    for (int i = 0; i < 4; ++i) shown({}, mesh);
    ASSERT_TRUE(screen().interface_seconds());
    EXPECT_GT(*screen().interface_seconds(), 0);
}

// A pane changes while its pictures are in progress, as fast as possible.
TEST_F(Screens, FollowChangingPanes) {
    for (int i = 0; i < 60; ++i) {
        const std::int64_t across = 20 + i % 4;
        const std::array panes{ScreenPane{picture(across, 20, 0), {0, 0, across, 20}},
                               ScreenPane{picture(12, 20 + i % 3, 1), {30, 0, 12, 20 + i % 3}}};
        ASSERT_TRUE(screen().show(panes, {}, black));
    }
    const std::array last{ScreenPane{picture(30, 20), {0, 0, 30, 20}}};
    const Image image = shown(last);
    EXPECT_EQ(pixel_at(image, 15, 10), pixel_at(renderer().read(last[0].drawing), 15, 10));
}

TEST(LostScreens, RaiseError) {
    std::atomic<bool> lost = false;
    GpuDevice choice = validated_device();
    choice.loses = [&] { return lost.load(); };
    Renderer renderer(choice);
    Screen screen(renderer, 20, 20);
    EXPECT_TRUE(screen.show({}, {}, black));
    lost = true;
    EXPECT_EQ(refusal_of([&] {
                  for (int i = 0; i < 3; ++i) screen.show({}, {}, black);
              }).code(),
              ErrorCode::device);
}

// Opening a window may fail, and missing features of the window system are reported.
TEST(WindowSurfaces, FailureIsError) {
    GpuDevice choice;
    choice.surface.make = [](void*) -> std::uint64_t { throw Error(ErrorCode::device, "no window", "here"); };
    EXPECT_THROW(Renderer{choice}, Error);
    choice.surface.extensions = {"VK_KHR_no_such_window_system"};
    const Error error = refusal_of([&] { const Renderer renderer(choice); });
    EXPECT_EQ(error.code(), ErrorCode::device);
    EXPECT_THAT(error.line(), testing::HasSubstr("windows of this system"));
}

}  // namespace
}  // namespace echolux::test
