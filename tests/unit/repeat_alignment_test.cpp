// Alignment of repeats before their comparison: positions, the effect on vessels and static tissue, and reports of
// repeats that do not match.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "compute/backend.h"
#include "compute/error.h"
#include "compute/flow/flow_tables.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/reason.h"
#include "compute/reconstructor.h"
#include "compute/repeat_report.h"
#include "compute/steps/angiography.h"
#include "compute/steps/repeat_alignment.h"
#include "engine/offline/reconstruction.h"
#include "engine/validation/scenes.h"
#include "tests/support/error_of.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

FlowRecipe aligned_flow(double significance = 3) {
    FlowRecipe flow = with(FlowRecipe{}, "method=complex_decorrelation window_depth=3 window_lines=3 align=true");
    flow.significance = significance;
    return flow;
}

RepeatsScene small_scene(double motion_um) {
    return RepeatsScene{.b_scans = 4, .motion_um = motion_um};
}

double rms_error(const std::vector<RepeatReport>& reports, const std::vector<double>& truth, float RepeatReport::*found,
                 std::int64_t repeats) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        const std::size_t first = i - i % index(repeats);
        if (i == first || !reports[i].is_used()) continue;
        // A sample that moved by `truth` is found that far before its position in the reference.
        const double error = static_cast<double>(reports[i].*found) + truth[i] - truth[first];
        sum += error * error;
        count += 1;
    }
    return std::sqrt(sum / count);
}

TEST(AlignedRepeats, AreFoundWithinTwentiethOfSample) {
    const RepeatsScene scene = small_scene(3);
    const PaintedRepeats painted = painted_repeats(scene);
    std::vector<RepeatReport> reports;
    flow_of(scene, painted, aligned_flow(), &reports);
    ASSERT_EQ(reports.size(), 16U);
    EXPECT_LE(std::ranges::count_if(reports, [](const RepeatReport& one) { return !one.is_used(); }), 1);
    EXPECT_LT(rms_error(reports, painted.z, &RepeatReport::depth_rows, scene.repeats), 0.05);
    EXPECT_LT(rms_error(reports, painted.x, &RepeatReport::a_scans, scene.repeats), 0.05);
}

TEST(AlignedRepeats, ShowVesselsThroughMotion) {
    const PaintedRepeats still = painted_repeats(small_scene(0)), moving = painted_repeats(small_scene(1));
    const auto contrast = [](const PaintedRepeats& painted, const FlowRecipe& flow) {
        return contrast_of(painted, flow_of(small_scene(1), painted, flow));
    };
    FlowRecipe raw = with(aligned_flow(0), "method=decorrelation align=false");
    const VesselContrast at_rest = contrast(still, aligned_flow(0)), aligned = contrast(moving, aligned_flow(0));
    EXPECT_GT(at_rest.contrast, 14.8);
    EXPECT_GT(aligned.contrast, 0.9 * at_rest.contrast);
    EXPECT_GT(aligned.contrast, 10 * contrast(moving, raw).contrast);
    const VesselContrast shown_at_rest = contrast(still, aligned_flow()), shown = contrast(moving, aligned_flow());
    EXPECT_GT(shown.flowing, 0.9);
    EXPECT_LT(shown_at_rest.still, 0.025);
    EXPECT_LT(shown.still, shown_at_rest.still + 0.005);
}

// Methods that compare amplitudes are also applied after the shift.
TEST(AlignedRepeats, ImproveOtherAngiographyMethods) {
    const RepeatsScene scene = small_scene(1);
    const PaintedRepeats painted = painted_repeats(scene);
    FlowRecipe flow = aligned_flow();
    for (const FlowMethod method : {FlowMethod::decorrelation, FlowMethod::omag, FlowMethod::cdv}) {
        flow.method = method;
        flow.align = false;
        const double raw = contrast_of(painted, flow_of(scene, painted, flow)).contrast;
        flow.align = true;
        EXPECT_GT(contrast_of(painted, flow_of(scene, painted, flow)).contrast, 3 * raw) << static_cast<int>(method);
    }
}

