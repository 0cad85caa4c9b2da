// Benchmark of the ray caster on a small volume: 128^3 voxels of layered tissue with speckle, 256 x 256 pixels.
// Measures the wall time of one picture from the call to its pixels on the host.
#ifdef ECHOLUX_RENDER
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>

#include "compute/error.h"
#include "render/renderer.h"

namespace echolux {
namespace {

constexpr std::int64_t edge = 128;

std::vector<float> tissue() {
    std::mt19937 random(1);
    std::exponential_distribution<double> intensity(1);  // fully developed speckle
    std::vector<float> values;
    for (int b = 0; b < edge; ++b) {
        for (int a = 0; a < edge; ++a) {
            const double surface = 24 + 6 * std::sin(0.04 * a) + 5 * std::cos(0.05 * b);
            for (int z = 0; z < edge; ++z) {
                const double below = z - surface;
                const double layer = below < 0 ? 0 : below < 3 ? 3000 : below < 16 ? 150 : below < 20 ? 700 : 400;
                const double power = layer * std::exp(-0.055 * below) * intensity(random) + intensity(random);
                values.push_back(static_cast<float>(10 * std::log10(power + 1e-3)));
            }
        }
    }
    return values;
}

void ray_cast(benchmark::State& state, ViewMode mode, bool lighting) try {
    VolumeGrid grid;
    grid.depth = grid.a_scans = grid.b_scans = edge;
    grid.spacing_um = {5, 5, 5};
    grid.quantity = "db";
    grid.unit = "dB above noise floor";
    static const std::vector<float> values = tissue();
    Renderer renderer;
    renderer.set_volume(grid, values.data());
    View view;
    view.mode = mode;
    view.lighting = lighting;
    view.width = view.height = 256;
    renderer.render(view);  // compiles the shader
    for (auto _ : state) benchmark::DoNotOptimize(renderer.render(view).pixels.data());
    state.SetLabel(renderer.device_name());
} catch (const Error& error) {
    state.SkipWithError(error.what());
}

BENCHMARK_CAPTURE(ray_cast, composite_unlit, ViewMode::composite, false)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(ray_cast, composite_lit, ViewMode::composite, true)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(ray_cast, mip, ViewMode::mip, false)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(ray_cast, isosurface_lit, ViewMode::isosurface, true)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace echolux

#endif
