// Pictures through the C and C++ interfaces. A missing Vulkan device, or a build without the renderer, is reported as
// an ordinary error.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "fringes.h"
#include "temporary_folder.h"

namespace echolux::test {
namespace {

// A bright cube in the centre.
lux::Volume cube() {
    auto grid = lux::make<echolux_grid>();
    grid.depth = grid.a_scans = grid.b_scans = 32;
    grid.voxel = ECHOLUX_U8;
    std::vector<std::byte> voxels(32 * 32 * 32);
    for (std::size_t i = 0; i < voxels.size(); ++i) {
        const auto inside = [](std::size_t n) { return n > 10 && n < 22; };
        if (inside(i % 32) && inside(i / 32 % 32) && inside(i / 1024)) voxels[i] = std::byte{200};
    }
    return lux::Volume::create(grid, voxels);
}

class LibraryRender : public ::testing::Test {
  protected:
    void SetUp() override {
        if (echolux_has("render") == 0) GTEST_SKIP() << "this build has no renderer";
        try {
            renderer_.emplace();
        } catch (const lux::Error& error) {
            ASSERT_EQ(error.status(), ECHOLUX_DEVICE);
            GTEST_SKIP() << error.what();
        }
        view_.emplace();
        view_->settings().set("view.width", 64);
        view_->settings().set("view.height", 48);
    }

