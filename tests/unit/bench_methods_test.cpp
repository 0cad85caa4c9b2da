// The figures of the benches of methods, several GPUs and papers, their targets, and their comparison with published
// figures, with made-up values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/papers.h"
#include "bench/rates.h"
#include "bench/targets.h"

namespace echolux {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

BenchReport report_of(const std::vector<std::pair<std::string, double>>& medians) {
    BenchReport report;
    for (const auto& [key, median] : medians) {
        report.figures.push_back({key, "meaning", "A-scans/s", {median, median, median, 3}, {}, {}});
    }
    return report;
}

std::vector<std::string> missed(const std::vector<Check>& targets) {
    std::vector<std::string> names;
    for (const Check& target : targets) {
        if (!target.passed()) names.push_back(target.what);
    }
    return names;
}

using Medians = std::vector<std::pair<std::string, double>>;
constexpr double set = 633600;  // A-scans of 11 volumes of 240 x 240
// In the order of the targets.
const Medians methods_at_the_bounds{{"ao-oct/832", set / 20e-3 * 1.0001},
                                    {"ao-oct.arriving/832", set / 30e-3 * 1.0001},
                                    {"defr/2048", 9.2e6},
                                    {"defr.fast/2048", 12e6},
                                    {"nufft/2048", 64e6},
                                    {"nufft.fast/2048", 100e6},
                                    {"compressive/2048", 2.4e6},
                                    {"compressive.fast/2048", 4e6},
                                    {"mnudft/2048", 2e6},
                                    {"mnudft.fast/2048", 3e6}};

TEST(BenchMethods, TargetsAreMetAtTheirBounds) {
    const auto targets = judged_methods(report_of(methods_at_the_bounds));
    EXPECT_THAT(missed(targets), ElementsAre());
    EXPECT_EQ(targets.size(), methods_at_the_bounds.size());
}

TEST(BenchMethods, EachTargetCanBeMissed) {
    for (std::size_t i = 0; i < methods_at_the_bounds.size(); ++i) {
        Medians slower = methods_at_the_bounds;
        slower[i].second *= 0.999;
        const auto targets = judged_methods(report_of(slower));
        EXPECT_THAT(missed(targets), ElementsAre(targets[i].what));
    }
    EXPECT_EQ(missed(judged_methods({})).size(), methods_at_the_bounds.size());
}

TEST(BenchScaling, IsJudgedForPresentGpus) {
    Medians medians;
    for (const std::string name : {"linear", "nufft", "defr"}) {
        for (const auto& [count, rate] : {std::pair{"1", 10.0}, {"2", 19.0}, {"4", 38.0}}) {
            medians.emplace_back("gpus." + name + "/" + count, rate);
        }
    }
    EXPECT_TRUE(judged_scaling(report_of(medians), 1).empty());
    EXPECT_EQ(judged_scaling(report_of(medians), 2).size(), 3U);
    EXPECT_EQ(judged_scaling(report_of(medians), 4).size(), 6U);
    EXPECT_THAT(missed(judged_scaling(report_of(medians), 4)), ElementsAre());
    medians[1].second = 18.9;
    medians[8].second = 37.9;
    EXPECT_THAT(missed(judged_scaling(report_of(medians), 4)), ElementsAre("2 GPUs, linear", "4 GPUs, defr"));
}

const BenchComparison& row(const std::vector<BenchComparison>& rows, const std::string& figure, const std::string& on) {
    const auto found = std::ranges::find_if(rows, [&](const BenchComparison& one) {
        return one.figure == figure && one.hardware.find(on) != std::string::npos;
    });
    if (found == rows.end()) throw std::runtime_error("no row of " + figure + " on " + on);
    return *found;
}

TEST(BenchPapers, ComparesWithPublishedFigures) {
    const BenchReport report = report_of({{"defr/10", 512e3}, {"ss-oct/240", 755536}, {"cs.fft/15", 1e6}});
    const auto rows = beside_the_papers(report, true);
    const BenchComparison& frame = row(rows, "defr/10", "GTX 580");  // 43.92 ms, here 1 ms
    EXPECT_DOUBLE_EQ(frame.published, 0.04392);
    EXPECT_DOUBLE_EQ(frame.ours, 1e-3);
    EXPECT_NEAR(frame.factor, 43.92, 1e-9);
    EXPECT_DOUBLE_EQ(row(rows, "ss-oct/240", "C1060").factor, 2);  // rates: higher is better
    EXPECT_NEAR(row(rows, "cs.fft/15", "GTX 580").factor, 47.2, 1e-9);
    EXPECT_EQ(row(rows, "cs.nufft/15", "GTX 580").factor, 0);  // not measured
}

// CPU figures have separate keys and are compared with published CPU figures.
TEST(BenchPapers, ProcessorsAreComparedWithProcessors) {
    const BenchReport on_gpu = report_of({{"defr/10", 512e3}, {"cpu.defr/10", 512}});
    EXPECT_NEAR(row(beside_the_papers(on_gpu, true), "cpu.defr/10", "CPU").factor, 3.2845, 1e-9);
    const BenchReport on_cpu = report_of({{"defr/10", 512}});
    EXPECT_NEAR(row(beside_the_papers(on_cpu, false), "defr/10", "CPU").factor, 3.2845, 1e-9);
    EXPECT_NEAR(row(beside_the_papers(on_cpu, false), "defr/10", "GTX").factor, 0.04392, 1e-9);
}

TEST(BenchPapers, ConvertsVoxelRatesToSecondsPerVolume) {
    const BenchReport report = report_of({{"register/rows.rate", 134217728 * 100.0}});  // 10 ms per volume
    const auto rows = beside_the_papers(report, true, published_tissue_figures());
    EXPECT_NEAR(row(rows, "register/rows.rate", "CUDA").ours, 0.01, 1e-12);
    EXPECT_NEAR(row(rows, "register/rows.rate", "CUDA").factor, 1060, 1e-6);
    EXPECT_EQ(row(rows, "segment/retina.rate", "CPU").factor, 0);  // not measured
}

TEST(BenchPapers, TablesShowRows) {
    BenchReport report = report_of({{"defr/10", 512e3}});
    report.published = beside_the_papers(report, true);
    EXPECT_THAT(markdown_of(report),
                HasSubstr("| Wang 2012 | 512 A-scans, 10 iterations, single | GeForce GTX 580 | 43.9 ms | 1.00 ms | "
                          "43.9 x | defr/10 |\n"));
    EXPECT_THAT(text_of(report), HasSubstr("not measured"));
    EXPECT_THAT(markdown_of(BenchReport{}), Not(HasSubstr("paper")));
}

TEST(BenchCase, AppliesChangesToShippedRecipe) {
    const BenchCase one{.key = "k", .meaning = "m", .recipe = "defr", .changes = {"defr.iterations=3"}};
    const BenchSize size{512, 8, 4, 2};
    const ReconstructionSpec spec = spec_of(one, size);
    EXPECT_EQ(spec.recipe.method, Method::defr);
    EXPECT_EQ(spec.recipe.upsample, 2);
    EXPECT_EQ(spec.defr.iterations, 3);
    EXPECT_EQ(spec.geometry.samples, 512);
    EXPECT_EQ(spec.block_b_scans, 2);
    EXPECT_NO_THROW(planned_grid(spec));
}

TEST(BenchCase, CostlyCasesAreSmallerOnCpu) {
    const BenchSize run{0, 256, 64, 8};
    const auto lines = [&](const BenchCase& one, bool gpu) { return size_of(one, run, gpu).lines(); };
    BenchCase one{.key = "k", .meaning = "m"};
    EXPECT_EQ(lines(one, false), run.lines());
    one.cost = 8;
    EXPECT_EQ(lines(one, true), run.lines());
    EXPECT_EQ(lines(one, false), run.lines() / 8);
    one.cost = 1e6;
    EXPECT_EQ(lines(one, false), 16);
    const BenchCase frame{.key = "k", .meaning = "m", .samples = 1024, .a_scans = 500, .block_b_scans = 1};
    EXPECT_EQ(size_of(frame, run, true).a_scans, 500);
    EXPECT_EQ(size_of(frame, run, true).b_scans, 32);
    const BenchCase volume{.key = "k", .meaning = "m", .a_scans = 24, .b_scans = 24, .block_b_scans = 6};
    EXPECT_EQ(lines(volume, true), 24 * 24);
    EXPECT_EQ(lines(volume, false), 24 * 24);
}

}  // namespace
}  // namespace echolux
