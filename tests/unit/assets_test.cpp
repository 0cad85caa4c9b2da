// Files embedded in the program, and a user's files next to them.
#include "assets/assets.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "assets/table.h"
#include "bench/papers.h"
#include "compute/plan/describe.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using testing::ElementsAre;

std::vector<std::string> names_of(const std::vector<Asset>& assets) {
    std::vector<std::string> names;
    for (const Asset& asset : assets) names.push_back(asset.name);
    return names;
}

TEST(Assets, EqualTheirFiles) {
    for (const char* path : {"transfer/tissue.toml", "colour_maps/flow.txt", "recipes/defr.toml"}) {
        std::ifstream file(std::string(ECHOLUX_SOURCE_DIR "/assets/") + path, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        EXPECT_FALSE(bytes.empty());
        EXPECT_EQ(shipped_file(path), bytes) << path;
    }
    EXPECT_TRUE(shipped_file("transfer/none.toml").empty());
}

TEST(Assets, ListsBuiltInBeforeUserFiles) {
    const TemporaryFolder config;
    std::filesystem::create_directories(config / "recipes");
    for (const char* name : {"recipes/zebra.toml", "recipes/apple.toml", "recipes/defr.toml", "recipes/note.txt"}) {
        config.write(name, "");
    }
    const std::vector<Asset> assets = assets_of(recipe_files, config.path());
    EXPECT_THAT(names_of(assets), ElementsAre("ao-oct", "ss-oct", "defr", "nufft", "nudft", "compressive", "doppler",
                                              "retina-octa", "skin-octa", "ao-retina", "apple", "zebra"));
    EXPECT_EQ(origin_of(assets[0]), "shipped");
    EXPECT_EQ(origin_of(assets[2]), (config / "recipes/defr.toml").string() + ", in place of the shipped one");
    EXPECT_EQ(origin_of(assets[10]), (config / "recipes/apple.toml").string());
    EXPECT_EQ(own_file(recipe_files, "defr", config.path()), config / "recipes/defr.toml");
    EXPECT_EQ(own_file(recipe_files, "nufft", config.path()), "");
    EXPECT_EQ(own_file(recipe_files, "note", config.path()), "");
}

TEST(Assets, PublishedFiguresMatchPapers) {
    ASSERT_EQ(published_figures().size(), 39u);
    const auto value_of = [](std::string_view figure, std::string_view hardware) {
        for (const PublishedFigure& one : published_figures()) {
            if (one.figure == figure && one.hardware == hardware) return one;
        }
        return PublishedFigure{};
    };
    EXPECT_EQ(value_of("ao-oct/set", "a GPU").value, 1.450);
    EXPECT_EQ(value_of("ao-oct/set", "a GPU").lines, 240 * 240 * 11);
    EXPECT_EQ(value_of("ss-oct/1836", "Tesla C1060").value, 524'205);
    EXPECT_EQ(value_of("ss-oct/1836", "Tesla C1060").unit, "A-scans/s");
    EXPECT_DOUBLE_EQ(value_of("defr.double/10", "GeForce GTX 580").value, 0.04392 * 188.35 / 100);
    EXPECT_EQ(value_of("defr.memory/1024", "GeForce GTX 580").value, 152e6);
    EXPECT_DOUBLE_EQ(value_of("cs.fft/15", "GeForce GTX 580").value, 47.2e-6);
    EXPECT_DOUBLE_EQ(value_of("structure/2048", "a GPU").value * 1024, 18e9);
}

TEST(Assets, PublishedErrorsOfNufftMatchPaper) {
    const std::vector<PublishedNufftError> errors = published_nufft_errors();
    ASSERT_EQ(errors.size(), 13u);
    EXPECT_EQ(errors.front().oversampling, 1.25);
    EXPECT_EQ(errors[8].width, 5);
    EXPECT_THAT(errors[8].errors, ElementsAre(1.7e-3, 4.5e-5, 7.5e-5));
    EXPECT_THAT(errors.back().errors, ElementsAre(8.3e-7, 7.4e-12, 1.5e-11));
}

}  // namespace
}  // namespace echolux