// Replaces a repeat by other tissue (another seed).
void tear(const RepeatsScene& scene, PaintedRepeats& painted, std::int64_t b, std::int64_t repeat) {
    RepeatsScene other = scene;
    other.seed += 100;
    static const PaintedRepeats elsewhere = painted_repeats(other);
    const std::size_t line = painted.line(scene, b, repeat);
    std::copy_n(elsewhere.bins.begin() + static_cast<std::ptrdiff_t>(line), scene.a_scans * scene.depth,
                painted.bins.begin() + static_cast<std::ptrdiff_t>(line));
}

TEST(AlignedRepeats, ExcludeRepeatsWithoutMatch) {
    const RepeatsScene scene = small_scene(0);
    PaintedRepeats painted = painted_repeats(scene);
    tear(scene, painted, 0, 2);
    tear(scene, painted, 1, 0);
    for (const std::int64_t repeat : {0, 1, 2}) tear(scene, painted, 2, repeat);
    std::vector<RepeatReport> reports;
    const std::vector<float> flow = flow_of(scene, painted, aligned_flow(), &reports);
    const auto reason = [&](std::size_t b, std::size_t repeat) { return reports[4 * b + repeat].reason; };
    EXPECT_EQ(reason(0, 2), Reason::weak_match);
    EXPECT_EQ(reason(1, 0), Reason::weak_match);  // the first repeat has no priority
    for (const std::size_t kept : {1U, 2U, 3U}) EXPECT_EQ(reason(1, kept), Reason::ok);
    EXPECT_EQ(reason(3, 3), Reason::ok);
    const VesselContrast shown = contrast_of(painted, flow);
    EXPECT_LT(shown.still, 0.03);
    const std::string said = left_out_of(reports, scene.repeats, true);
    EXPECT_NE(said.find("weak_match"), std::string::npos) << said;
}

TEST(AlignedRepeats, AreTooFewWithoutTwoMatches) {
    RepeatsScene scene = small_scene(0);
    scene.repeats = 2;
    PaintedRepeats painted = painted_repeats(scene);
    RepeatsScene other = scene;
    other.seed = 77;
    const PaintedRepeats elsewhere = painted_repeats(other);
    const std::size_t line = painted.line(scene, 1, 1);
    std::copy_n(elsewhere.bins.begin() + static_cast<std::ptrdiff_t>(line), scene.a_scans * scene.depth,
                painted.bins.begin() + static_cast<std::ptrdiff_t>(line));
    std::vector<RepeatReport> reports;
    const std::vector<float> flow = flow_of(scene, painted, aligned_flow(0), &reports);
    EXPECT_EQ(reports[2].reason, Reason::too_few);
    EXPECT_EQ(reports[3].reason, Reason::weak_match);
    const auto b_scan = static_cast<std::ptrdiff_t>(scene.a_scans * scene.depth);
    const auto is_shown = [](float value) { return value > 0; };
    EXPECT_EQ(std::count_if(flow.begin() + b_scan, flow.begin() + 2 * b_scan, is_shown), 0);
    EXPECT_GT(std::count_if(flow.begin(), flow.begin() + b_scan, is_shown), 1000);
}

TEST(AlignedRepeats, ShowNoFlowInNoise) {
    RepeatsScene scene = small_scene(1);
    PaintedRepeats painted = painted_repeats(scene);
    std::mt19937 random(5);
    std::normal_distribution<float> noise(0, 0.1F / std::sqrt(2.0F));
    for (auto& bin : painted.bins) bin = {noise(random), noise(random)};
    std::vector<RepeatReport> reports;
    const std::vector<float> flow = flow_of(scene, painted, aligned_flow(), &reports);
    EXPECT_EQ(std::ranges::count_if(flow, [](float value) { return value != 0; }), 0);
    for (const RepeatReport& one : reports) EXPECT_FALSE(one.is_used());
}

