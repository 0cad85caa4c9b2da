#include "bench/case.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/scan/recipes.h"
#include "engine/scan/scan.h"

namespace echolux {
namespace {

constexpr std::int64_t fewest = 16;  // A-scans, however costly

std::string where_it_lies(const BenchCase& one, const BenchProcessor& processor) {
    const char* from = one.from_host ? processor.source_name() : processor.home_name();
    return fmt::format("{} to {}", from, one.voxels == VoxelsGo::to_the_host ? from : processor.home_name());
}

}  // namespace

BenchSize size_of(const BenchCase& one, const BenchSize& run, bool on_gpu) {
    auto lines = static_cast<std::int64_t>(static_cast<double>(run.lines()) / (on_gpu ? 1 : one.cost));
    if (one.b_scans > 0) lines = on_gpu ? one.a_scans * one.b_scans : std::min(lines, one.a_scans * one.b_scans);
    BenchSize size{one.samples, one.a_scans > 0 ? one.a_scans : run.a_scans, 1,
                   one.block_b_scans > 0 ? one.block_b_scans : run.block_b_scans};
    if (!on_gpu) {
        size.a_scans = std::clamp(lines, std::min(fewest, size.a_scans), size.a_scans);
        size.block_b_scans = std::clamp<std::int64_t>(lines / size.a_scans, 1, size.block_b_scans);
    }
    const std::int64_t block = size.a_scans * size.block_b_scans;
    size.b_scans = std::max<std::int64_t>(1, lines / block) * size.block_b_scans;
    return size;
}

ReconstructionSpec plan_of(const BenchCase& one, const BenchSize& size) {
    const ReconstructionSpec chain = bench_plan(size);
    Scan scan;
    scan.format = chain.format;
    scan.geometry = chain.geometry;
    scan.calibration = chain.calibration;
    take_recipe(chain, scan);
    Settings settings;
    bind_recipe(settings, scan);
    if (!one.recipe.empty()) {
        for (const std::string& assignment : assignments_of_recipe(one.recipe)) settings.set_assignment(assignment);
    }
    for (const std::string& assignment : one.changes) settings.set_assignment(assignment);
    return scan.spec(size.block_b_scans);
}

std::vector<BenchSpectra> spectra_of(const BenchCase& one, const BenchSize& size, const BenchProcessor& processor) {
    std::vector<BenchSpectra> spectra;
    for (const BenchProcessor& each : processor.each()) {
        spectra.emplace_back(size, SampleFormat::u16, one.from_host ? each.source() : each.home(), each.choice.gpu);
    }
    return spectra;
}

void measure(BenchBook& book, const BenchCase& one, const BenchSize& run, const BenchProcessor& processor,
             std::initializer_list<BenchLimit> limits) {
    const BenchSize size = size_of(one, run, processor.is_gpu());
    BenchProcessor with = processor;
    if (one.block_b_scans > 0) with.choice.streams = blocks_under_way(size.a_scans * size.block_b_scans);
    const std::string meaning = fmt::format("{}, {}", one.meaning, where_it_lies(one, with));
    const std::string fewer =
        size.a_scans < one.a_scans ? fmt::format("{} A-scans at a time instead of {}", size.a_scans, one.a_scans) : "";
    if (one.is_batch && !fewer.empty()) return book.skip(one.key, meaning, "a CPU would take " + fewer);
    BenchFigure& figure = book.figure(
        one.key, meaning + (fewer.empty() ? "" : ", " + fewer), "A-scans/s",
        [&] {
            const auto spectra = spectra_of(one, size, with);
            return loop_rates(book, size, plan_of(one, size), with, spectra, one.voxels);
        },
        limits);
    figure.remark = fewer;
}

}  // namespace echolux
