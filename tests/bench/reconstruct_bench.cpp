// Reconstruction rates on the CPU, compared with FFTW's bare complex transform of the same length in the same run.
// `of_bare_fft` is the fraction of FFTW's rate that the whole chain reaches on one thread, from u16 counts to u8 dB.
#include <benchmark/benchmark.h>
#include <fftw3.h>

#include <chrono>
#include <complex>
#include <random>
#include <vector>

#include "compute/parallel_for.h"
#include "compute/reconstructor.h"

namespace {

using namespace echolux;

constexpr std::int64_t samples = 2048, a_scans = 512, b_scans = 8;

class BareTransform {
  public:
    BareTransform()
        : in_(fftwf_alloc_complex(samples)), out_(fftwf_alloc_complex(samples)),
          spec_(fftwf_plan_dft_1d(samples, in_, out_, FFTW_FORWARD, FFTW_ESTIMATE)) {
        for (std::int64_t i = 0; i < samples; ++i) {
            in_[i][0] = static_cast<float>(i % 17);
            in_[i][1] = static_cast<float>(i % 5);
        }
    }
    ~BareTransform() {
        fftwf_destroy_plan(spec_);
        fftwf_free(out_);
        fftwf_free(in_);
    }
    BareTransform(const BareTransform&) = delete;
    BareTransform& operator=(const BareTransform&) = delete;

    void run() const {
        fftwf_execute(spec_);
        benchmark::DoNotOptimize(out_[1][0]);
    }

    // Returns transforms per second, measured over about 50 ms.
    double rate() const {
        constexpr int count = 20000;
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < count; ++i) run();
        return count / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

  private:
    fftwf_complex* in_;
    fftwf_complex* out_;
    fftwf_plan spec_;
};

void bare_transform(benchmark::State& state) {
    const BareTransform transform;
    for (auto step : state) transform.run();
    state.counters["a_scans_per_s"] = benchmark::Counter(1, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(bare_transform)->UseRealTime();

ReconstructionSpec standard_spec() {
    ReconstructionSpec spec;
    spec.geometry = {.samples = samples, .a_scans = a_scans, .b_scans = b_scans};
    for (std::int64_t j = 0; j < samples; ++j) {
        const double u = 2.0 * static_cast<double>(j) / (samples - 1) - 1;
        spec.calibration.k_positions.push_back((samples - 1) * (0.5 + 0.5 * (u + 0.08 * (u * u - 1))));
    }
    spec.calibration.background.assign(samples, 2000.0);
    spec.recipe.a2_rad = 38;
    spec.recipe.a3_rad = -9;
    spec.recipe.voxel = VoxelType::u8;
    spec.recipe.noise_floor_db = 1;
    spec.block_b_scans = b_scans;
    return spec;
}

void reconstruct(benchmark::State& state, void (*change)(ReconstructionSpec&)) {
    ReconstructionSpec spec = standard_spec();
    change(spec);
    std::mt19937 random(1);
    std::vector<std::uint16_t> spectra(samples * a_scans * b_scans);
    for (auto& x : spectra) x = static_cast<std::uint16_t>(1900 + random() % 200);

    set_thread_count(static_cast<int>(state.range(0)));
    const auto reconstructor = plan_on_cpu(spec);
    const VolumeGrid& grid = reconstructor->grid();
    std::vector<std::byte> voxels(static_cast<std::size_t>(grid.bytes()));
    const std::int64_t a_scan_bytes = grid.depth * bytes_of(grid.type);
    const VoxelTarget place{TargetKind::host_linear, voxels.data(), 0, a_scan_bytes, a_scan_bytes * grid.a_scans};
    Block block;
    block.data = reinterpret_cast<const std::byte*>(spectra.data());
    block.bytes = static_cast<std::int64_t>(spectra.size() * sizeof(spectra[0]));
    block.b_scans = b_scans;

    const BareTransform transform;
    const double bare_before = transform.rate();
    const auto start = std::chrono::steady_clock::now();
    for (auto step : state) reconstructor->wait(reconstructor->submit(block, place));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double rate = static_cast<double>(state.iterations() * a_scans * b_scans) / seconds;
    state.counters["a_scans_per_s"] = rate;
    state.counters["of_bare_fft"] = rate / ((bare_before + transform.rate()) / 2);
    set_thread_count(0);
}

#define ECHOLUX_CHAIN(name, change) \
    BENCHMARK_CAPTURE(reconstruct, name, [](ReconstructionSpec& p) { change; })->UseRealTime()

ECHOLUX_CHAIN(standard, (void)p)->ArgName("threads")->Arg(1)->Arg(2);
ECHOLUX_CHAIN(real_transform, p.recipe.dispersion = false)->ArgName("threads")->Arg(1);
ECHOLUX_CHAIN(f32_voxels, p.recipe.voxel = VoxelType::f32)->ArgName("threads")->Arg(1);
ECHOLUX_CHAIN(complex_voxels, p.recipe.quantity = Quantity::complex)->ArgName("threads")->Arg(1);
ECHOLUX_CHAIN(frame_mean, p.recipe.background = Background::frame_mean)->ArgName("threads")->Arg(1);
ECHOLUX_CHAIN(linear, p.recipe.resample = Resample::linear)->ArgName("threads")->Arg(1);
ECHOLUX_CHAIN(spline, p.recipe.resample = Resample::spline)->ArgName("threads")->Arg(1);
ECHOLUX_CHAIN(upsample_2, p.recipe.upsample = 2)->ArgName("threads")->Arg(1);
ECHOLUX_CHAIN(zero_padding_2, p.recipe.zero_padding = 2)->ArgName("threads")->Arg(1);
ECHOLUX_CHAIN(median_pattern, p.recipe.fixed_pattern = FixedPattern::median)->ArgName("threads")->Arg(1);

}  // namespace