TEST(AlignedRepeats, ExcludeShiftsBeyondRange) {
    RepeatsScene scene = small_scene(6);
    FlowRecipe flow = aligned_flow();
    flow.align_depth = 2;
    const PaintedRepeats painted = painted_repeats(scene);
    std::vector<RepeatReport> reports;
    flow_of(scene, painted, flow, &reports);
    for (std::size_t i = 0; i < reports.size(); ++i) {
        if (!reports[i].is_used()) continue;
        EXPECT_LT(std::abs(reports[i].depth_rows), 2) << i;
        EXPECT_LT(std::abs(reports[i].a_scans), 8) << i;
    }
    EXPECT_GT(std::ranges::count_if(reports, [](const RepeatReport& one) { return !one.is_used(); }), 3);
}

// The bits do not depend on the number of threads.
TEST(AlignedRepeats, ChangeNoBitWithThreads) {
    const RepeatsScene scene = small_scene(1);
    const PaintedRepeats painted = painted_repeats(scene);
    set_thread_count(1);
    const std::vector<float> one = flow_of(scene, painted, aligned_flow());
    set_thread_count(3);
    EXPECT_EQ(flow_of(scene, painted, aligned_flow()), one);
    set_thread_count(0);
}

// ---- meaning of decorrelation ---------------------------------------------------------------------------------------