    std::optional<lux::Renderer> renderer_;
    std::optional<lux::View> view_;
};

TEST_F(LibraryRender, DrawsVolume) {
    const lux::Picture picture = renderer_->render(cube(), *view_);
    ASSERT_EQ(picture.rgba.size(), 64u * 48 * 4);
    const auto lit = [&](std::size_t x, std::size_t y) {
        const auto* pixel = &picture.rgba[(y * 64 + x) * 4];
        return pixel[0] + pixel[1] + pixel[2];
    };
    EXPECT_GT(lit(32, 24), lit(1, 1) + 50);
    EXPECT_EQ(renderer_->render(cube(), *view_).rgba, picture.rgba) << "the same call, the same picture";
}

TEST_F(LibraryRender, WrongCallsAreRefused) {
    const lux::Volume volume = cube();
    std::vector<std::uint8_t> pixels(64 * 48 * 4);
    echolux_renderer* renderer = nullptr;
    ASSERT_EQ(echolux_renderer_create(nullptr, &renderer, nullptr), ECHOLUX_OK);
    EXPECT_EQ(echolux_render(renderer, volume.get(), nullptr, view_->get(), pixels.data(), pixels.size() - 1, nullptr),
              ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(echolux_render(renderer, volume.get(), nullptr, view_->get(), nullptr, pixels.size(), nullptr),
              ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(echolux_render(renderer, nullptr, nullptr, view_->get(), pixels.data(), pixels.size(), nullptr),
              ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(echolux_renderer_free(renderer), ECHOLUX_OK);
    EXPECT_EQ(status_of([] { lux::Renderer none("no such device"); }), ECHOLUX_DEVICE);
}

TEST(LibraryView, FilesOfTransferFunctionsAreRead) {
    if (echolux_has("render") == 0) GTEST_SKIP() << "this build has no renderer";
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "steps.toml").string();
    std::ofstream(file) << "[transfer]\nversion = 1\nunit = \"dB\"\ncolours = [0, 0, 0, 0, 9, 1, 1, 1]\n"
                           "extinctions = [0, 0, 9, 5]\n";
    lux::View view;
    EXPECT_EQ(status_of([&] { view.settings().set("view.transfer", file); }), ECHOLUX_OK);
    EXPECT_EQ(view.settings().text("view.transfer"), file);
    EXPECT_EQ(status_of([&] { view.settings().set("view.transfer", file + "none.toml"); }), ECHOLUX_BAD_FILE);
    EXPECT_EQ(view.settings().text("view.transfer"), file) << "what is refused changes nothing";
    EXPECT_EQ(status_of([&] { view.settings().set("view.azimuth_deg", 10); }), ECHOLUX_OK);
    EXPECT_EQ(status_of([&] { view.settings().set("view.transfer", ""); }), ECHOLUX_OK);
}

TEST(LibraryView, PresetOfUsersIsRead) {
    if (echolux_has("render") == 0) GTEST_SKIP() << "this build has no renderer";
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder.path() / "echolux/transfer");
    std::ofstream(folder.path() / "echolux/transfer/tissue.toml") << "[transfer]\nversion = \"broken\"\n";
    const char* before = std::getenv("XDG_CONFIG_HOME");
    const std::string kept = before == nullptr ? "" : before;
    setenv("XDG_CONFIG_HOME", folder.path().c_str(), 1);
    lux::View view;
    const echolux_status status = status_of([&] { view.settings().set("view.preset", "tissue"); });
    if (before == nullptr)
        unsetenv("XDG_CONFIG_HOME");
    else
        setenv("XDG_CONFIG_HOME", kept.c_str(), 1);
    EXPECT_NE(status, ECHOLUX_OK);
    EXPECT_EQ(view.settings().text("view.preset"), "automatic");
}

TEST(LibraryNoRender, ReportsUnsupported) {
    if (echolux_has("render") != 0) GTEST_SKIP() << "this build has the renderer";
    EXPECT_EQ(status_of([] { lux::View view; }), ECHOLUX_UNSUPPORTED);
    EXPECT_EQ(status_of([] { lux::Renderer renderer; }), ECHOLUX_UNSUPPORTED);
}

// PNG files need no FFmpeg.
TEST_F(LibraryRender, MovieIsWritten) {
    const TemporaryFolder folder;
    const lux::Volume volume = cube();
    auto movie = lux::make<echolux_movie>();
    movie.frames = 3;
    int calls = 0;
    const auto count = [&](const std::string&, std::int64_t, std::int64_t) {
        ++calls;
        return true;
    };
    lux::write_movie(&volume, {}, *view_, (folder.path() / "turn_%04d.png").string(), movie, count);
    EXPECT_GE(calls, 3);
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "turn_0002.png"));
    const std::string file = (folder.path() / "cube.nrrd").string();
    volume.write(file);
    lux::write_movie(nullptr, file, *view_, (folder.path() / "of_file_%04d.png").string(), movie);
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "of_file_0000.png"));
    movie.first_frame = 1;
    movie.end_frame = 3;
    lux::write_movie(&volume, {}, *view_, (folder.path() / "part_%04d.png").string(), movie);
    const auto bytes = [&](const char* name) {
        std::ifstream stream(folder.path() / name, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(stream), {});
    };
    EXPECT_EQ(bytes("part_0001.png"), bytes("turn_0002.png"));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "part_0002.png"));
    const std::string drawn = (folder.path() / "turn_%04d.png").string();
    movie.drawn = drawn.c_str();
    lux::write_movie(&volume, {}, *view_, (folder.path() / "taken_%04d.png").string(), movie);
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "taken_0001.png"));
    movie.drawn = nullptr;
    movie.end_frame = 4;
    const auto beyond = [&] { lux::write_movie(&volume, {}, *view_, (folder.path() / "no_%04d.png").string(), movie); };
    EXPECT_EQ(status_of(beyond), ECHOLUX_BAD_SETTING);
    movie.path = "nonsense";
    const auto again = [&] { lux::write_movie(&volume, {}, *view_, (folder.path() / "no_%04d.png").string(), movie); };
    EXPECT_EQ(status_of(again), ECHOLUX_BAD_SETTING);
    EXPECT_EQ(echolux_write_movie(nullptr, nullptr, view_->get(), nullptr, "a_%04d.png", nullptr),
              ECHOLUX_BAD_ARGUMENT);
}

}  // namespace
}  // namespace echolux::test
