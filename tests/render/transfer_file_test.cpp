// Transfer functions in files: writing and reading our format, reading ParaView's, and refusals.
#include "app/transfer/transfer_file.h"

#include <gmock/gmock.h>

#include <cmath>

#include "../unit/temporary_folder.h"
#include "app/settings/session_text.h"
#include "assets/assets.h"
#include "render/view/curve.h"
#include "rendering.h"

namespace echolux {
namespace {

using testing::HasSubstr;

class TransferFile : public testing::Test {
  protected:
    // Where the error is: the file, by its name alone, and the key.
    std::string refused(const std::string& name, std::string_view text) {
        const auto path = folder_.write(name, text);
        const Error error = test::refusal_of([&] { read_transfer(path); });
        EXPECT_EQ(error.line().find('\n'), std::string::npos);
        std::string where = error.where();
        const std::size_t at = where.find(path.string());
        return at == std::string::npos ? where : where.replace(at, path.string().size(), name);
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

TEST_F(TransferFile, RefusalsNameFileAndKey) {
    const std::string good = "[transfer]\ncolours = [0, 0, 0, 0, 1, 1, 1, 1]\n";
    const std::pair<std::string, const char*> cases[] = {
        {"[transfer]\n", "a.toml, transfer.colours"},
        {good, "a.toml, transfer.extinctions"},
        {good + "extinctions = [0, 1, 2]\n", "a.toml, transfer.extinctions"},
        {good + "extinctions = [1, 0, 1, 2]\n", "a.toml, transfer.extinctions"},
        {good + "extinctions = [0, 0, 1, -2]\n", "a.toml, transfer.extinctions"},
        {good + "extinctions = [0, 0, nan, 2]\n", "a.toml line 3, transfer.extinctions"},
        {"[transfer]\ncolours = [0, 0, 0, 0, 1, 1, 255, 1]\nextinctions = [0, 0, 1, 2]\n", "a.toml, transfer.colours"},
        {"[transfer]\nversion = 3\n", "a.toml, transfer.version"},
        {"[transfer]\ncolors = [1]\n", "a.toml line 2, transfer.colors"},
        {"[view]\nzoom = 1\n", "a.toml line 2, view.zoom"}};
    for (const auto& [text, where] : cases) EXPECT_EQ(refused("a.toml", text), where) << text;
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
    const std::string colours = R"({"RGBPoints": [0, 0, 0, 0, 1, 1, 1, 1], "Points": )";
    const std::pair<std::string, const char*> cases[] = {
        {"{", "m.json"},
        {std::string(500000, '['), "m.json"},
        {std::string(2 << 20, ' '), "m.json"},
        {"[]", "m.json, RGBPoints"},
        {"3", "m.json, RGBPoints"},
        {"null", "m.json, RGBPoints"},
        {"[3]", "m.json, RGBPoints"},
        {R"([{"IndexedColors": [1, 0, 0]}])", "m.json, RGBPoints"},
        {R"({"RGBPoints": "red"})", "m.json, RGBPoints"},
        {R"({"RGBPoints": [[0]]})", "m.json, RGBPoints"},
        {R"({"RGBPoints": [0, "0", 0, 0]})", "m.json, RGBPoints"},
        {R"({"RGBPoints": [null]})", "m.json, RGBPoints"},
        {R"({"RGBPoints": {}})", "m.json, RGBPoints"},
        {R"({"RGBPoints": []})", "m.json, RGBPoints"},
        {R"({"RGBPoints": [0, 0, 0, 0]})", "m.json, RGBPoints"},
        {R"({"RGBPoints": [0, 0, 0, 0, 1]})", "m.json, RGBPoints"},
        {R"({"RGBPoints": [1, 0, 0, 0, 0, 0, 0, 0]})", "m.json, RGBPoints"},
        {R"({"RGBPoints": [0, 0, 0, 0, 1, 0, 0, 1e300]})", "m.json, RGBPoints"},
        {colours + "[0, 0, 0.5, 0]}", "m.json, Points"},
        {colours + "[0, 0, 0.5, 1, 1, 1, 0.5, 0]}", "m.json, Points"},
        {colours + "[0, 0, 7, 0, 1, 1, 0.5, 0]}", "m.json, Points"},
        {colours + "[0, 0, 0.5]}", "m.json, Points"}};
    for (const auto& [text, where] : cases) EXPECT_EQ(refused("m.json", text), where) << text.substr(0, 80);
}

class CurveInUse : public test::Rendering {};

// With a colour map, and with a curve over two axes.
TEST_F(CurveInUse, RoundTripGivesSamePicture) {
    VolumeGrid grid = test::db_grid(24, 24, 24);
    renderer().set_volume(grid, test::voxels(grid, test::ball(grid, 12)).data());
    for (const auto& [preset, colours] : {std::pair{"gray", "viridis"}, {"boundaries", "preset"}}) {
        View view = test::sized_view(40, 40);
        view.opacity = 0.5;
        View again = view;
        view.preset = preset;
        view.colour_map = colours;
        const Image before = renderer().render(view);
        const TemporaryFolder folder;
        write_transfer(folder / "curve.toml", curve_in_use(view, grid, renderer().transfer_function(view)));
        again.opacity = 1;
        again.transfer = (folder / "curve.toml").string();
        load_transfer(again);
        const Image after = renderer().render(again);
        EXPECT_LE(test::largest_difference(before, after), 1) << preset;
        again.opacity = 0.25;
        EXPECT_GT(test::largest_difference(before, renderer().render(again)), 1) << preset;
    }
}

// ---- two axes -------------------------------------------------------------------------------------------------------

constexpr std::string_view head = R"([transfer]
version = 2
unit = "counts"
colours = [0, 0, 0, 0, 40, 1, 1, 1]
)";
constexpr std::string_view axis = "second = \"gradient\"\nsecond_range = [0, 2]\n";

class PlaneFile : public testing::Test {
  protected:
    TransferCurve read(const std::string& text) { return read_transfer(folder_.write("plane.toml", text)); }

