#include "bench/processing.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <functional>

#include "compute/error.h"
#include "compute/parallel_for.h"
#include "engine/layers/find_surfaces.h"
#include "engine/simulate/counter_random.h"
#include "engine/speckle/speckle_filter.h"
#include "engine/validation/tissue_scene.h"

namespace echolux {
namespace {

Size3 filtered_size(bool quick) {
    return quick ? Size3{64, 32, 8} : Size3{128, 64, 16};
}

Size3 searched_size(bool quick) {
    return quick ? Size3{128, 32, 8} : Size3{256, 128, 64};
}

double voxels_of(const Size3& size) {
    return static_cast<double>(size[0] * size[1] * size[2]);
}

// Speckle of layers, each four times as bright as the one above.
std::vector<float> layered_speckle(const Size3& size) {
    std::vector<float> power(static_cast<std::size_t>(voxels_of(size)));
    parallel_for(0, size[1] * size[2], [&](std::int64_t line) {
        for (std::int64_t z = 0; z < size[0]; ++z) {
            const std::int64_t i = line * size[0] + z;
            const double mean = std::pow(4.0, static_cast<double>(8 * z / size[0]));
            power[static_cast<std::size_t>(i)] =
                static_cast<float>(-mean * std::log(1 - fraction(hashed(static_cast<std::uint64_t>(i)))));
        }
    });
    return power;
}

struct FilterCase {
    std::string key, meaning;
    SpeckleFilter filter;
};

std::vector<FilterCase> filter_cases() {
    const auto nlm = [](std::int64_t across, std::int64_t b_scans, std::int64_t patch, double strength) {
        SpeckleFilter filter;
        filter.search_depth = filter.search_a_scans = across;
        filter.search_b_scans = b_scans;
        filter.patch = patch;
        filter.strength = strength;
        return filter;
    };
    SpeckleFilter median3, median5, bilateral;
    median3.method = median5.method = FilterMethod::median;
    median3.median_size = 3;
    bilateral.method = FilterMethod::bilateral;
    return {{"filter/nlm", "non-local means, search 7 x 7 x 3, patch 3", nlm(7, 3, 3, 0.2)},
            {"filter/nlm.patch5", "search 7 x 7 x 3, patch 5", nlm(7, 3, 5, 0.1)},
            {"filter/nlm.default", "search 11 x 11 x 7, patch 5", SpeckleFilter{}},
            {"filter/bilateral", "bilateral, sigma 2", bilateral},
            {"filter/median3", "median of 3 x 3 x 3", median3},
            {"filter/median5", "median of 5 x 5 x 5", median5}};
}

std::vector<double> seconds_of(BenchBook& book, const std::function<void()>& work) {
    constexpr int repetitions = 5;
    std::vector<double> seconds;
    for (int i = 0; i <= repetitions; ++i) {
        book.poll();
        const auto start = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        if (i > 0) seconds.push_back(took.count());  // the first one warms up
    }
    return seconds;
}

// A volume of `voxels`.
void measure(BenchBook& book, const std::string& key, const std::string& meaning, double voxels,
             const std::function<void()>& work) {
    std::vector<double> rates;
    book.figure(key, meaning, "s", [&] {
        const std::vector<double> seconds = seconds_of(book, work);
        for (const double each : seconds) rates.push_back(voxels / each);
        return seconds;
    });
    book.figure(key + ".rate", "the same", "voxels/s", [&] { return rates; });
}

void measure_filters(BenchBook& book, const Size3& size) {
    const std::vector<float> power = layered_speckle(size);
    SilentProgress silent;
    for (const FilterCase& one : filter_cases()) {
        measure(book, one.key, one.meaning, voxels_of(size), [&] { filtered(power, size, one.filter, silent); });
    }
}

void measure_layers(BenchBook& book, const Size3& size) {
    constexpr double snr_db = 20;
    const LayeredScene scene = retina_scene(size, 1, snr_db);
    SurfaceSearch search;
    for (const int polarity : retina_polarities)
        search.wanted.push_back({std::to_string(search.wanted.size() + 1), polarity, 3, 0, 1});
    SilentProgress silent;
    measure(book, "segment/retina",
            fmt::format("{} surfaces in {} x {} x {} voxels", search.wanted.size(), size[0], size[1], size[2]),
            voxels_of(size), [&] { find_surfaces(scene.intensity, size, search, silent); });
}

}  // namespace

BenchReport run_processing(const BenchJob& job, Progress& progress) {
    if (job.backend == Backend::cuda) {
        throw Error(ErrorCode::device, "filters and surfaces are the CPU's", "backend", "choose auto or cpu");
    }
    BenchJob on_cpu = job;
    on_cpu.backend = Backend::cpu;
    BenchStart start = start_of(on_cpu);
    start.report.a_scans = start.report.b_scans = start.report.block_b_scans = 0;
    BenchBook book(start.report, start.extent.effort, progress);
    const Size3 size = filtered_size(job.quick);
    start.report.conditions = fmt::format("Filters of {} x {} x {} voxels of linear power", size[0], size[1], size[2]);
    book.begin("processing", (std::ssize(filter_cases()) + 1) * 2);
    measure_filters(book, size);
    measure_layers(book, searched_size(job.quick));
    book.end();
    return start.report;
}

}  // namespace echolux
