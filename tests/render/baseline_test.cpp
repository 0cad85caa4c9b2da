// Compares the pictures of scenes.json with those that a person has checked (folder baselines), on each run also with a
// planted error that must be found. A failure keeps the actual and the difference picture in out/baselines. After an
// intended change, run `ECHOLUX_WRITE=1 render_tests --gtest_filter='Scenes/*'` and check the new pictures.
#include <cstdlib>
#include <filesystem>

#include "engine/io/png_file.h"
#include "scenes.h"

namespace echolux::test {
namespace {

class Baseline : public SharedRendering, public testing::WithParamInterface<SceneCase> {
  protected:
    static std::filesystem::path file(const std::string& folder, const std::string& ending) {
        std::filesystem::create_directories(folder);
        return std::filesystem::path(folder) / (GetParam().name + ending);
    }

    static void write(const std::filesystem::path& path, const Image& image) {
        write_png(path, {image.width, image.height, 4, image.pixels, {}});
    }

    static Image expected() {
        const Picture picture = read_png(file(ECHOLUX_TEST_DIR "/baselines", ".png"));
        EXPECT_EQ(picture.channels, 4);
        return {.width = picture.width, .height = picture.height, .pixels = picture.pixels};
    }

    // Keeps the actual picture and four times the difference from the expected one. Returns their names.
    static std::string kept(const Image& actual, const Image& wanted) {
        const std::string folder = ECHOLUX_SOURCE_DIR "/out/baselines";
        Image difference = actual;
        for (std::size_t i = 0; i < actual.pixels.size() && actual.pixels.size() == wanted.pixels.size(); ++i) {
            const int apart = i % 4 == 3 ? 255 : 4 * std::abs(actual.pixels[i] - wanted.pixels[i]);
            difference.pixels[i] = static_cast<std::uint8_t>(std::min(apart, 255));
        }
        write(file(folder, ".actual.png"), actual);
        write(file(folder, ".difference.png"), difference);
        return file(folder, ".actual.png").string() + ", " + file(folder, ".difference.png").string();
    }
};

TEST_P(Baseline, MatchesAndDetectsPlantedError) {
    const Image actual = picture_of(renderer(), scene_data(GetParam().scene));
    if (std::getenv("ECHOLUX_WRITE") != nullptr) write(file(ECHOLUX_TEST_DIR "/baselines", ".png"), actual);
    const Image wanted = expected();
    const double apart = worst_difference(actual, wanted);
    EXPECT_LE(apart, GetParam().tolerance) << "see " << (apart > GetParam().tolerance ? kept(actual, wanted) : "");
    nlohmann::json wrong = GetParam().scene;
    wrong.merge_patch(GetParam().error);
    EXPECT_GT(worst_difference(picture_of(renderer(), scene_data(wrong)), wanted), 2 * GetParam().tolerance);
}

INSTANTIATE_TEST_SUITE_P(Scenes, Baseline, testing::ValuesIn(scene_cases()), [](const auto& instance) {
    std::string name = instance.param.name;
    std::ranges::replace(name, '-', '_');
    return name;
});

}  // namespace
}  // namespace echolux::test