// Model: noise makes static tissue decorrelate by 1 / (1 + SNR) for any SNR.
TEST(ComplexDecorrelation, MatchesNoiseModelForStaticTissue) {
    std::mt19937 random(3);
    std::normal_distribution<float> normal(0, std::sqrt(0.5F));
    const auto field = [&] { return Phasor{normal(random), normal(random)}; };
    for (const double snr_db : {3.0, 10.0, 20.0, 30.0}) {
        const auto noise = static_cast<float>(std::pow(10, -snr_db / 20));
        PhaseStep sum;
        for (int voxel = 0; voxel < 20'000; ++voxel) {
            const Phasor tissue = field();
            const auto seen = [&] {
                const Phasor n = field();
                return Phasor{tissue.re + noise * n.re, tissue.im + noise * n.im};
            };
            sum.add(phase_step(seen(), seen()));
        }
        const NoisyDecorrelation found = DecorrelationOf{noise * noise}(sum.times(1.0F / 20'000));
        const double expected = 1 / (1 + std::pow(10, snr_db / 10));
        EXPECT_NEAR(static_cast<double>(found.value), expected, 0.05 * expected + 0.0005) << snr_db;
        EXPECT_NEAR(static_cast<double>(found.noise), expected, 0.05 * expected) << snr_db;
    }
}

TEST(ComplexDecorrelation, IsHiddenIfExplainedByNoise) {
    const DecorrelationCode code{0.1F, 1.5F, 0};
    EXPECT_EQ(code({0.024F, 0.01F}), 0);  // less than 0.01 + 1.5 * 0.01
    EXPECT_EQ(code({0.026F, 0.01F}), Half{}(0.026F));
    EXPECT_EQ(code({0.9F, 0.11F}), 0);  // too dark
    const DecorrelationCode moved{0.1F, 1.5F, 0.2F};
    EXPECT_EQ(moved({0.36F, 0.01F}), 0);  // (0.36 - 0.2) / 0.8 = 0.2 < 0.01 + 1.5 * 0.21
    EXPECT_EQ(moved({0.6F, 0.01F}), Half{}(1 - 0.4F / 0.8F));
}

TEST(ComplexDecorrelation, UsesMedianOfBScan) {
    std::vector<std::uint32_t> counts(BulkDecorrelation::bins);
    EXPECT_EQ(BulkDecorrelation::median(counts.data()), 0);
    for (int i = 0; i < 101; ++i) {
        const float value = 0.2F + 0.002F * static_cast<float>(i);  // median 0.3
        ++counts[static_cast<std::size_t>(BulkDecorrelation::bin_of({value, 0}))];
    }
    EXPECT_NEAR(BulkDecorrelation::median(counts.data()), 0.3F, 0.003F);
    EXPECT_EQ(BulkDecorrelation::bin_of({0.5F, 0.2F}), -1);  // too dark
    EXPECT_EQ(BulkDecorrelation::bin_of({0.01F, 0.02F}), 0);
    EXPECT_EQ(BulkDecorrelation::bin_of({1, 0}), BulkDecorrelation::bins - 1);
}

// ---- subsample shifts -----------------------------------------------------------------------------------------------

TEST(ShiftTaps, ShiftBandLimitedSignals) {
    using std::numbers::pi;
    for (const double turns : {0.0, 0.25, 0.5}) {
        for (const double by : {0.0, 0.3, -0.5, 2.75, -3.0}) {
            const ShiftTaps taps(by, turns);
            for (const double frequency : {-0.25, 0.0, 0.1, 0.3}) {  // cycles per sample, relative to the carrier
                const auto wave = [&](double z) { return std::polar(1.0, 2 * pi * (frequency - turns) * z); };
                std::complex<double> found;
                for (int n = 0; n < ShiftTaps::count; ++n) {
                    const std::complex<double> tap{static_cast<double>(taps.tap[n].re),
                                                   static_cast<double>(taps.tap[n].im)};
                    found += tap * wave(static_cast<double>(taps.first + n));
                }
                EXPECT_NEAR(std::abs(found - wave(by)), 0, 0.012) << turns << " " << by << " " << frequency;
            }
        }
    }
}

// ---- invalid plans --------------------------------------------------------------------------------------------------

void expect_refused(FlowRecipe flow, std::int64_t repeats, const char* key) {
    RepeatsScene scene;
    ReconstructionSpec spec = spec_of(scene, flow);
    spec.geometry.b_repeats = repeats;
    EXPECT_EQ(error_of([&] { planned_flow_grid(spec); }).where, key);
}

// Amplitudes do not reveal how much of a B-scan decorrelates as a whole.
TEST(AlignedRepeats, OnlyComplexDataRevealsBulkDecorrelation) {
    const RepeatsScene scene = small_scene(1);
    const PaintedRepeats painted = painted_repeats(scene);
    FlowRecipe amplitudes = aligned_flow();
    amplitudes.method = FlowMethod::decorrelation;
    std::vector<RepeatReport> of_complex, of_amplitudes;
    flow_of(scene, painted, aligned_flow(), &of_complex);
    flow_of(scene, painted, amplitudes, &of_amplitudes);
    EXPECT_FALSE(std::isnan(of_complex.at(0).bulk_decorrelation));
    EXPECT_TRUE(std::isnan(of_amplitudes.at(0).bulk_decorrelation));
}

TEST(AlignedRepeats, NeedRepeatsOfBScansAndAngiography) {
    expect_refused(aligned_flow(), 1, "flow.method");
    FlowRecipe doppler = aligned_flow();
    doppler.method = FlowMethod::doppler;
    expect_refused(doppler, 4, "flow.align");
    RepeatsScene scene;
    ReconstructionSpec spec = with(spec_of(scene, aligned_flow()), "b_repeats=1 a_repeats=4");
    EXPECT_THROW(planned_flow_grid(spec), Error);
}

TEST(AlignedRepeats, AreWrittenAsTable) {
    VolumeGrid grid;
    grid.spacing_um = {1.5, 5, 5};
    const std::vector<RepeatReport> reports{{0, 0, 1, 0.01F, Reason::ok},
                                            {-2, 0.5F, 0.9F, 0.01F, Reason::ok},
                                            {0, 0, 1, 0, Reason::too_few},
                                            {3, 1, 0.2F, 0, Reason::weak_match}};
    const std::string rows = repeats_table_rows({7, 20, 2, reports}, grid);
    EXPECT_EQ(rows,
              "7,20,0,0.0000,0.0000,0.0000,0.0000,1.0000,0.0100,ok\n"
              "7,20,1,-2.0000,0.5000,-3.0000,2.5000,0.9000,0.0100,ok\n"
              "7,21,0,,,,,1.0000,0.0000,too_few\n"
              "7,21,1,,,,,0.2000,0.0000,weak_match\n");
    EXPECT_EQ(left_out_of(reports, 2, true),
              "flow.align: 2 of 4 repeats match no other and are discarded (1 too_few, 1 weak_match)");
    EXPECT_EQ(left_out_of({}, 2, true), "");
}

}  // namespace
}  // namespace echolux
