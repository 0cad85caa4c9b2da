// Transfer functions in files: writing and reading our format, reading ParaView's, and the text of every refusal.
#include "app/transfer/transfer_file.h"

#include <gmock/gmock.h>

#include <cmath>

#include "../unit/temporary_folder.h"
#include "assets/assets.h"
#include "render/view/curve.h"
#include "rendering.h"

namespace echolux {
namespace {

using testing::HasSubstr;

class TransferFile : public testing::Test {
  protected:
    std::string refusal(const std::string& name, std::string_view text) {
        const auto path = folder_.write(name, text);
        std::string line = error_of([&] { read_transfer(path); }).line;
        const std::size_t at = line.find(path.string());
        if (at != std::string::npos) line.replace(at, path.string().size(), name);
        EXPECT_EQ(line.find('\n'), std::string::npos);
        return line;
    }

    TransferCurve read(const std::string& name, std::string_view text) {
        return read_transfer(folder_.write(name, text));
    }

    TemporaryFolder folder_;
};

TEST_F(TransferFile, RoundTripKeepsCurve) {
    for (const char* preset : {"tissue", "bone", "gray"}) {
        TransferCurve curve = preset_curve(preset, {});
        curve.length_um = 123.456;
        write_transfer(folder_ / "curve.toml", curve);
        EXPECT_EQ(read_transfer(folder_ / "curve.toml"), curve);
    }
}

TEST_F(TransferFile, ReadsShippedPresetsLikeUserFiles) {
    for (const Asset& asset : assets_of(transfer_files, {})) {
        const TransferCurve read = read_transfer(folder_.write("a.toml", shipped_text(transfer_files, asset.name)));
        EXPECT_EQ(preset_curve(asset.name, {}), read) << asset.name;
    }
    const std::vector<TransferNode> tissue{{3, 0.12, 0.02, 0.03, 0},       {10.4, 0.34, 0.06, 0.06, 0},
                                           {17.8, 0.66, 0.22, 0.16, 12},   {25.94, 0.89, 0.52, 0.36, 48},
                                           {33.34, 0.98, 0.80, 0.62, 140}, {40, 1.00, 0.97, 0.90, 280}};
    EXPECT_EQ(preset_curve("tissue", {}).nodes, tissue);
    EXPECT_EQ(preset_curve("tissue", {}).unit, "dB above noise floor");
    const std::vector<TransferNode> root{{0, 0, 0, 0, 0},
                                         {0.0001, 0.12, 0.12, 0.12, 0},
                                         {0.0039, 0.29, 0.29, 0.29, 12},
                                         {0.0256, 0.46, 0.46, 0.45, 24},
                                         {0.0625, 0.58, 0.57, 0.55, 32},
                                         {0.3164, 0.79, 0.78, 0.75, 126},
                                         {1, 1.00, 0.98, 0.95, 220}};
    VolumeGrid linear;
    linear.quantity = "reflectivity";
    EXPECT_EQ(preset_curve("automatic", linear).nodes, root);
    EXPECT_TRUE(preset_curve("automatic", linear).is_relative);
    EXPECT_EQ(preset_curve("ct-soft-tissue", {}).nodes.at(2), (TransferNode{-90, 0.93, 0.80, 0.50, 5}));
}

TEST_F(TransferFile, RejectsPresetWithUnreadFile) {
    View view;
    view.preset = "mine";
    EXPECT_THAT(error_of([&] { check_part(static_cast<const Curve&>(view)); }).line,
                HasSubstr("view.preset: the file of the preset 'mine'"));
    view.own_preset = read("mine.toml", R"([transfer]
unit = "HU"
colours = [7, 0, 0, 0,   9, 1, 1, 1]
extinctions = [7, 0,   9, 8]
)");
    check_part(static_cast<const Curve&>(view));
    VolumeGrid grid;
    grid.unit = "HU";
    EXPECT_EQ(transfer_function(view, grid, {0, 1}).range.low, 7);
    grid.unit = "";  // like a shipped preset: not refused, but uses the volume's range
    EXPECT_EQ(transfer_function(view, grid, {0, 1}).range.high, 1);
}

TEST_F(TransferFile, ColoursAndExtinctionsHaveTheirOwnPoints) {
    const TransferCurve curve = read("curve.toml", R"([transfer]
version = 1
unit = "HU"
length_um = 1000
colours = [-100, 0, 0, 0,   300, 1, 0.5, 0]
extinctions = [0, 0,   200, 8]
)");
    EXPECT_EQ(curve.unit, "HU");
    EXPECT_EQ(curve.length_um, 1000);
    EXPECT_FALSE(curve.is_relative);
    const std::vector<TransferNode> expected{
        {-100, 0, 0, 0, 0}, {0, 0.25, 0.125, 0, 0}, {200, 0.75, 0.375, 0, 8}, {300, 1, 0.5, 0, 8}};
    EXPECT_EQ(curve.nodes, expected);
}

TEST_F(TransferFile, RefusalsNameFileKeyAndRemedy) {
    const std::string good = "[transfer]\ncolours = [0, 0, 0, 0, 1, 1, 1, 1]\n";
    EXPECT_EQ(refusal("a.toml", "[transfer]\n"),
              "a.toml, transfer.colours: has 0 of at least 2 points (add what is missing)");
    EXPECT_EQ(refusal("a.toml", good),
              "a.toml, transfer.extinctions: has 0 of at least 2 points (add what is missing)");
    EXPECT_EQ(
        refusal("a.toml", good + "extinctions = [0, 1, 2]\n"),
        "a.toml, transfer.extinctions: has 3 numbers, not a multiple of 2 (each point has a value, then what holds "
        "there)");
    EXPECT_EQ(
        refusal("a.toml", good + "extinctions = [1, 0, 1, 2]\n"),
        "a.toml, transfer.extinctions: the value 1 comes after 1 (write the points in ascending order, each value "
        "once)");
    EXPECT_EQ(refusal("a.toml", good + "extinctions = [0, 0, 1, -2]\n"),
              "a.toml, transfer.extinctions: -2 is not between 0 and 1e+06, at the value 1 (correct the number)");
    EXPECT_EQ(refusal("a.toml", "[transfer]\ncolours = [0, 0, 0, 0, 1, 1, 255, 1]\nextinctions = [0, 0, 1, 2]\n"),
              "a.toml, transfer.colours: 255 is not between 0 and 1, at the value 1 (correct the number)");
    EXPECT_THAT(refusal("a.toml", good + "extinctions = [0, 0, nan, 2]\n"),
                HasSubstr("transfer.extinctions: expected"));
    EXPECT_THAT(
        refusal("a.toml", "[transfer]\nversion = 3\n"),
        HasSubstr("transfer.version: is newer than this program, which reads versions 1 and 2 (use a newer Echolux)"));
    EXPECT_THAT(refusal("a.toml", "[transfer]\ncolors = [1]\n"), HasSubstr("did you mean \"transfer.colours\"?"));
    EXPECT_THAT(refusal("a.toml", "[view]\nzoom = 1\n"), HasSubstr("there is no section [view] here"));
    EXPECT_EQ(error_of([] { read_transfer("/nowhere/a.toml"); }).line,
              "/nowhere/a.toml: does not exist (check the name)");
    EXPECT_THAT(error_of([&] { write_transfer(folder_ / "curve.json", preset_curve("gray", {})); }).line,
                HasSubstr("name it *.toml"));
}

TEST_F(TransferFile, ParaViewColourMapWithOpacity) {
    const TransferCurve curve = read("map.json", R"([{
        "ColorSpace": "RGB", "Name": "Preset", "NanColor": [1, 1, 0],
        "Points": [10, 0, 0.5, 0,  20, 0.5, 0.5, 0,  50, 0.5, 0.5, 0],
        "RGBPoints": [10, 0, 0, 0,  50, 1, 0.5, 0.25]}])");
    EXPECT_FALSE(curve.is_relative);
    const auto at = [&](double value) {
        const auto node = std::ranges::find(curve.nodes, value, &TransferNode::value);
        EXPECT_NE(node, curve.nodes.end()) << value;
        return *node;
    };
    EXPECT_EQ(at(10).extinction, 0);
    EXPECT_DOUBLE_EQ(at(20).extinction, 100 * std::log(2));  // half of the light passes a hundredth of the depth
    EXPECT_DOUBLE_EQ(at(50).extinction, 100 * std::log(2));
    EXPECT_DOUBLE_EQ(at(20).red, 0.25);
    EXPECT_DOUBLE_EQ(at(20).green, 0.125);
    // Opacity is linear between points, extinction is not.
    EXPECT_DOUBLE_EQ(at(15).extinction, -100 * std::log(0.75));
    // Saved in our format, it is the same.
    write_transfer(folder_ / "curve.toml", curve);
    EXPECT_EQ(read_transfer(folder_ / "curve.toml"), curve);
}

