// Entropies for trial phases on the GPU compared with the CPU's, for any number of trials per batch, and the search
// that uses them.
#include "compute/depth_entropy.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <tuple>

#include "compute/calibrate/dispersion_search.h"
#include "compute/indexing.h"
#include "tests/gpu/gpu_run.h"
#include "tests/oracle/instrument.h"

namespace echolux {
namespace {

BackendChoice on(Backend backend) {
    return {.backend = backend};
}

// Two reflectors and noise; phases of increasing curvature.
SpectraOnGrid spectra_of(std::int64_t points, std::int64_t lines) {
    std::mt19937 random(3);
    std::normal_distribution<float> normal(0, 0.3F);
    SpectraOnGrid spectra{{}, points};
    for (std::int64_t i = 0; i < points * lines; ++i) {
        const auto u = static_cast<float>(i % points);
        spectra.values.push_back(std::polar(1.0F, 0.2F * u) + std::polar(0.3F, 0.47F * u) +
                                 std::complex<float>(normal(random), normal(random)));
    }
    return spectra;
}

std::vector<std::complex<float>> curved_phases(std::int64_t points, std::int64_t trials) {
    std::vector<std::complex<float>> turns;
    for (std::int64_t i = 0; i < points * trials; ++i) {
        const double kappa = 2 * static_cast<double>(i % points) / static_cast<double>(points - 1) - 1;
        turns.emplace_back(std::polar(1.0, static_cast<double>(i / points) * kappa * kappa));
    }
    return turns;
}

class EntropyOnGpu : public GpuTest {};

// More trials than fit in a batch, odd lengths, few lines.
TEST_F(EntropyOnGpu, MatchesCpu) {
    for (const auto& [points, lines, trials] : {std::tuple<std::int64_t, std::int64_t, std::int64_t>{512, 512, 41},
                                                {2048, 512, 41},
                                                {1000, 3, 5},
                                                {333, 65, 70},
                                                {64, 1, 1}}) {
        const SpectraOnGrid spectra = spectra_of(points, lines);
        const auto turns = curved_phases(points, trials);
        const auto gpu = depth_entropy(spectra, on(Backend::cuda));
        EXPECT_EQ(gpu->backend(), Backend::cuda);
        const std::vector<double> found = gpu->of(turns);
        const std::vector<double> expected = depth_entropy(spectra, on(Backend::cpu))->of(turns);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5) << points << " " << i;
        for (const std::int64_t i : {std::int64_t{0}, trials / 2, trials - 1}) {
            const auto alone = gpu->of(std::span(turns).subspan(index(i * points), index(points)));
            EXPECT_EQ(alone.front(), found[index(i)]) << "a trial alone is the same";
        }
    }
}

// Uses every line of a B-scan of 512 A-scans. The time is recorded but has no limit.
TEST_F(EntropyOnGpu, SearchMatchesCpu) {
    const ClosedFormInstrument instrument;
    std::vector<double> theta;
    const auto& k = instrument.uniform_k;
    for (const double at : k) {
        const double kappa = 2 * (at - k.front()) / (k.back() - k.front()) - 1;
        theta.push_back((38 - 9 * kappa) * kappa * kappa);
    }
    std::mt19937 random(5);
    std::normal_distribution<float> noise(0, 0.05F);
    std::vector<float> spectra;
    constexpr std::int64_t a_scans = 512;
    for (std::int64_t line = 0; line < a_scans; ++line) {
        const std::vector<float> near = instrument.fringe(k, 200 + 0.3 * static_cast<double>(line), theta);
        const std::vector<float> far = instrument.fringe(k, 500 - 0.2 * static_cast<double>(line), theta);
        for (std::size_t j = 0; j < near.size(); ++j) spectra.push_back(near[j] + 0.4F * far[j] + noise(random));
    }
    ReconstructionSpec spec = plain_spec(ClosedFormInstrument::samples, a_scans);
    spec.recipe.window = Window::hann;
    const auto searched = [&](Backend backend, std::int64_t lines) {
        DispersionSearch search{.lines = lines, .processor = on(backend)};
        const auto begin = std::chrono::steady_clock::now();
        const DispersionResult found =
            searched_dispersion(spec, block_of(bytes_of_lines(spectra), 0, 1), search, [](double) { return true; });
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        std::printf("%s, %ld of 512 lines of 2048: %.3f s, %ld trials, a2 %.4f a3 %.4f\n",
                    backend == Backend::cuda ? "GPU" : "CPU", static_cast<long>(lines), took.count(),
                    static_cast<long>(found.trials), found.a2_rad, found.a3_rad);
        return found;
    };
    searched(Backend::cuda, 64);  // loads the libraries
    const DispersionResult gpu = searched(Backend::cuda, a_scans), cpu = searched(Backend::cpu, a_scans);
    searched(Backend::cpu, 64);
    EXPECT_EQ(gpu.processor, Backend::cuda);
    EXPECT_NEAR(gpu.a2_rad, cpu.a2_rad, 0.01);
    EXPECT_NEAR(gpu.a3_rad, cpu.a3_rad, 0.03);
    EXPECT_NEAR(gpu.a2_rad, 38, 0.2);
    EXPECT_NEAR(gpu.a3_rad, -9, 0.3);
}

}  // namespace
}  // namespace echolux
