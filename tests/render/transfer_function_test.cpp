// Interpretation of a view for a volume: curve, range, colours and lengths.
#include "render/transfer_function.h"

#include <gmock/gmock.h>

#include <cmath>

#include "compute/plan/describe.h"
#include "render/slots/voxel_source.h"
#include "render/view/curve.h"
#include "rendering.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

const ValueRange percentiles{-50, 150};

const TransferCurve counts{.nodes = {{100, 1, 0, 0, 0}, {300, 0, 1, 0, 10}, {500, 0, 0, 1, 0}}, .unit = "counts"};

View with_file(const TransferCurve& curve) {
    View view;
    view.transfer = "curve.toml";
    view.transfer_curve = curve;
    return view;
}

VolumeGrid grid_of(const char* unit) {
    VolumeGrid grid = db_grid(8, 8, 8);
    grid.unit = unit;
    grid.quantity = std::string(unit) == "dB above noise floor" ? "db" : "";
    return grid;
}

TEST(TransferFunction, PresetsSpanTheirUnitOrPercentiles) {
    const auto range = [](const char* preset, const char* unit) {
        View view;
        view.preset = preset;
        return transfer_function(view, grid_of(unit), percentiles).range;
    };
    EXPECT_EQ(range("tissue", "dB above noise floor").low, 3);
    EXPECT_EQ(range("tissue", "dB above noise floor").high, 40);
    EXPECT_EQ(range("angiogram", "dB above noise floor").low, 6);
    EXPECT_EQ(range("bone", "HU").low, 100);
    EXPECT_EQ(range("ct-soft-tissue", "HU").high, 400);
    for (const char* preset : {"tissue", "bone", "mr", "gray"}) {
        EXPECT_EQ(range(preset, "counts").low, percentiles.low);
        EXPECT_EQ(range(preset, "counts").high, percentiles.high);
    }
}

TEST(TransferFunction, ValuesOfFileSetRange) {
    const TransferFunction function = transfer_function(with_file(counts), grid_of("counts"), percentiles);
    EXPECT_EQ(function.nodes, counts.nodes);
    EXPECT_EQ(function.range.low, 100);
    EXPECT_EQ(function.range.high, 500);
    EXPECT_DOUBLE_EQ(function.at(0.25).value, 200);
    EXPECT_DOUBLE_EQ(function.at(0.25).red, 0.5);
    EXPECT_DOUBLE_EQ(function.at(0.25).extinction, 5);
    EXPECT_EQ(transfer_function(with_file(counts), grid_of(""), percentiles).range.low, 100);
}

TEST(TransferFunction, RejectsFileOfOtherUnitWithoutRange) {
    View view = with_file(counts);
    EXPECT_EQ(refusal_of([&] { transfer_function(view, grid_of("HU"), percentiles); }).line(),
              "curve.toml, transfer.unit: its unit is counts, that of the volume HU (set view.low and "
              "view.high: the preset is then spread between them)");
    set(view, "low=0 high=4");
    const TransferFunction function = transfer_function(view, grid_of("HU"), percentiles);
    EXPECT_DOUBLE_EQ(function.nodes[1].value, 2);
}

TEST(TransferFunction, RelativeFileSpansPercentiles) {
    TransferCurve curve = counts;
    curve.is_relative = true;
    const TransferFunction function = transfer_function(with_file(curve), grid_of("HU"), percentiles);
    EXPECT_DOUBLE_EQ(function.nodes[0].value, -50);
    EXPECT_DOUBLE_EQ(function.nodes[1].value, 50);
    EXPECT_DOUBLE_EQ(function.nodes[2].value, 150);
}

TEST(TransferFunction, ColourMapReplacesOnlyColours) {
    View view;
    const VolumeGrid grid = grid_of("dB above noise floor");
    const TransferFunction plain = transfer_function(view, grid, percentiles);
    view.colour_map = "viridis";
    const ColourMap viridis = colour_map("viridis");
    const TransferFunction painted = transfer_function(view, grid, percentiles);
    EXPECT_EQ(painted.first_visible_level(), plain.first_visible_level());
    for (std::size_t i = 1; i < painted.nodes.size(); ++i) {
        EXPECT_LT(painted.nodes[i - 1].value, painted.nodes[i].value);
    }
    for (int i = 0; i <= 1000; ++i) {
        const double level = i / 1000.0;
        EXPECT_NEAR(painted.at(level).extinction, plain.at(level).extinction, 1e-9);
        const glm::dvec3 colour = colour_at(viridis, level);
        EXPECT_NEAR(painted.at(level).red, colour.r, 0.004);
        EXPECT_NEAR(painted.at(level).green, colour.g, 0.004);
        EXPECT_NEAR(painted.at(level).blue, colour.b, 0.004);
    }
}