TEST_F(TransferFile, ParaViewMidpointHasHalfOpacity) {
    const TransferCurve curve = read("map.json", R"({"Points": [0, 0, 0.25, 0,  8, 0.5, 0.5, 0],
        "RGBPoints": [0, 0, 0, 0,  8, 1, 1, 1]})");
    const auto node = std::ranges::find(curve.nodes, 2.0, &TransferNode::value);
    ASSERT_NE(node, curve.nodes.end());
    EXPECT_DOUBLE_EQ(node->extinction, -100 * std::log(0.75));
}

TEST_F(TransferFile, ParaViewColoursAloneUseGrayOpacityFrom0To1) {
    const TransferCurve curve = read("map.json", R"([{"RGBPoints": [-1, 0, 0, 1,  0, 1, 1, 1,  1, 1, 0, 0]}])");
    EXPECT_TRUE(curve.is_relative);
    EXPECT_EQ(curve.nodes.front().extinction, 0);
    EXPECT_EQ(curve.nodes.back().extinction, preset_curve("gray", {}).nodes.back().extinction);
    EXPECT_TRUE(read("map.json", R"([{"RGBPoints": [0, 0, 0, 1, 1, 1, 0, 0]}])").is_relative);
    EXPECT_FALSE(read("map.json", R"([{"RGBPoints": [0, 0, 0, 1, 2, 1, 0, 0]}])").is_relative);
}

