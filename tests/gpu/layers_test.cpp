// Layer boundaries on the GPU: labels, qualities and surfaces equal the CPU's to the last bit, for volumes that fill no
// warp, single B-scans and A-scans, and volumes with voxels that were never recorded.
#include "compute/boundary_search.h"

#include <limits>

#include "compute/error.h"
#include "compute/gpu_backend.h"
#include "compute/indexing.h"
#include "compute/voxel_target.h"
#include "engine/layers/boundary_search.h"
#include "engine/layers/find_surfaces.h"
#include "engine/validation/scenes.h"
#include "tests/gpu/gpu_run.h"

namespace echolux {
namespace {

const BackendChoice on_gpu{.backend = Backend::cuda}, on_cpu{.backend = Backend::cpu};

class LayersOnGpu : public GpuTest {};

void leave_gaps(LayeredScene& scene) {
    constexpr float none = std::numeric_limits<float>::quiet_NaN();
    for (std::int64_t line = 0; line < scene.lines(); ++line) {
        float* values = scene.intensity.data() + line * scene.size[0];
        if (line % 5 == 1) std::fill_n(values, line % 40, none);
        if (line % 7 == 2) values[line % scene.size[0]] = none;
        if (line % 11 == 3) std::fill_n(values, scene.size[0], none);
        if (line % 13 == 4) values[40] = std::numeric_limits<float>::infinity();
    }
}

// Rows as from a coarse cut, [boundary][line]: some at or beyond the ends, some equal to each other.
std::vector<std::int32_t> rows_near(const LayeredScene& scene, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::vector<std::int32_t>> rows;
    for (const std::vector<float>& boundary : scene.boundaries) {
        rows.emplace_back();
        for (const float at : boundary)
            rows.back().push_back(static_cast<std::int32_t>(at) + static_cast<std::int32_t>(random() % 7) - 3);
    }
    for (std::size_t line = 0; line < rows[0].size(); line += 17) {
        rows[0][line] = -2;
        rows.back()[line] = static_cast<std::int32_t>(scene.size[0]) + 3;
        rows[1][line] = rows[2][line];
    }
    for (std::size_t k = 1; k < rows.size(); ++k) {
        for (std::size_t line = 0; line < rows[k].size(); ++line)
            rows[k][line] = std::max(rows[k][line], rows[k - 1][line]);
    }
    std::vector<std::int32_t> all;
    for (const auto& of_boundary : rows) all.insert(all.end(), of_boundary.begin(), of_boundary.end());
    return all;
}

void expect_same_labels(const Size3& size, bool has_gaps) {
    LayeredScene scene = retina_scene(size, 3, 20);
    if (has_gaps) leave_gaps(scene);
    std::vector<std::uint8_t> has_signal(index(scene.lines()), 1);
    for (std::size_t line = 9; line < has_signal.size(); line += 23) has_signal[line] = 0;
    std::vector<BoundaryOptions> wanted(scene.boundaries.size());
    const SurfaceTables tables = surface_tables(size, wanted, false, {});
    const auto cpu = boundary_search_on_cpu(scene.intensity.data(), tables);
    const auto gpu = required_gpu().boundary_search(scene.intensity.data(), tables, on_gpu);
    std::vector<SweepStep> steps;
    for (std::size_t k = 0; k < scene.boundaries.size(); ++k)
        steps.push_back({k % 3 == 0 ? 1 : 0.37f * static_cast<float>(k)});
    const float min_mean = signal_levels(size[0], 0.003).min_mean;
    for (const unsigned seed : {1U, 2U}) {  // twice, as a search does
        const std::vector<std::int32_t> rows = rows_near(scene, seed);
        const SweptBoundaries found = gpu->swept(rows, has_signal, steps, min_mean);
        const SweptBoundaries expected = cpu->swept(rows, has_signal, steps, min_mean);
        ASSERT_EQ(found.labels.size(), rows.size());
        EXPECT_EQ(found.labels, expected.labels) << size[1] << " x " << size[2];
        EXPECT_EQ(found.quality, expected.quality) << size[1] << " x " << size[2];
        EXPECT_EQ(found.is_ambiguous, expected.is_ambiguous) << size[1] << " x " << size[2];
    }
}

TEST_F(LayersOnGpu, LabelsMatchCpu) {
    for (const Size3& size : {Size3{160, 48, 24}, Size3{131, 37, 5}, Size3{160, 65, 1}, Size3{129, 1, 33},
                              Size3{160, 1, 1}, Size3{257, 33, 31}}) {
        expect_same_labels(size, false);
        expect_same_labels(size, true);
    }
}

void expect_same_surfaces(const LayeredScene& scene, SurfaceSearch search) {
    SilentProgress silent;
    search.processor = on_gpu;
    const Surfaces gpu = find_surfaces(scene.intensity, scene.size, search, silent);
    search.processor = on_cpu;
    const Surfaces cpu = find_surfaces(scene.intensity, scene.size, search, silent);
    EXPECT_EQ(gpu.searched_on.backend, Backend::cuda);
    EXPECT_EQ(cpu.searched_on.backend, Backend::cpu);
    EXPECT_EQ(gpu.moved, cpu.moved);
    for (std::size_t k = 0; k < cpu.all.size(); ++k) {
        EXPECT_EQ(std::memcmp(gpu.all[k].rows.data(), cpu.all[k].rows.data(), 4 * cpu.all[k].rows.size()), 0) << k;
        EXPECT_EQ(gpu.all[k].reasons, cpu.all[k].reasons) << k;
        EXPECT_EQ(gpu.all[k].quality, cpu.all[k].quality) << k;
    }
}

TEST_F(LayersOnGpu, SurfacesMatchCpu) {
    SurfaceSearch search;
    for (const int polarity : retina_polarities)
        search.wanted.push_back({std::to_string(search.wanted.size() + 1), polarity, 3, 0, 1});
    for (const Size3& size : {Size3{256, 64, 32}, Size3{255, 97, 1}}) {
        LayeredScene scene = retina_scene(size, 7, 20);
        expect_same_surfaces(scene, search);
        for (std::int64_t line = 0; line < scene.lines(); line += 3)
            std::fill_n(scene.intensity.begin() + line * size[0], line % 9, std::numeric_limits<float>::quiet_NaN());
        expect_same_surfaces(scene, search);
    }
}

SurfaceSearch nine_surfaces() {
    SurfaceSearch search;
    for (const int polarity : retina_polarities)
        search.wanted.push_back({std::to_string(search.wanted.size() + 1), polarity, 3, 0, 1});
    return search;
}

// Includes blocks without signal, other distances and ends, and tissue that continues below.
TEST_F(LayersOnGpu, SurfacesOfOtherRecipesMatchCpu) {
    LayeredScene scene = retina_scene({256, 80, 40}, 5, 20);
    SurfaceSearch search = nine_surfaces();
    search.tissue_below = true;
    for (BoundaryOptions& wanted : search.wanted) wanted.max_rows = 60;
    expect_same_surfaces(scene, search);
    search.wanted.resize(4);
    search.wanted[1].polarity = 0;
    search.wanted[2].min_rows = 1;
    search.floor = 0.002;
    expect_same_surfaces(scene, search);
    for (std::int64_t line = 0; line < scene.lines(); ++line) {
        const bool is_dark = line % 80 > 55 && line / 80 < 18;
        if (is_dark) std::fill_n(scene.intensity.begin() + line * 256, 256, 1e-6f * static_cast<float>(line % 7 + 1));
    }
    expect_same_surfaces(scene, nine_surfaces());
}

// A pit that takes several passes, and layers that contain others which are not searched for.
TEST_F(LayersOnGpu, SteepSurfacesAndMixedLayersMatchCpu) {
    LayeredScene steep{{256, 64, 48}, {}, {}};
    std::vector<float> pit, below(index(steep.lines()), 190.5f);
    for (std::int64_t line = 0; line < steep.lines(); ++line) {
        const double a = static_cast<double>(line % 64) - 31.5, b = static_cast<double>(line / 64) - 23.5;
        pit.push_back(static_cast<float>(70 + 75 * std::exp(-(a * a + b * b) / (2 * 11 * 11))));
    }
    steep.boundaries = {pit, below};
    paint(steep, {0.005, 1, 0.2});
    std::mt19937 random(5);
    add_speckle(steep, 25, random);
    SurfaceSearch two;
    two.wanted = {{"front", 1, 3, 0, 1}, {"back", -1, 3, 0, 1}};
    expect_same_surfaces(steep, two);
    expect_same_surfaces(retina_scene({256, 80, 40}, 5, 20), two);
}

TEST_F(LayersOnGpu, NoiseAndMisfitsMatchCpu) {
    SurfaceSearch search = nine_surfaces();
    LayeredScene noise = retina_scene({160, 24, 16}, 2, 20);
    std::mt19937 random(3);
    std::exponential_distribution<float> power(1);
    for (float& value : noise.intensity) value = power(random);
    expect_same_surfaces(noise, search);
    SilentProgress silent;
    const LayeredScene scene = retina_scene({160, 24, 16}, 2, 20);
    for (BoundaryOptions& wanted : search.wanted) wanted.min_rows = 150;
    search.processor = on_gpu;
    EXPECT_THROW(find_surfaces(scene.intensity, scene.size, search, silent), Error);
}

TEST_F(LayersOnGpu, VolumesInDeviceMemoryGiveSameSurfaces) {
    const LayeredScene scene = retina_scene({200, 40, 20}, 4, 20);
    SurfaceSearch search = nine_surfaces();
    search.processor = on_gpu;
    SilentProgress silent;
    const auto bytes = static_cast<std::int64_t>(scene.intensity.size() * sizeof(float));
    const BlockMemory there = device_memory(bytes);
    copy_memory(there.data, reinterpret_cast<const std::byte*>(scene.intensity.data()), bytes);
    const Surfaces copied = find_surfaces(scene.intensity, scene.size, search, silent);
    const Surfaces resident =
        find_surfaces_on_gpu(reinterpret_cast<const float*>(there.data), scene.size, search, silent);
    for (std::size_t k = 0; k < copied.all.size(); ++k) {
        EXPECT_EQ(copied.all[k].reasons, resident.all[k].reasons) << k;
        EXPECT_EQ(copied.all[k].quality, resident.all[k].quality) << k;
    }
}

}  // namespace
}  // namespace echolux