TEST(TransferFunction, ZeroIsValidIsovalue) {
    View view;
    const TransferFunction function = transfer_function(view, grid_of("HU"), percentiles);
    EXPECT_EQ(isovalue_of(view, function), 50);
    view.isovalue = 0;
    EXPECT_EQ(isovalue_of(view, function), 0);
}

// Percentiles. For dB, voxels of zero power are left out.
ValueRange range_of(const std::string& quantity) {
    std::vector<float> values(1000, -175);
    for (std::size_t i = 0; i < values.size(); i += 5) values[i] = 0.05f * static_cast<float>(i);
    VolumeGrid grid{.depth = 100, .a_scans = 10, .b_scans = 1, .type = VoxelType::f32, .quantity = quantity};
    return voxels_in_memory(grid, values.data())->range();
}

TEST(AutomaticRange, ExcludesDecibelsOfZero) {
    EXPECT_NEAR(range_of("db").low, 0.5, 0.3);
    EXPECT_NEAR(range_of("db").high, 49.7, 0.3);
    EXPECT_EQ(range_of("").low, -175);
}

class Moment : public Rendering {
  protected:
    static constexpr std::int64_t edge = 24;

    // Shows a foreign volume with values from `low` to `low + 400`. Returns the chosen range.
    ValueRange show(double low, const std::optional<ValueRange>& chosen = {}) {
        VolumeGrid grid = db_grid(edge, edge, edge);
        grid.quantity = grid.unit = "";
        const auto moment = voxels(grid, [&, some = ball(grid, 12)](auto... at) { return low + 10 * some(at...); });
        const auto prepared = renderer().prepare(voxels_in_memory(grid, moment.data()), chosen);
        renderer().show(prepared);
        return fixed_range(*prepared);
    }
};

TEST_F(Moment, ThresholdsStayConstantOverTimeUnlessAutomatic) {
    View view;
    const ValueRange chosen = show(0);
    const ValueRange first = renderer().transfer_function(view).range;
    show(100, chosen);
    EXPECT_EQ(renderer().transfer_function(view).range.low, first.low);
    EXPECT_EQ(renderer().transfer_function(view).range.high, first.high);
    view.range = RangeSource::percentile;
    EXPECT_NEAR(renderer().transfer_function(view).range.low, first.low + 100, 1e-3);
    EXPECT_NEAR(renderer().transfer_function(view).range.high, first.high + 100, 1e-3);
    view.range = RangeSource::fixed;
    show(100);  // a new volume
    EXPECT_NEAR(renderer().transfer_function(view).range.low, first.low + 100, 1e-3);
}

TEST_F(Moment, PicturesUseKeptRange) {
    View view = sized_view(32, 32);
    show(100, show(0));
    const ValueRange kept = renderer().transfer_function(view).range;
    const Image shown = renderer().render(view);
    view.low = kept.low;
    view.high = kept.high;
    EXPECT_EQ(renderer().render(view).pixels, shown.pixels);
    view.low += 100;
    view.high += 100;
    EXPECT_NE(renderer().render(view).pixels, shown.pixels);
}

TEST_F(Moment, ExtinctionIsPerLengthForAnyDepthAndVoxels) {
    View view;
    set(view, "preset=tissue opacity_length_um=200 opacity=0.4 look=front projection=orthographic width=9 height=9");
    const double extinction = 12 * (22 - 17.8) / 8.14 * 3 + 12;  // tissue at 22 dB: from 12 to 48 over 8.14 dB
    for (const auto& [depth, b_scans, spacing] :
         {std::tuple{std::int64_t{40}, std::int64_t{30}, 2.0}, {std::int64_t{10}, std::int64_t{60}, 1.0}}) {
        VolumeGrid grid = db_grid(depth, 40, b_scans);
        grid.spacing_um = {spacing, spacing, spacing};
        renderer().set_volume(grid, voxels(grid, [](auto...) { return 22.0; }).data());
        const RayMeasure middle = renderer().measure(view)[4 * 9 + 4];
        EXPECT_NEAR(middle.path, 60, 1e-3);
        EXPECT_NEAR(std::log(middle.transmittance), -extinction * 0.4 * 60 / 200, 0.01 * extinction * 0.4 * 60 / 200);
    }
}

}  // namespace
}  // namespace echolux::test