TEST_F(TransferFile, RejectsHostileParaViewFilesInOneLine) {
    EXPECT_THAT(refusal("m.json", "{"), HasSubstr("m.json: is not JSON (give the JSON file that ParaView exports"));
    EXPECT_THAT(refusal("m.json", std::string(500000, '[')), HasSubstr("m.json: is JSON nested more than 64 deep"));
    EXPECT_THAT(refusal("m.json", std::string(2 << 20, ' ')),
                HasSubstr("m.json: is not a colour map of at most 1 MiB"));
    for (const char* text : {"[]", "3", "null", "[3]", R"([{"IndexedColors": [1, 0, 0]}])"}) {
        EXPECT_THAT(refusal("m.json", text), HasSubstr("m.json, RGBPoints: has no colours (export a colour map"));
    }
    for (const char* points : {R"("red")", "[[0]]", R"([0, "0", 0, 0])", "[null]", "{}"}) {
        EXPECT_THAT(refusal("m.json", std::string(R"({"RGBPoints": )") + points + "}"),
                    HasSubstr("m.json, RGBPoints: is not a list of numbers"));
    }
    EXPECT_THAT(refusal("m.json", R"({"RGBPoints": []})"), HasSubstr("RGBPoints: has 0 of at least 2 points"));
    EXPECT_THAT(refusal("m.json", R"({"RGBPoints": [0, 0, 0, 0]})"), HasSubstr("has 1 of at least 2 points"));
    EXPECT_THAT(refusal("m.json", R"({"RGBPoints": [0, 0, 0, 0, 1]})"), HasSubstr("not a multiple of 4"));
    EXPECT_THAT(refusal("m.json", R"({"RGBPoints": [1, 0, 0, 0, 0, 0, 0, 0]})"),
                HasSubstr("the value 0 comes after 1"));
    EXPECT_THAT(refusal("m.json", R"({"RGBPoints": [0, 0, 0, 0, 1, 0, 0, 1e300]})"), HasSubstr("beyond 1e12"));
    const std::string colours = R"({"RGBPoints": [0, 0, 0, 0, 1, 1, 1, 1], "Points": )";
    EXPECT_THAT(refusal("m.json", colours + "[0, 0, 0.5, 0]}"), HasSubstr("Points: has 1 of at least 2 points"));
    EXPECT_THAT(refusal("m.json", colours + "[0, 0, 0.5, 1, 1, 1, 0.5, 0]}"), HasSubstr("sharpness other than 0"));
    EXPECT_THAT(refusal("m.json", colours + "[0, 0, 7, 0, 1, 1, 0.5, 0]}"), HasSubstr("midpoint outside 0 .. 1"));
    EXPECT_THAT(refusal("m.json", colours + "[0, 0, 0.5]}"), HasSubstr("Points: has 3 numbers, not a multiple of 4"));
}

class CurveInUse : public test::Rendering {};

TEST_F(CurveInUse, RoundTripGivesSamePicture) {
    VolumeGrid grid = test::db_grid(24, 24, 24);
    grid.quantity = grid.unit = "";
    renderer().set_volume(grid, test::voxels(grid, test::ball(grid, 12)).data());
    View view;
    view.width = view.height = 40;
    view.opacity = 0.5;
    view.colour_map = "viridis";
    const Image before = renderer().render(view);
    const TemporaryFolder folder;
    write_transfer(folder / "curve.toml", curve_in_use(view, grid, renderer().transfer_function(view)));
    View again;
    again.width = again.height = 40;
    again.transfer = (folder / "curve.toml").string();
    load_transfer(again);
    const Image after = renderer().render(again);
    int largest = 0;
    for (std::size_t i = 0; i < before.pixels.size(); ++i) {
        largest = std::max(largest, std::abs(before.pixels[i] - after.pixels[i]));
    }
    EXPECT_LE(largest, 1);
    again.opacity = 0.25;
    EXPECT_NE(renderer().render(again).pixels, after.pixels);
}

}  // namespace
}  // namespace echolux
