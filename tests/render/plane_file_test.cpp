// Transfer functions over two axes, and roughness, in files: written, read, and the text of every refusal.
#include <gmock/gmock.h>

#include "../unit/temporary_folder.h"
#include "app/settings/session_text.h"
#include "app/transfer/transfer_file.h"

namespace echolux {
namespace {

using testing::HasSubstr;

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
