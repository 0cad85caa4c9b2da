// The computations behind controls: positions of numbers, formatting of values, editing of curves.
#include <gtest/gtest.h>

#include <cmath>

#include "compute/plan/describe.h"
#include "engine/scan/scan.h"
#include "ui/panels/controls.h"
#include "ui/panels/curve_editor.h"
#include "ui/panels/measuring.h"
#include "ui/panels/value_text.h"
#include "ui/panels/volume_facts.h"
#include "ui/workspace/workspace.h"

namespace echolux {
namespace {

FieldText number_field(std::string_view name, std::string_view unit, double low, double high) {
    return {name, unit, "", Effect::view, low, high, {}};
}

// ---- numbers along a control

TEST(NumberScale, EndsAreAtEnds) {
    for (const ValueRange reach :
         {ValueRange{0, 1}, ValueRange{-5, 3}, ValueRange{0.01, 100}, ValueRange{0, 1e5}, ValueRange{-1e6, 1e6}}) {
        const NumberScale scale = scale_for(reach, false);
        EXPECT_NEAR(scale.place_of(reach.low), 0, 1e-12) << reach.low;
        EXPECT_NEAR(scale.place_of(reach.high), 1, 1e-12) << reach.high;
        EXPECT_EQ(scale.value_at(-0.5), reach.low);
        EXPECT_EQ(scale.value_at(1.5), reach.high);
    }
}

TEST(NumberScale, UsesDecadesForWideRanges) {
    const NumberScale scale = scale_for({0.01, 100}, false);
    EXPECT_EQ(scale.kind(), NumberScale::Kind::decades);
    EXPECT_NEAR(scale.place_of(1), 0.5, 1e-12);
    EXPECT_NEAR(scale.place_of(10), 0.75, 1e-12);
    EXPECT_NEAR(scale.value_at(0.25), 0.1, 1e-3);
    EXPECT_EQ(scale_for({1, 120}, false).kind(), NumberScale::Kind::even);
}

TEST(NumberScale, IsLinearNearZeroAndLogarithmicFarAway) {
    const NumberScale scale = scale_for({-1e5, 1e5}, false);
    EXPECT_EQ(scale.kind(), NumberScale::Kind::signed_decades);
    EXPECT_NEAR(scale.place_of(0), 0.5, 1e-12);
    EXPECT_NEAR(scale.place_of(7) + scale.place_of(-7), 1, 1e-12);
    const double near_zero = scale.place_of(2) - scale.place_of(1), farther = scale.place_of(3) - scale.place_of(2);
    EXPECT_NEAR(near_zero, farther, 1e-3 * near_zero);
    const double one_decade = scale.place_of(1e4) - scale.place_of(1e3);
    EXPECT_NEAR(scale.place_of(1e5) - scale.place_of(1e4), one_decade, 0.05 * one_decade);
}

TEST(NumberScale, DraggingGivesIncreasingRoundNumbers) {
    const NumberScale scale = scale_for({0, 50}, false);
    double before = -1;
    for (int i = 0; i <= 400; ++i) {
        const double value = scale.value_at(i / 400.0);
        EXPECT_GE(value, before);
        EXPECT_NEAR(value * 2, std::round(value * 2), 1e-9) << "a half is the step of 0 to 50";
        before = value;
    }
    EXPECT_EQ(scale_for({1, 64}, true).value_at(0.5), 33) << "32.5, whole";
}

TEST(NumberScale, ShiftGivesFinerSteps) {
    const NumberScale scale = scale_for({0, 100}, false);
    EXPECT_NE(scale.value_at(0.12345), scale.value_at(0.12345, 0.1));
    EXPECT_NEAR(scale.value_at(0.12345, 0.1), 12.345, 0.05 + 1e-9) << "to a tenth of a step, which is 1";
}

TEST(NumberScale, ReachIsInRangeAndIncludesValue) {
    const FieldText field = number_field("opacity", "", 0, 1000);
    EXPECT_EQ(fitting(field, {-5, 10}, 2), (ValueRange{0, 10}));
    EXPECT_EQ(fitting(field, {0, 10}, 700), (ValueRange{0, 700}));
}

// ---- texts

TEST(ValueText, NamesLoseUnderscoresAndTheirUnit) {
    EXPECT_EQ(label_of(number_field("line_rate_hz", "Hz", 0, 1)), "line rate");
    EXPECT_EQ(label_of(number_field("gdd_fs2", "fs^2", 0, 1)), "GDD");
    EXPECT_EQ(label_of(number_field("threshold_db", "dB", 0, 1)), "threshold");
    EXPECT_EQ(label_of(number_field("point_size", "voxels", 0, 1)), "point size");
    EXPECT_EQ(label_of(number_field("um", "um", 0, 1)), "um") << "never nothing";
    FieldText described = number_field("shown", "", 0, 1);
    described.label = "show filtered";
    EXPECT_EQ(label_of(described), "show filtered");
}

TEST(ValueText, KeysBecomeWords) {
    EXPECT_EQ(label_of(number_field("search_a_scans", "A-scans", 0, 1)), "search A-scans");
    EXPECT_EQ(label_of(number_field("min_snr_db", "dB", 0, 1)), "min SNR");
    EXPECT_EQ(key_text("b_scan"), "B-scan");
    EXPECT_EQ(key_text("octa_scans"), "OCTA scans");
    EXPECT_EQ(key_text("k_positions"), "k positions");
    EXPECT_EQ(title_of("b_scans"), "B-scans");
    EXPECT_EQ(title_of("k_map"), "k map") << "a symbol";
    EXPECT_EQ(title_of("db_per_mm"), "dB per mm");
    EXPECT_EQ(title_of("rpe_fwhm"), "RPE FWHM");
    EXPECT_EQ(title_of("calibrate_k"), "Calibrate k");
}

TEST(ValueText, ChoicesAreSpeltOut) {
    EXPECT_EQ(choice_text("db"), "dB");
    EXPECT_EQ(choice_text("a-scans"), "A-scans");
    EXPECT_EQ(choice_text("nufft"), "NUFFT");
    EXPECT_EQ(choice_text("power_doppler"), "Power Doppler");
    EXPECT_EQ(choice_text("complex_decorrelation"), "Complex decorrelation");
    EXPECT_EQ(choice_text("mip"), "Maximum (MIP)");
    EXPECT_EQ(choice_text("u16"), "u16");
    EXPECT_EQ(choice_text("mr"), "MR");
    EXPECT_EQ(choice_text("oct-gray"), "OCT gray");
    EXPECT_EQ(choice_text("ct-soft-tissue"), "CT soft tissue");
    EXPECT_EQ(choice_text("depth-below-surface"), "Depth below surface");
    EXPECT_EQ(choice_text(""), "");
}

TEST(ValueText, DetailsInParenthesesAreLeftOut) {
    EXPECT_EQ(without_parentheses("cpu (2 threads, FFTW) uploaded to llvmpipe (LLVM 15)"), "cpu uploaded to llvmpipe");
    EXPECT_EQ(without_parentheses("cuda"), "cuda");
    EXPECT_EQ(without_parentheses("cpu (2 threads"), "cpu (2 threads");
}

TEST(ValueText, NumbersHaveSignificantDigits) {
    EXPECT_EQ(number_text(1.25, 0.01), "1.25");
    EXPECT_EQ(number_text(-0.001, 0.1), "0.0") << "no minus before zero";
    EXPECT_EQ(number_text(40, 1), "40");
    EXPECT_EQ(short_number(12345.678), "12 346");
    EXPECT_EQ(short_number(0.012345), "0.0123");
    EXPECT_EQ(short_number(-4.5), "-4.5");
    EXPECT_EQ(short_number(std::nan("")), "–");  // a curve without a value
    EXPECT_EQ(short_number(0), "0");
    EXPECT_EQ(count_text(-1234567), "-1 234 567");
    EXPECT_EQ(count_text(999), "999");
}

TEST(ValueText, OnlyNumbersAreTyped) {
    EXPECT_EQ(typed_number(" -2.5e3 "), -2500);
    EXPECT_EQ(typed_number("7"), 7);
    for (const char* text : {"", " ", "7 um", "1,5", "inf", "nan", "x"})
        EXPECT_EQ(typed_number(text), std::nullopt) << text;
}

TEST(ValueText, BytesRatesAndTimes) {
    EXPECT_EQ(bytes_text(512), "512 B");
    EXPECT_EQ(bytes_text(1.4e9), "1.40 GB");
    EXPECT_EQ(bytes_text(999.9e6), "1.00 GB");
    EXPECT_EQ(rate_text(76800), "76.8 k");
    EXPECT_EQ(duration_text(7.9), "0:07");
    EXPECT_EQ(duration_text(3723), "1:02:03");
    EXPECT_EQ(short_time_text(0.0123), "12.3 ms");
    EXPECT_EQ(unit_text("um"), "µm");
}

// ---- hints

TEST(ControlHints, OfferedValuesAreValid) {
    View view;
    WindowSettings window;
    SourceSettings source;
    TissueSettings tissue;
    Scan scan;
    Settings settings;
    settings.bind("view", view);
    settings.bind("window", window);
    settings.bind("source", source);
    bind(settings, tissue);
    bind(settings, scan);
    int specials = 0, soft_ranges = 0;
    for (const BoundField& field : settings.fields()) {
        const auto& control = field.control;
        EXPECT_TRUE(!control.only_odd || std::get<std::int64_t>(field.default_value) % 2 == 1) << field.key();
        if (control.special_value) {
            ++specials;
            EXPECT_NO_THROW(checked(field, 0.0, *control.special_value, field.key()));
            EXPECT_FALSE(control.special_text.empty()) << field.key();
        }
        if (control.soft_range) {
            ++soft_ranges;
            EXPECT_LT(control.soft_range->low, control.soft_range->high) << field.key();
            EXPECT_NO_THROW(checked(field, 0.0, control.soft_range->low, field.key()));
            EXPECT_NO_THROW(checked(field, 0.0, control.soft_range->high, field.key()));
        }
        for (const std::int64_t number : control.only) EXPECT_NO_THROW(checked(field, number, number, field.key()));
        const bool is_text = std::holds_alternative<std::string>(field.default_value);
        EXPECT_TRUE(is_text || control.path == PathKind::none) << field.key();
    }
    EXPECT_GT(specials, 20);
    EXPECT_GT(soft_ranges, 40);
}

TEST(ControlHints, DragRangeCoversValuesOfVolume) {
    VolumeFacts facts{.values = ValueRange{10, 50}, .range_in_use = ValueRange{12, 40}};
    const FieldText field = number_field("low", "value", -1e12, 1e12);
    const ControlHint hint = hint_for("view.low", field, facts);
    ASSERT_TRUE(hint.soft_range);
    EXPECT_EQ(hint.soft_range->low, 0);
    EXPECT_NEAR(hint.soft_range->high, 39.6, 1e-9) << "below what is high now";
    EXPECT_NEAR(hint_for("view.high", field, facts).soft_range->low, 12.4, 1e-9);
    EXPECT_EQ(hint_for("view.isovalue", field, facts).soft_range, (ValueRange{0, 60}));
    EXPECT_LT(hint_for("view.low", field, {}).soft_range->high, 10) << "nothing is known yet";
    EXPECT_EQ(hint.special_text, "auto");
    EXPECT_EQ(value_in_effect("view.low", facts), 12);
    EXPECT_EQ(value_in_effect("view.isovalue", facts), 26);
    EXPECT_EQ(value_in_effect("view.zoom", facts), std::nullopt);
}

TEST(ControlHints, PlacesAreDraggedThroughVolume) {
    VolumeFacts facts{.first_depth_um = 100, .extents_um = {800, 3000, 2000}};
    const FieldText offset = number_field("plane_offset_um", "um", -1e9, 1e9);
    EXPECT_EQ(hint_for("view.plane_offset_um", offset, facts).soft_range, (ValueRange{-1500, 1500}));
    EXPECT_EQ(hint_for("view.top_um", offset, facts).soft_range, (ValueRange{100, 900}));
    EXPECT_EQ(hint_for("view.slab_um", number_field("slab_um", "um", 0, 1e9), facts).soft_range, (ValueRange{0, 3000}));
}

// ---- curves

TransferCurve ramp() {
    return {.nodes = {{0, 0, 0, 0, 0}, {10, 0.5, 0.2, 0.1, 40}, {20, 1, 1, 1, 100}}};
}

bool ascends(const TransferCurve& curve) {
    for (std::size_t i = 1; i < curve.nodes.size(); ++i) {
        if (curve.nodes[i].value <= curve.nodes[i - 1].value) return false;
    }
    return true;
}

TEST(CurveEditing, AddedPointKeepsCurve) {
    const PointAdded added = with_point(ramp(), 5);
    ASSERT_EQ(added.point, 1u);
    ASSERT_EQ(added.curve.nodes.size(), 4u);
    const TransferNode& node = added.curve.nodes[1];
    EXPECT_DOUBLE_EQ(node.value, 5);
    EXPECT_DOUBLE_EQ(node.extinction, 20);
    EXPECT_DOUBLE_EQ(node.red, 0.25);
    EXPECT_DOUBLE_EQ(node.green, 0.1);
}

TEST(CurveEditing, PointsAreAddedBeyondEnds) {
    const PointAdded below = with_point(ramp(), -4), above = with_point(ramp(), 30);
    EXPECT_EQ(below.point, 0u);
    EXPECT_DOUBLE_EQ(below.curve.nodes.front().extinction, 0);
    EXPECT_EQ(above.point, 3u);
    EXPECT_DOUBLE_EQ(above.curve.nodes.back().extinction, 100);
    EXPECT_TRUE(ascends(below.curve) && ascends(above.curve));
}

TEST(CurveEditing, PointStaysBetweenNeighbours) {
    for (const double wanted : {-100.0, 0.0, 12.0, 20.0, 1e6}) {
        const TransferCurve moved = with_point_moved(ramp(), 1, wanted, -3);
        EXPECT_TRUE(ascends(moved)) << wanted;
        EXPECT_EQ(moved.nodes[1].extinction, 0);
        EXPECT_EQ(moved.nodes[0], ramp().nodes[0]);
        EXPECT_EQ(moved.nodes[2], ramp().nodes[2]);
    }
    EXPECT_EQ(with_point_moved(ramp(), 2, 35, 7).nodes[2].value, 35) << "ends move out";
    EXPECT_TRUE(ascends(with_point(ramp(), 10).curve)) << "on a point";
}

TEST(CurveEditing, KeepsAtLeastTwoPoints) {
    TransferCurve curve = without_point(ramp(), 0);
    ASSERT_EQ(curve.nodes.size(), 2u);
    EXPECT_EQ(curve.nodes[0].value, 10);
    EXPECT_EQ(without_point(curve, 0).nodes.size(), 2u);
}

TEST(CurveEditing, ExtinctionsAndHeightsAreInverse) {
    const ExtinctionScale scale(ramp().nodes);
    EXPECT_DOUBLE_EQ(scale.height_of(0), 0);
    for (const double extinction : {0.1, 3.0, 40.0, 240.0}) {
        EXPECT_NEAR(scale.extinction_at(scale.height_of(extinction)), extinction, 1e-9 * extinction);
        EXPECT_LT(scale.height_of(extinction), 1);
    }
    const ExtinctionScale dense({{0, 0, 0, 0, 0}, {1, 1, 1, 1, 5000}});
    EXPECT_LT(dense.height_of(5000), 1) << "what is drawn by hand never leaves the picture";
}

TEST(CurveEditing, SelectsNearestPoint) {
    const std::vector<PicturePoint> places{{0, 0}, {10, 0}, {14, 3}};
    EXPECT_EQ(nearest_point(places, {11, 1}, 5), 1u);
    EXPECT_EQ(nearest_point(places, {13, 2}, 5), 2u);
    EXPECT_EQ(nearest_point(places, {30, 30}, 5), std::nullopt);
}

TEST(CurveEditing, ZoomKeepsValueUnderPointer) {
    const ValueRange whole{0, 100};
    const ValueRange closer = zoomed(whole, whole, 25, 2);
    EXPECT_NEAR(closer.high - closer.low, 50, 1e-9);
    EXPECT_NEAR((25 - closer.low) / (closer.high - closer.low), 0.25, 1e-9);
    EXPECT_EQ(zoomed(closer, whole, 25, 0.1), whole) << "never beyond all";
    EXPECT_EQ(panned(closer, whole, 1e6).high, 100);
    EXPECT_NEAR(panned(closer, whole, 10).low, closer.low + 10, 1e-9);
}

TEST(CurveEditing, AxisMovesOnlyIfNecessary) {
    EXPECT_EQ(steady({0, 100}, {5, 95}), (ValueRange{0, 100}));
    EXPECT_EQ(steady({0, 100}, {5, 101}), (ValueRange{5, 101}));
    EXPECT_EQ(steady({0, 100}, {40, 60}), (ValueRange{40, 60}));
    EXPECT_EQ(steady({0, 0}, {40, 60}), (ValueRange{40, 60})) << "none before";
}

TEST(CurveEditing, ShowsHistogramsAtAnyZoom) {
    Histogram histogram{.low = 0, .high = 4, .counts = {0, 10, 1000, 0}};
    const std::vector<float> all = histogram_heights(histogram, {0, 4}, 4);
    EXPECT_EQ(all[0], 0);
    EXPECT_FLOAT_EQ(all[1], static_cast<float>(std::log1p(10.0) / std::log1p(1000.0)));
    EXPECT_FLOAT_EQ(all[2], 1);
    EXPECT_FLOAT_EQ(histogram_heights(histogram, {0, 4}, 2)[1], 1) << "peaks are not lost between columns";
    for (const float height : histogram_heights(histogram, {1.2, 1.8}, 7)) EXPECT_FLOAT_EQ(height, all[1]);
    EXPECT_EQ(histogram_heights(histogram, {-8, -4}, 3), std::vector<float>(3));
}

// ---- measurements

// The three numbers of a position share one unit, that of the longest.
TEST(Measured, CoordinatesShareOneUnit) {
    const PositionText place = place_text({452, 1200, 0.4}, true);
    EXPECT_EQ(place.numbers, (std::array<std::string, 3>{"0.452", "1.200", "0.000"}));
    EXPECT_EQ(place.unit, "mm");
    EXPECT_EQ(place_text({1, 2, 108264}, true).unit, "cm");
    EXPECT_EQ(place_text({1, 2, 3}, true).unit, "µm");
    EXPECT_EQ(place_text({1, 2, 3}, false).unit, "voxels");
}

TEST(Measured, LengthsAnglesAndTheirTable) {
    const std::vector<double> distances{0, 0, 0, 3, 4, 12}, angles{1, 0, 0, 0, 0, 0, 0, 0, 2};
    EXPECT_DOUBLE_EQ(length_of(distances), 13);
    EXPECT_NEAR(angle_deg_of(angles), 90, 1e-12);
    EXPECT_EQ(angle_deg_of(std::vector<double>(9)), 0) << "no legs";
    EXPECT_EQ(measurements_csv(distances, angles, "um"),
              "kind,value,unit,depth_1,a_1,b_1,depth_2,a_2,b_2,depth_3,a_3,b_3\n"
              "distance,13,um,0,0,0,3,4,12\n"
              "angle,90,deg,1,0,0,0,0,0,0,0,2\n");
}

}  // namespace
}  // namespace echolux
