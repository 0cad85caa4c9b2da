// Rates of speckle filters, segmentation, registration, live steps and angiography.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "bench/benches.h"
#include "bench/papers.h"
#include "bench/rates.h"
#include "compute/gpu_backend.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/speckle.h"
#include "compute/tissue_on_gpu.h"
#include "engine/geometry/dewarp.h"
#include "engine/layers/boundary_search.h"
#include "engine/layers/find_surfaces.h"
#include "engine/registration/registration.h"
#include "engine/simulate/counter_random.h"
#include "engine/speckle/speckle_filter.h"
#include "engine/validation/scenes.h"

namespace echolux {
namespace {

// Sizes suited to a CPU or a GPU.
Size3 filtered_size(bool gpu, bool quick) {
    if (quick) return {64, 32, 8};
    return gpu ? Size3{512, 512, 512} : Size3{128, 64, 16};
}

Size3 searched_size(bool gpu, bool quick) {
    if (quick) return {128, 32, 8};
    return gpu ? Size3{512, 512, 256} : Size3{256, 128, 64};
}

Size3 registered_size(bool gpu, bool quick) {
    if (quick) return {64, 32, 8};
    return gpu ? Size3{512, 512, 512} : Size3{256, 256, 256};
}

double voxels_of(const Size3& size) {
    return static_cast<double>(size[0] * size[1] * size[2]);
}

// Speckle of eight layers, each four times as bright as the one above. Intensities of fully developed speckle are
// exponentially distributed: -mean ln(1 - u) for uniform u.
std::vector<float> layered_speckle(const Size3& size) {
    std::vector<float> power(static_cast<std::size_t>(voxels_of(size)));
    parallel_for(0, size[1] * size[2], [&](std::int64_t line) {
        for (std::int64_t z = 0; z < size[0]; ++z) {
            const std::int64_t i = line * size[0] + z;
            const double mean = std::pow(4.0, static_cast<double>(8 * z / size[0]));
            power[index(i)] = static_cast<float>(-mean * std::log(1 - fraction(hashed(static_cast<std::uint64_t>(i)))));
        }
    });
    return power;
}

// The filters of the table in docs/filters.md. The default compares 11 x 11 x 7 cubes per voxel and is the slowest.
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

// Measures work on a volume of `voxels` voxels, as time and as rate, because papers report either.
void measure(BenchBook& book, const std::string& key, const std::string& meaning, double voxels,
             const std::function<void()>& work) {
    std::vector<double> rates;
    book.figure(key, meaning, "s", [&] {
        const std::vector<double> seconds = book.repeated(1, 5, [&](int) { return seconds_of(work); });
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

// Measures filters in GPU memory, as in a chain of steps, and the first one also with copies from and to the host.
void measure_filters_on_gpu(BenchBook& book, const Size3& size, const BackendChoice& choice) {
    const std::vector<float> power = layered_speckle(size);
    const auto bytes = static_cast<std::int64_t>(power.size() * sizeof(float));
    const BlockMemory from = device_memory(bytes, choice.gpu), to = device_memory(bytes, choice.gpu);
    copy_memory(from.data, reinterpret_cast<const std::byte*>(power.data()), bytes);
    for (const FilterCase& one : filter_cases()) {
        const auto filter = required_gpu().speckle_filter(size, tables_of(power, size, one.filter), choice);
        measure(book, one.key, one.meaning, voxels_of(size),
                [&] { (*filter)(reinterpret_cast<const float*>(from.data), reinterpret_cast<float*>(to.data)); });
    }
    const SpeckleTables tables = tables_of(power, size, filter_cases().front().filter);
    measure(book, "filter/nlm.copied", "the first from host memory to host memory", voxels_of(size),
            [&] { filtered_on_gpu(power, size, tables, choice); });
}

// All boundaries of the simulated retina, at least three rows apart.
SurfaceSearch retina_search(const BackendChoice& choice) {
    SurfaceSearch search;
    for (const int polarity : retina_polarities)
        search.wanted.push_back({std::to_string(search.wanted.size() + 1), polarity, 3, 0, 1});
    search.processor = choice;
    return search;
}

// A retina with independent speckle per voxel. A correlated random field of this size would take longer than the
// search.
LayeredScene speckled_retina(const Size3& size) {
    LayeredScene scene = painted_retina(size, 1, 0);
    const std::vector<float> speckle = layered_speckle({size[0], size[1], size[2]});
    for (std::size_t i = 0; i < speckle.size(); ++i) {
        const auto z = static_cast<std::int64_t>(i) % size[0];
        const auto mean = static_cast<float>(std::pow(4.0, static_cast<double>(8 * z / size[0])));
        scene.intensity[i] = (scene.intensity[i] + 0.01f) * speckle[i] / mean;
    }
    return scene;
}

void measure_layers(BenchBook& book, const Size3& size, const BackendChoice& choice) {
    const bool is_gpu = choice.backend == Backend::cuda;
    constexpr double snr_db = 20;
    const LayeredScene scene = is_gpu ? speckled_retina(size) : retina_scene(size, 1, snr_db);
    const SurfaceSearch search = retina_search(choice);
    SilentProgress silent;
    measure(book, "segment/retina",
            fmt::format("{} surfaces in {} x {} x {} voxels", search.wanted.size(), size[0], size[1], size[2]),
            voxels_of(size), [&] { find_surfaces(scene.intensity, size, search, silent); });
    if (!is_gpu) return;
    const auto bytes = static_cast<std::int64_t>(scene.intensity.size() * sizeof(float));
    const BlockMemory there = device_memory(bytes, choice.gpu);
    copy_memory(there.data, reinterpret_cast<const std::byte*>(scene.intensity.data()), bytes);
    measure(book, "segment/retina.resident", "the same, the volume in the GPU's memory", voxels_of(size),
            [&] { find_surfaces_on_gpu(reinterpret_cast<const float*>(there.data), size, search, silent); });
    std::vector<std::int32_t> rows;
    for (const std::vector<float>& boundary : scene.boundaries)
        rows.insert(rows.end(), boundary.begin(), boundary.end());
    const auto on_gpu =
        required_gpu().boundary_search(scene.intensity.data(), surface_tables(size, search.wanted, false, {}), choice);
    const std::vector<std::uint8_t> has_signal(index(scene.lines()), 1);
    const std::vector<SweepStep> steps(scene.boundaries.size());
    measure(book, "segment/retina.sweeps", "its costs and sweeps, twice, the volume in the GPU's memory",
            voxels_of(size), [&] {
                for (int pass = 0; pass < 2; ++pass) on_gpu->swept(rows, has_signal, steps, 1e-5f);
            });
}

// Shifted along A-scans by up to 2 and in depth by up to 3 voxels, steadily over some B-scans like eye motion. Whole
// voxels need no interpolation. Shifts wrap around, so that no voxel is missing.
PowerVolume moved_copy(const PowerVolume& volume) {
    PowerVolume moved{volume.grid, std::vector<float>(volume.power.size())};
    const VolumeGrid& grid = volume.grid;
    parallel_for(0, grid.a_scans * grid.b_scans, [&](std::int64_t line) {
        const std::int64_t b = line / grid.a_scans, a = line % grid.a_scans;
        const std::int64_t z = b / 8 % 7 - 3, x = b / 16 % 5 - 2;
        const std::int64_t from = b * grid.a_scans + (a + x + grid.a_scans) % grid.a_scans;
        for (std::int64_t d = 0; d < grid.depth; ++d)
            moved.power[index(line * grid.depth + d)] =
                volume.power[index(from * grid.depth + (d + z + grid.depth) % grid.depth)];
    });
    return moved;
}

void measure_registration(BenchBook& book, const Size3& size, const BackendChoice& choice) {
    const RegistrationSettings settings;
    SilentProgress silent;
    PowerVolume volume;
    volume.grid.depth = size[0];
    volume.grid.a_scans = size[1];
    volume.grid.b_scans = size[2];
    volume.power = layered_speckle(size);
    const PowerVolume moved = moved_copy(volume);
    const Reference reference(volume, settings, choice);
    const std::string meaning = fmt::format("{} x {} x {} voxels against a reference", size[0], size[1], size[2]);
    if (!reference.is_on_gpu()) {
        std::vector<RowShift> rows;
        measure(book, "register/rows", meaning, voxels_of(size),
                [&] { rows = reference.register_rows(moved, silent); });
        measure(book, "register/mean", "its B-scans moved to their positions", voxels_of(size), [&] {
            RegisteredMean mean(volume.grid);
            mean.add(moved, rows);
        });
        return;
    }
    const PowerCopy there(moved, choice);
    std::vector<RowShift> rows;
    measure(book, "register/rows", meaning + ", in the GPU's memory", voxels_of(size),
            [&] { rows = reference.register_rows(there.on_gpu(), silent); });
    RegisteredMean mean(volume.grid, choice);
    measure(book, "register/mean", "its B-scans moved to their positions", voxels_of(size), [&] {
        mean.clear();
        mean.add(there.on_gpu(), rows);
    });
    measure(book, "register/rows.copied", "the first from host memory", voxels_of(size),
            [&] { reference.register_rows(moved, silent); });
}

// ---- Positions in mm

Volume decibels_of(const Size3& size) {
    Volume volume;
    volume.grid.depth = size[0];
    volume.grid.a_scans = size[1];
    volume.grid.b_scans = size[2];
    volume.grid.type = VoxelType::f32;
    volume.grid.quantity = "db";
    // The same field for all sizes.
    volume.grid.spacing_um = {2560.0 / static_cast<double>(size[0]), 6144.0 / static_cast<double>(size[1]),
                              6144.0 / static_cast<double>(size[2])};
    const std::vector<float> power = layered_speckle(size);
    volume.voxels.resize(index(volume.grid.bytes()));
    auto* const values = reinterpret_cast<float*>(volume.voxels.data());
    parallel_for(0, size[1] * size[2], [&](std::int64_t line) {
        for (std::int64_t i = line * size[0]; i < (line + 1) * size[0]; ++i)
            values[i] = 10 * std::log10(power[index(i)] + 1e-6F);
    });
    return volume;
}

// On the CPU, behind two pivots and a lens.
void measure_dewarping(BenchBook& book, const Size3& size) {
    const Volume volume = decibels_of(size);
    const BeamMap map({.radial_per_mm2 = 0.004, .pivot_x_mm = 18, .pivot_y_mm = 20}, {}, volume.grid);
    SilentProgress silent;
    DewarpedVolume made = dewarped(volume, map, {}, silent);
    const double voxels = static_cast<double>(made.volume.grid.voxels());
    const std::string meaning = fmt::format("{} x {} x {} voxels to straight axes, cubic", size[0], size[1], size[2]);
    measure(book, "dewarp/fan", meaning + ", of the result", voxels, [&] { made = dewarped(volume, map, {}, silent); });
    measure(book, "dewarp/exact", "the same voxel by voxel with exact positions, without dB", voxels,
            [&] { sum_of_exact_voxels(volume, map, made); });
}

// A volume on a GPU that is stored as dB in one byte.
VolumeOnGpuOptions live_volume_of(const Size3& size) {
    SpeckleFilter median;
    median.method = FilterMethod::median;
    median.median_size = 3;
    VolumeOnGpuOptions wanted;
    wanted.grid.depth = size[0];
    wanted.grid.a_scans = size[1];
    wanted.grid.b_scans = size[2];
    wanted.grid.type = VoxelType::u8;
    wanted.grid.quantity = "db";
    wanted.grid.scale = 0.25;
    wanted.stored = stored_power(wanted.grid, StoredAs::automatic);
    wanted.power_of_codes = power_of_codes(wanted.stored, wanted.grid.type);
    wanted.filter = tables_of(size, median, 0);
    return wanted;
}

// Measures the steps between reconstruction and display of a live volume, with the ranges of `bench --live`.
void measure_live_steps(BenchBook& book, const Size3& size, const BackendChoice& choice) {
    const VolumeOnGpuOptions wanted = live_volume_of(size);
    const VolumeGrid& grid = wanted.grid;
    RegistrationSettings settings;
    settings.row_range = 2;  // as in bench/live.cpp
    SilentProgress silent;
    const auto codes_of = [&](const PowerVolume& volume) {
        std::vector<std::byte> codes(volume.power.size());
        for (std::size_t i = 0; i < codes.size(); ++i)
            codes[i] = static_cast<std::byte>(std::clamp(std::lround(wanted.stored.code(volume.power[i])), 0L, 255L));
        return codes;
    };
    const PowerVolume volume{grid, layered_speckle(size)};
    const BlockMemory there = device_memory(grid.bytes(), choice.gpu), shown = device_memory(grid.bytes(), choice.gpu);
    const auto work = required_gpu().volume(wanted, choice);
    const auto bring = [&](const std::vector<std::byte>& codes) {
        copy_memory(there.data, codes.data(), grid.bytes());
        return work->read(there.data);
    };
    const Reference reference(PowerOnGpu{grid, bring(codes_of(volume))}, settings, choice);
    float* const moving = bring(codes_of(moved_copy(volume)));
    const PowerOnGpu power{grid, moving};
    const VoxelTargets targets(packed_target(shown.data, grid, 0, TargetKind::device_linear));
    RegisteredMean mean(grid, choice);
    std::vector<RowShift> rows;
    const auto step = [&](const char* name, const char* meaning, const std::function<void()>& what) {
        measure(book, std::string("live/") + name, meaning, voxels_of(size), what);
    };
    step("read", "codes of a live volume to power", [&] { work->read(there.data); });
    step("find", "search for its B-scans in the reference", [&] { rows = reference.register_rows(power, silent); });
    step("move", "resampled at their positions", [&] {
        mean.clear();
        mean.add(power, rows);
        mean.write_on_gpu(moving);
        work->clear_gaps();
    });
    step("filter", "median of 3 x 3 x 3", [&] { work->filter(); });
    step("write", "power to codes in the displayed texture", [&] {
        work->read(there.data);
        work->write(there.data, nullptr, targets);
    });
}

// Measures angiography of four repeats, without and with alignment of the repeats, in GPU memory.
void measure_angiography(BenchBook& book, bool quick, const BenchProcessor& processor) {
    const BenchSize size = quick                ? BenchSize{256, 32, 8, 4, 4}
                           : processor.is_gpu() ? BenchSize{1024, 512, 64, 16, 4}
                                                : BenchSize{1024, 128, 16, 4, 4};
    std::vector<BenchSpectra> spectra;
    spectra.emplace_back(size, SampleFormat::u16, processor.home(), processor.choice.gpu);
    const auto rate = [&](const char* key, const char* meaning, const ReconstructionSpec& spec) {
        book.figure(key, meaning, "A-scans/s", [&] { return loop_rates(book, size, spec, processor, spectra); });
    };
    ReconstructionSpec spec = angiography_spec(size);
    rate("angiography/aligned", "speckle variance of 4 repeats that are aligned", spec);
    spec.flow.align = false;
    rate("angiography/plain", "the same, not aligned", spec);
}

}  // namespace

void run_processing(const BenchJob& job, BenchReport& report, Progress& progress) {
    BenchStart start = start_of(job, report);
    report.a_scans = report.b_scans = report.block_b_scans = 0;
    BenchBook book(report, start.extent.effort, progress);
    const bool is_gpu = start.processor.is_gpu();
    const Size3 size = filtered_size(is_gpu, job.quick);
    report.conditions = fmt::format("Filters of {} x {} x {} voxels of linear power in {}", size[0], size[1], size[2],
                                    start.processor.home_name());
    // measure() records two figures each; angiography adds two.
    book.begin("processing", (std::ssize(filter_cases()) + (is_gpu ? 12 : 5)) * 2 + 2);
    if (is_gpu)
        measure_filters_on_gpu(book, size, start.processor.choice);
    else
        measure_filters(book, size);
    measure_layers(book, searched_size(is_gpu, job.quick), start.processor.choice);
    measure_registration(book, registered_size(is_gpu, job.quick), start.processor.choice);
    if (is_gpu)
        measure_live_steps(book, size, start.processor.choice);
    else
        measure_dewarping(book, registered_size(is_gpu, job.quick));
    measure_angiography(book, job.quick, start.processor);
    book.end();
    report.published = beside_the_papers(report, is_gpu, published_tissue_figures());
}

}  // namespace echolux