    std::string refusal(const std::string& text) {
        const auto path = folder_.write("plane.toml", text);
        std::string line = error_of([&] { read_transfer(path); }).line;
        const std::size_t at = line.find(path.string());
        if (at != std::string::npos) line.replace(at, path.string().size(), "plane.toml");
        EXPECT_EQ(line.find('\n'), std::string::npos);
        return line;
    }

    TemporaryFolder folder_;
};

TransferCurve curve_of_all_kinds() {
    TransferPlane plane{SecondAxis::curvature, -0.25, 0.5, {}};
    plane.widgets.push_back({WidgetShape::box, {{10, 0.1}, {20, 0.4}}, 0, 0.25, {1, 0.5, 0}, 120});
    plane.widgets.push_back({WidgetShape::arc, {{5, 0.3}, {35, 0.3}}, 0.2, 0.5, {0, 0.5, 1}, 80});
    plane.widgets.push_back({WidgetShape::stroke, {{1, 0}, {2, 0.125}, {3, 0.1}}, 0.05, 1, {0, 1, 0}, 7});
    plane.widgets.push_back({WidgetShape::stroke, {{9, 0.3}}, 0.01, 0, {1, 1, 1}, 9});
    return {.nodes = {{0, 0, 0, 0, 0, 0.2}, {40, 1, 1, 1, 3, 0.9}}, .unit = "counts", .length_um = 55, .plane = plane};
}

TEST_F(PlaneFile, RoundTripKeepsCurve) {
    write_transfer(folder_ / "curve.toml", curve_of_all_kinds());
    EXPECT_EQ(read_transfer(folder_ / "curve.toml"), curve_of_all_kinds());
}

TEST_F(PlaneFile, OneAxisCurvesStayReadableByOlderPrograms) {
    TransferCurve curve = curve_of_all_kinds();
    curve.plane.reset();
    for (TransferNode& node : curve.nodes) node.roughness = no_roughness;
    const std::string text = toml_of(curve);
    EXPECT_THAT(text, HasSubstr("version = 1"));
    for (const char* key : {"second", "boxes", "roughness", "strokes"}) EXPECT_EQ(text.find(key), std::string::npos);
}

TEST_F(PlaneFile, WithoutExtinctionsOnlyWidgetsAreVisible) {
    const TransferCurve curve =
        read(std::string(head) + std::string(axis) + "boxes = [10, 20, 0.5, 1, 0.1, 1, 0, 0, 50]\n");
    for (const TransferNode& node : curve.nodes) EXPECT_EQ(node.extinction, 0);
    ASSERT_TRUE(curve.plane);
    EXPECT_EQ(curve.plane->second, SecondAxis::gradient);
    EXPECT_EQ(curve.plane->to, 2);
    EXPECT_EQ(curve.plane->widgets.at(0).points.at(1), (PlanePoint{20, 1}));
    EXPECT_THAT(refusal(std::string(head)), HasSubstr("plane.toml, transfer.extinctions: has 0 of at least 2 points"));
}

TEST_F(PlaneFile, RoughnessHasSeparatePoints) {
    const TransferCurve curve =
        read(std::string(head) + "extinctions = [0, 0, 40, 100]\nroughness = [10, 0.25, 20, 0.75]\n");
    ASSERT_EQ(curve.nodes.size(), 4u);
    EXPECT_DOUBLE_EQ(curve.nodes[0].roughness, 0.25);
    EXPECT_DOUBLE_EQ(curve.nodes[1].roughness, 0.25);
    EXPECT_DOUBLE_EQ(curve.nodes[2].roughness, 0.75);
    EXPECT_DOUBLE_EQ(curve.nodes[1].extinction, 25);
    EXPECT_EQ(refusal(std::string(head) + "extinctions = [0, 0, 40, 100]\nroughness = [10, 0.01, 20, 0.75]\n"),
              "plane.toml, transfer.roughness: 0.01 is not between 0.05 and 1, at the value 10 (correct the number)");
}

TEST_F(PlaneFile, RefusalsNameFileKeyAndRemedy) {
    std::string many = "boxes = [";
    for (int i = 0; i < 65; ++i) many += "10, 20, 0.5, 1, 0, 1, 0, 0, 50,";
    const std::string two(axis);
    const std::pair<std::string, const char*> cases[] = {
        {"second = \"slope\"\nsecond_range = [0, 2]", "transfer.second: "},
        {"second = \"gradient\"", "transfer.second_range: "},
        {"second = \"gradient\"\nsecond_range = [2, 2]", "transfer.second_range: "},
        {"extinctions = [0, 0, 40, 1]\nboxes = [1, 2, 3]", "transfer.second:"},
        {two + "boxes = [10, 20, 0.5]", "transfer.boxes: has 3 numbers, not a multiple of 9"},
        {two + "boxes = [20, 10, 0.5, 1, 0.1, 1, 0, 0, 50]", "write the lower limit first"},
        {two + "boxes = [10, 20, 0.5, 1, 1.5, 1, 0, 0, 50]", "transfer.boxes: a softness is 1.5"},
        {two + "boxes = [10, 20, 0.5, 1, 0, 2, 0, 0, 50]", "a colour component is 2"},
        {two + "boxes = [10, 20, 0.5, 1, 0, 1, 0, 0, -1]", "an extinction is -1"},
        {two + "boxes = [nan, 20, 0.5, 1, 0, 1, 0, 0, 1]", "transfer.boxes"},
        {two + "arcs = [10, 20, 0, 0.2, 0, 1, 0, 0, 1]", "a height other than 0"},
        {two + "arcs = [10, 20, 1, 0, 0, 1, 0, 0, 1]", "a width is 0"},
        {two + "strokes = [0.1, 0, 1, 1, 1, 5, 2, 10, 1]", "stroke 1 is incomplete"},
        {two + "strokes = [0.1, 0, 1, 1, 1, 5, 1e9, 10, 1]", "transfer.strokes"},
        {two + "strokes = [0, 0, 1, 1, 1, 5, 1, 10, 1]", "a width is 0"},
        {two + many + "]", "has 65 widgets, more than 64"}};
    for (const auto& [lines, part] : cases)
        EXPECT_THAT(refusal(std::string(head) + lines + "\n"), HasSubstr(part)) << lines;
}

TEST_F(PlaneFile, SessionsStoreCurve) {
    View view;
    view.transfer_curve = curve_of_all_kinds();
    const std::string session = session_toml({}, view, "");
    const RestoredState restored = session_of(toml_entries(session, "a session"), "a session");
    EXPECT_EQ(view_of(restored).transfer_curve, curve_of_all_kinds());
}

}  // namespace
}  // namespace echolux
