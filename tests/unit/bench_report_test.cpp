// The report of `echolux bench`, with made-up figures: spreads, formatted amounts, tables, targets, and the exact keys
// of the JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "bench/papers.h"
#include "bench/rates.h"
#include "bench/report.h"
#include "bench/spectra.h"
#include "bench/targets.h"
#include "compute/error.h"
#include "tests/support/error_of.h"

namespace echolux {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Medians = std::vector<std::pair<std::string, double>>;

BenchFigure measured(const std::string& key, const std::string& unit, double median) {
    return {key, "meaning of " + key, unit, {median, median * 0.95, median * 1.02, 15}, {}, {}};
}

// A report in which every target is only just met.
BenchReport report_at_the_bounds() {
    BenchReport report{.machine = {"Processor", 8, "cuda (GPU, fused)", "a remark", "580.1", "textures"},
                       .a_scans = 512,
                       .b_scans = 512,
                       .block_b_scans = 16,
                       .ceilings = {measured("link.to_device", "B/s", 4096e7)}};
    report.figures = {
        measured("separate/2048", "A-scans/s", 72e6),
        measured("nudft/2048", "A-scans/s", 45e6),
        measured("texture/2048", "A-scans/s", 180e6),
        measured("pinned/2048", "A-scans/s", 9.5e6),
        measured("rendering/2048", "A-scans/s", 9e6),
        measured("pictures/2048", "pictures/s", 59),
        measured("latency/2048", "s", 1.2e-3),
        measured("packed12/2048", "A-scans/s", 12.5e6),
        measured("doppler/2048", "A-scans/s", 117e6),
        measured("linear/2048", "A-scans/s", 150e6),
        measured("texture.fast/2048", "A-scans/s", 270e6),
        measured("real/2048", "A-scans/s", 240e6),
        measured("block/512", "s", 60e-6),
    };
    for (const std::int64_t samples : other_lengths) {
        constexpr double just_above = 90.00001e6;
        report.figures.push_back(measured("linear/" + std::to_string(samples), "A-scans/s",
                                          just_above * 2048 / static_cast<double>(samples)));
    }
    report.figures[2].ratios = {{"separate/2048", 2.5}, {"texture.write", 0.3}};
    report.targets = judged(report);
    return report;
}

BenchFigure& figure_of(BenchReport& report, const std::string& key) {
    return *std::ranges::find(report.figures, key, &BenchFigure::key);
}

// Returns the names of the missed targets.
std::vector<std::string> missed(const BenchReport& report) {
    std::vector<std::string> names;
    for (const Check& target : judged(report)) {
        if (!target.passed()) names.push_back(target.what);
    }
    return names;
}

TEST(BenchReport, ComputesSpreadOfSortedValues) {
    const Spread spread = spread_of({5, 1, 3, 2, 4, 9, 7, 6, 10, 8, 0});
    EXPECT_DOUBLE_EQ(spread.median, 5);
    EXPECT_DOUBLE_EQ(spread.low, 1);
    EXPECT_DOUBLE_EQ(spread.high, 9);
    EXPECT_EQ(spread.count, 11);
    EXPECT_DOUBLE_EQ(spread_of({4, 1}).median, 2.5);
    EXPECT_DOUBLE_EQ(spread_of({4, 1}).low, 1.3);
    EXPECT_DOUBLE_EQ(spread_of({7}).high, 7);
    EXPECT_EQ(spread_of({}).count, 0);
}

TEST(BenchReport, AmountsHaveThreeDigits) {
    EXPECT_EQ(spelled_amount(1.234e6, "A-scans/s"), "1.23 M A-scans/s");
    EXPECT_EQ(spelled_amount(158.4e6, "A-scans/s"), "158 M A-scans/s");
    EXPECT_EQ(spelled_amount(999.6e3, "A-scans/s"), "1.00 M A-scans/s");
    EXPECT_EQ(spelled_amount(9.996e6, "A-scans/s"), "10.0 M A-scans/s");
    EXPECT_EQ(spelled_amount(99.96e6, "A-scans/s"), "100 M A-scans/s");
    EXPECT_EQ(spelled_amount(9.99e6, "A-scans/s"), "9.99 M A-scans/s");
    EXPECT_EQ(spelled_amount(45.6e9, "B/s"), "45.6 GB/s");
    EXPECT_EQ(spelled_amount(2.1e-3, "s"), "2.10 ms");
    EXPECT_EQ(spelled_amount(2.1e-8, "s"), "0.02 us");
    EXPECT_EQ(spelled_amount(60, "pictures/s"), "60.0 pictures/s");
    EXPECT_EQ(spelled_amount(0, "B"), "0 B");
    EXPECT_EQ(spelled_amount(95, "%"), "95.0 %");
    EXPECT_EQ(spelled_amount(0.4, "%"), "0.40 %");
    EXPECT_EQ(spelled_amount(2.5, "x"), "2.50 x");
}

TEST(BenchReport, RangesShowUnitOfMedianOnce) {
    EXPECT_EQ(spelled_range({155e6, 149e6, 159e6, 9}, "A-scans/s"), "149 .. 159 M A-scans/s");
    EXPECT_EQ(spelled_range({1.02e6, 0.98e6, 1.1e6, 9}, "A-scans/s"), "0.98 .. 1.10 M A-scans/s");
    EXPECT_EQ(spelled_range({2e-3, 1.9e-3, 12e-3, 9}, "s"), "1.90 .. 12.0 ms");
}

TEST(BenchReport, TargetsAreMetAtTheirBounds) {
    const BenchReport report = report_at_the_bounds();
    EXPECT_THAT(missed(report), ElementsAre());
    EXPECT_EQ(report.targets.size(), 12U + other_lengths.size());
}

// Each target is missed by making its figure slightly too small or too large.
TEST(BenchReport, EachTargetCanBeMissed) {
    const auto when = [](const std::string& key, double factor) {
        BenchReport report = report_at_the_bounds();
        figure_of(report, key).spread.median *= factor;
        return missed(report);
    };
    EXPECT_THAT(when("texture/2048", 0.999),
                ElementsAre("device-resident into the texture", "device-resident beside separate passes"));
    EXPECT_THAT(when("separate/2048", 1.001), ElementsAre("device-resident beside separate passes"));
    EXPECT_THAT(when("doppler/2048", 0.999), ElementsAre("structure and Doppler, of the rate of structure"));
    EXPECT_THAT(when("nudft/2048", 0.999), ElementsAre("exact NUDFT"));
    EXPECT_THAT(when("pinned/2048", 0.999), ElementsAre("u16 from pinned memory, of the link"));
    EXPECT_THAT(when("packed12/2048", 0.9), ElementsAre("packed 12 from pinned memory, of the link"));
    EXPECT_THAT(when("rendering/2048", 0.9), ElementsAre("u16 beside 60 pictures/s, of the rate without"));
    EXPECT_THAT(when("pictures/2048", 0.9), ElementsAre("pictures a second beside it"));
    EXPECT_THAT(when("latency/2048", 1.001), ElementsAre("last byte to finished picture"));
    EXPECT_THAT(when("block/512", 1.001), ElementsAre("one B-scan from pinned memory to voxels"));
    EXPECT_THAT(when("texture.fast/2048", 0.999), ElementsAre("in half precision into the texture"));
    EXPECT_THAT(when("real/2048", 0.999), ElementsAre("without dispersion"));
    for (const std::int64_t samples : other_lengths) {
        const std::string length = std::to_string(samples);
        EXPECT_THAT(when("linear/" + length, 0.999),
                    ElementsAre(length + " samples, of the rate of 2048, sample for sample"));
    }
}

TEST(BenchReport, ListsMissingFigures) {
    EXPECT_EQ(missed(BenchReport{}).size(), 12U + other_lengths.size());
    BenchReport report = report_at_the_bounds();
    figure_of(report, "latency/2048").skipped = "no Vulkan";
    std::erase_if(report.figures, [](const BenchFigure& figure) { return figure.key == "pinned/2048"; });
    EXPECT_THAT(missed(report),
                ElementsAre("u16 from pinned memory, of the link", "u16 beside 60 pictures/s, of the rate without",
                            "last byte to finished picture"));
}

TEST(BenchReport, JudgesCpuByItsTransform) {
    BenchReport report{.ceilings = {measured("fft.2048", "transforms/s", 400e3)},
                       .figures = {measured("linear/2048", "A-scans/s", 200e3)}};
    EXPECT_TRUE(judged_on_cpu(report).front().passed());
    report.figures.front().spread.median *= 0.999;
    EXPECT_FALSE(judged_on_cpu(report).front().passed());
    EXPECT_FALSE(judged_on_cpu({}).front().passed());
}

TEST(BenchReport, JudgesSoftwareByPictureAtRest) {
    BenchReport report;
    report.figures = {measured("still/256/640x480", "s", 60e-3)};
    EXPECT_TRUE(judged_rendering_in_software(report).front().passed());
    report.figures.front().spread.median *= 1.001;
    EXPECT_FALSE(judged_rendering_in_software(report).front().passed());
    EXPECT_FALSE(judged_rendering_in_software({}).front().passed());
}

TEST(BenchReport, JudgesLoopsAtTheirBounds) {
    BenchReport report;
    report.ceilings = {measured("fft.2048", "transforms/s", 400e3)};
    report.figures = {measured("chain/1", "A-scans/s", 100e3), measured("chain/2", "A-scans/s", 160e3),
                      measured("picture/128", "s", 25e-3), measured("push.producer", "%", 90),
                      measured("push.viewer", "%", 90)};
    const auto all_met = [&] { return std::ranges::all_of(judged_loops(report), &Check::passed); };
    EXPECT_TRUE(all_met());
    for (BenchFigure& figure : report.figures) {
        const double at_the_bound = figure.spread.median;
        figure.spread.median *= figure.unit == "s" ? 1.001 : 0.999;
        EXPECT_FALSE(all_met()) << figure.key;
        figure.spread.median = at_the_bound;
    }
    EXPECT_TRUE(std::ranges::none_of(judged_loops({}), &Check::passed));
}

// Exactly at the bounds, in steps of 8 bits and decibels.
TEST(BenchReport, NoiseIsJudgedForEachVolume) {
    BenchReport report;
    report.figures = {measured("clean/a.nrrd", "of 255", 1), measured("psnr/a.nrrd", "dB", 36),
                      measured("clean/b.nrrd", "of 255", 1.001), measured("psnr/b.nrrd", "dB", 35.999)};
    std::vector<std::string> missed;
    for (const Check& target : judged_light(report, {"volumes/a.nrrd", "b.nrrd"})) {
        if (!target.passed() && target.what.ends_with(".nrrd")) missed.push_back(target.what);
    }
    EXPECT_THAT(missed, ElementsAre("noise a second after rest, b.nrrd", "32 paths, denoised, b.nrrd"));
    EXPECT_EQ(spelled_amount(0.64, "of 255"), "0.64 of 255");
}

TEST(BenchReport, ShowsFiguresGapsAndTargetsInTables) {
    BenchReport report = report_at_the_bounds();
    figure_of(report, "nudft/2048").spread.median = 44e6;
    figure_of(report, "packed12/2048").skipped = "no pinned memory";
    report.targets = judged(report);
    const std::string text = markdown_of(report);
    EXPECT_THAT(text, HasSubstr("| texture/2048 | meaning of texture/2048 | 180 M A-scans/s | 171 .. 184 M A-scans/s | "
                                "2.50 x separate, 30.0 % of texture.write |\n"));
    EXPECT_THAT(text, HasSubstr("| latency/2048 | meaning of latency/2048 | 1.20 ms | 1.14 .. 1.22 ms |  |\n"));
    EXPECT_THAT(text, HasSubstr("\nNot measured: packed12/2048 (no pinned memory).\n"));
    EXPECT_THAT(text, HasSubstr("| exact NUDFT | 44.0 M A-scans/s | >= 45.0 M A-scans/s | MISSED |\n"));
    EXPECT_THAT(text, HasSubstr("| u16 from pinned memory, of the link | 95.0 % | >= 95.0 % | met |\n"));
    EXPECT_THAT(text, HasSubstr("; a remark; NVIDIA driver 580.1; display: textures.\n"));
    const std::string lines = text_of(report);
    EXPECT_THAT(lines, HasSubstr("MISSED  exact NUDFT: 44.0 M A-scans/s; target >= 45.0 M A-scans/s\n"));
    EXPECT_THAT(lines, HasSubstr("not measured: no pinned memory"));
    EXPECT_THAT(markdown_of(BenchReport{}), Not(HasSubstr("target")));
}

// 45.3 of 55.3 GB/s; for one stage the ceiling could not be measured.
TEST(BenchReport, ShowsStagesWithTheirCeilings) {
    BenchReport report;
    report.stages = {
        {"one GPU",
         {{"links", "B/s", 45.346e9, "links.to_devices/1", 55.3e9}, {"kernels", "A-scans/s", 15e6, "kernels.u16/1"}}}};
    const std::string table = markdown_of(report);
    EXPECT_THAT(table, HasSubstr("| one GPU | reached | ceiling | share | of |\n"));
    EXPECT_THAT(table, HasSubstr("| links | 45.3 GB/s | 55.3 GB/s | 82.0 % | links.to_devices/1 |\n"));
    EXPECT_THAT(table, HasSubstr("| kernels | 15.0 M A-scans/s |  | not measured | kernels.u16/1 |\n"));
    EXPECT_THAT(text_of(report), HasSubstr("45.3 GB/s          55.3 GB/s   82.0 % of links.to_devices/1\n"));
    const auto stages = nlohmann::json::parse(json_of(report))["stages"][0]["stages"];
    EXPECT_DOUBLE_EQ(stages[0]["share"], 0.82);
    EXPECT_EQ(stages[1]["share"], 0);
    EXPECT_EQ(stages[1]["ceiling"], 0);
}

std::set<std::string> keys_of(const nlohmann::json& object) {
    std::set<std::string> keys;
    for (const auto& item : object.items()) keys.insert(item.key());
    return keys;
}

TEST(BenchReport, JsonHasKeysOfDocuments) {
    using Keys = std::set<std::string>;
    BenchReport report = report_at_the_bounds();
    report.figures.front().skipped = "a reason";
    report.published.push_back({"Paper", "what", "hardware", "s", 2, "nudft/2048", 1, 2});
    const auto json = nlohmann::json::parse(json_of(report));
    EXPECT_EQ(keys_of(json), (Keys{"echolux", "schema", "machine", "conditions", "volume", "quick", "interrupted",
                                   "ceilings", "figures", "sheets", "stages", "published", "targets"}));
    EXPECT_EQ(keys_of(json["machine"]), (Keys{"processor", "threads", "backend", "remark", "driver", "display"}));
    EXPECT_EQ(json["machine"]["remark"], "a remark");
    EXPECT_EQ(keys_of(json["volume"]), (Keys{"a_scans", "b_scans", "block_b_scans"}));
    EXPECT_EQ(keys_of(json["figures"][0]), (Keys{"key", "meaning", "skipped"}));
    const Keys figure{"key", "meaning", "unit", "median", "low", "high", "repetitions", "ratios"};
    EXPECT_EQ(keys_of(json["figures"][2]), figure);
    EXPECT_EQ(keys_of(json["ceilings"][0]), figure);
    EXPECT_EQ(json["figures"][2]["ratios"]["separate/2048"], 2.5);
    EXPECT_EQ(keys_of(json["published"][0]),
              (Keys{"paper", "what", "hardware", "unit", "published", "figure", "ours", "factor"}));
    EXPECT_EQ(keys_of(json["targets"][0]), (Keys{"name", "reached", "unit", "relation", "bound", "met"}));
    EXPECT_EQ(json["targets"][7]["met"], true);
}

// Without pinned memory, a figure "from pinned memory" would be wrong.
TEST(BenchSpectra, UsesRequestedMemoryOrFails) {
    const BenchSize size{512, 4, 2, 1};
    EXPECT_EQ(BenchSpectra(size, SampleFormat::u16, MemoryKind::host).blocks().front().memory, MemoryKind::host);
    if (block_memory(1, MemoryKind::pinned).kind == MemoryKind::pinned) GTEST_SKIP() << "memory can be pinned here";
    EXPECT_EQ(error_of([&] { BenchSpectra(size, SampleFormat::u16, MemoryKind::pinned); }).code, ErrorCode::device);
}

// ---- methods, several GPUs and papers -------------------------------------------------------------------------------

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

constexpr double eleven_volumes = 633600;  // A-scans of 11 volumes of 240 x 240
// In the order of the targets.
const Medians methods_at_the_bounds{{"ao-oct/832", eleven_volumes / 20e-3 * 1.0001},
                                    {"ao-oct.arriving/832", eleven_volumes / 30e-3 * 1.0001},
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
