// Compressive sensing on the GPU, on chip and in passes. It is compared with the CPU's float results, within bounds
// that follow from the arithmetic, and must satisfy the requirements for every backend on the scenes of
// tests/oracle/compressive_test.cpp.
#include "compute/cpu/sparse.h"
#include "compute/indexing.h"
#include "tests/gpu/gpu_run.h"
#include "tests/oracle/sensed_scene.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

using Field = SensedScene::Field;

// Rounding of floats, amplified by step sizes that are quotients of sums: 1e-6 for these scenes.
constexpr double max_of_floats = 3e-5;

// Operands have eleven significant bits: 3e-4 for these scenes, up to 2e-3 for scenes that do not converge in 15 steps.
constexpr double max_of_halves = 5e-3;

class CompressiveOnGpu : public GpuTest, protected SensedScene {
  protected:
    static Field found(const ReconstructionSpec& spec, const std::vector<float>& spectra, const GpuRun& run = {}) {
        return voxels_of<std::complex<float>>(spec, bytes_of_lines(spectra), run);
    }

    static Field on_cpu(const ReconstructionSpec& spec, const std::vector<float>& spectra) {
        return reconstructed<std::complex<float>>(spec, spectra);
    }

    static GpuRun in_passes() { return run_on_gpu(false); }

    static ReconstructionSpec with_dispersion(ReconstructionSpec spec, double a2) {
        spec.recipe.dispersion = a2 != 0;
        spec.recipe.a2_rad = a2;
        return spec;
    }
};

TEST_F(CompressiveOnGpu, TakesSuitablePath) {
    ReconstructionSpec spec = spec_for(1);
    EXPECT_TRUE(takes(spec, "compressive on chip"));
    spec.compressive.transform = SensingTransform::fft;
    EXPECT_TRUE(takes(spec, "compressive on chip"));
    spec.compressive.transform = SensingTransform::exact;
    EXPECT_TRUE(takes(spec, "compressive by matrix products"));
    set(spec, "transform=nufft oversampling=1.5");
    EXPECT_TRUE(takes(spec, "compressive in passes"));
}

TEST_F(CompressiveOnGpu, AgreesWithCpu) {
    constexpr int lines = 6;
    const std::vector<float> spectra = scenes(lines);
    for (const double a2 : {0.0, 30.0}) {
        for (const StepRule step : {StepRule::clamped, StepRule::safeguarded, StepRule::monotone}) {
            ReconstructionSpec spec = with_dispersion(spec_for(lines), a2);
            spec.compressive.step = step;
            spec.compressive.continuation = step != StepRule::clamped;  // without convergence, results may branch
            for (const auto transform : {SensingTransform::nufft, SensingTransform::fft, SensingTransform::exact}) {
                spec.compressive.transform = transform;
                const Field cpu = on_cpu(spec, spectra);
                const double most = transform == SensingTransform::exact ? max_of_halves : max_of_floats;
                const std::string name = "a2 " + std::to_string(a2) + ", step " + std::to_string(int(step)) +
                                         ", transform " + std::to_string(int(transform));
                const double chosen = relative_l2(found(spec, spectra), cpu);
                const double passes = relative_l2(found(spec, spectra, in_passes()), cpu);
                RecordProperty(name, std::to_string(chosen * 1e6) + "e-6, " + std::to_string(passes * 1e6) + "e-6");
                EXPECT_LE(chosen, most) << name;
                EXPECT_LE(passes, most) << name << ", in passes";
            }
        }
    }
}

TEST_F(CompressiveOnGpu, AgreesForEveryMaskAndKernel) {
    const std::vector<float> spectra = scenes(2);
    ReconstructionSpec spec = spec_for(2);
    spec.calibration.mask.assign(n, 0.0);
    for (std::size_t p = 0; p < spec.calibration.mask.size(); ++p) spec.calibration.mask[p] = p % 7 < 3 ? 1 : 0;
    for (const auto mask : {SensingMask::all, SensingMask::uniform, SensingMask::variable, SensingMask::file}) {
        spec.compressive.mask = mask;
        EXPECT_LE(relative_l2(found(spec, spectra), on_cpu(spec, spectra)), max_of_floats) << int(mask);
    }
    for (const NufftRecipe nufft :
         {NufftRecipe{GridKernel::gaussian, 2, 12}, NufftRecipe{GridKernel::exponential, 2, 4},
          NufftRecipe{GridKernel::kaiser_bessel, 1.5, 5}}) {
        spec.nufft = nufft;
        EXPECT_LE(relative_l2(found(spec, spectra), on_cpu(spec, spectra)), max_of_floats) << nufft.width;
    }
    set(spec, "tau=300 depth_begin=50 depth_end=777");
    EXPECT_LE(relative_l2(found(spec, spectra), on_cpu(spec, spectra)), max_of_floats) << "tau in counts";
}

// The samples are up-sampled to a uniform grid on chip, or around cuFFT.
TEST_F(CompressiveOnGpu, MatchesCpuForUpsampledSamples) {
    const std::vector<float> spectra = scenes(3);
    for (const double a2 : {0.0, 30.0}) {
        ReconstructionSpec spec = with(with_dispersion(spec_for(3), a2), "transform=fft upsample=2");
        const Field cpu = on_cpu(spec, spectra);
        EXPECT_LE(relative_l2(found(spec, spectra), cpu), max_of_floats) << a2;
        EXPECT_LE(relative_l2(found(spec, spectra, in_passes()), cpu), max_of_floats) << a2 << ", in passes";
    }
}

// Lengths that fit on chip, with and without a spare warp per block, and lengths that do not.
TEST_F(CompressiveOnGpu, AgreesForAnyLength) {
    for (const std::int64_t samples : {16, 333, 512, 1000, 1024, 4096, 8192}) {
        for (const double a2 : {0.0, 9.0}) {
            ReconstructionSpec spec = with_dispersion(plain_spec(samples, 3), a2);
            set(spec, "recipe.method=compressive mask=uniform share=0.5 compressive.iterations=5");
            const auto last = static_cast<double>(samples - 1);
            spec.calibration.k_polynomial = {0, 0.97 * last, 0.03 * last};
            std::vector<float> spectra;
            for (const std::uint16_t count : moving_reflectors(samples, 3)) spectra.push_back(float(count) - 2200);
            const Field cpu = on_cpu(spec, spectra);
            EXPECT_LE(relative_l2(found(spec, spectra), cpu), max_of_floats) << samples << " samples, a2 " << a2;
            spec.compressive.transform = SensingTransform::exact;
            EXPECT_LE(relative_l2(found(spec, spectra), on_cpu(spec, spectra)), max_of_halves) << samples;
        }
    }
}

TEST_F(CompressiveOnGpu, ThirtyPercentOfSamplesShowAllReflectors) {
    constexpr int lines = 24;
    const ExplicitSums sums(points());
    const std::vector<float> spectra = scenes(lines);
    std::vector<Profile> truths;
    for (int l = 0; l < lines; ++l)
        truths.push_back(sums.solved({spectra.begin() + l * n, spectra.begin() + (l + 1) * n}));
    for (const auto transform : {SensingTransform::nufft, SensingTransform::exact}) {
        for (const bool continuation : {false, true}) {
            ReconstructionSpec spec = spec_for(lines);
            spec.compressive.transform = transform;
            spec.compressive.continuation = continuation;
            const Field bins = found(spec, spectra);
            double db = 0;
            for (int l = 0; l < lines; ++l) db += psnr_db(bins.data() + l * n / 2, truths[std::size_t(l)]) / lines;
            RecordProperty("psnr_" + std::to_string(int(transform)) + (continuation ? "_continued" : ""),
                           std::to_string(db));
            EXPECT_GE(db, continuation ? 45 : 38);
        }
    }
}

// As tests/oracle/compressive_test.cpp on the CPU. The exact transform runs on the CPU, because the error of halves
// would hide that of the best kernels.
TEST_F(CompressiveOnGpu, FastTransformMatchesExactOne) {
    const std::vector<double> depths{43.0, 162.2, 300.5, 458.3, 593.1, 727.6};
    const std::vector<float> spectra = mirrors(depths);
    ReconstructionSpec spec = spec_for(std::ssize(depths));
    spec.compressive.transform = SensingTransform::exact;
    const Field exact = on_cpu(spec, spectra);
    EXPECT_LE(relative_l2(found(spec, spectra), exact), max_of_halves);
    spec.compressive.transform = SensingTransform::nufft;
    spec.nufft = {GridKernel::kaiser_bessel, 2, 5};
    EXPECT_LE(relative_l2(found(spec, spectra), exact), 2 * 3.9e-6);
    spec.nufft = {GridKernel::kaiser_bessel, 2, 3};
    EXPECT_LE(relative_l2(found(spec, spectra), exact), 2 * 5.3e-4);
    spec.nufft = {GridKernel::kaiser_bessel, 1.5, 3};
    EXPECT_LE(relative_l2(found(spec, spectra), exact), 2 * 8.6e-4);
}

// Computes the objective of the profiles after 1, 2 ... iterations on the host in double. A strong chirp is included
// because it needs more step halvings.
TEST_F(CompressiveOnGpu, MonotoneSearchNeverGetsWorse) {
    constexpr int lines = 4, max_iterations = 15;
    const std::vector<float> spectra = scenes(lines);
    for (const auto& [on_chip, chirped] : {std::pair{true, false}, {false, false}, {true, true}, {false, true}}) {
        ReconstructionSpec spec = spec_for(lines);
        spec.compressive.step = StepRule::monotone;
        if (chirped) {
            spec.calibration.wavelengths_nm = chirped_wavelengths_nm(n);
            spec.compressive.mask = SensingMask::all;
        }
        const cpu::CompressiveTables tables(spec);
        const SensingTables& sensed = tables.sensing_tables;
        const auto sensing = tables.sensing();
        const auto objective = [&](const std::complex<float>* bins, const float* spectrum) {
            Field profile(bins, bins + n / 2);
            std::vector<float> samples, shown(sensed.samples.size());
            for (const std::int32_t p : sensed.samples) samples.push_back(spectrum[p]);
            Field guess(n / 2);
            sensing->to_depth(samples.data(), guess.data());
            float largest = 0;
            for (const auto& bin : guess) largest = std::max(largest, std::abs(bin));
            for (auto& bin : profile) bin *= std::sqrt(float{n});  // voxels are x / sqrt(n)
            sensing->to_samples(profile.data(), shown.data());
            double left = 0, sum = 0;
            for (std::size_t p = 0; p < shown.size(); ++p) left += std::pow(double{shown[p]} - double{samples[p]}, 2);
            for (std::size_t m = 0; m < profile.size(); ++m) sum += (m == 0 ? 1 : 2) * double{std::abs(profile[m])};
            return left / 2 + spec.compressive.tau_relative * double{largest} * sum;
        };
        std::vector<double> first, before(lines, 1e30);
        for (spec.compressive.iterations = 1; spec.compressive.iterations <= max_iterations;
             ++spec.compressive.iterations) {
            const Field bins = found(spec, spectra, on_chip ? GpuRun{} : in_passes());
            for (int l = 0; l < lines; ++l) {
                const double now = objective(bins.data() + l * n / 2, spectra.data() + l * n);
                EXPECT_LE(now, before[std::size_t(l)] * (1 + 5e-6))
                    << spec.compressive.iterations << ", line " << l << chirped;
                before[std::size_t(l)] = now;
            }
            if (first.empty()) first = before;
        }
        for (int l = 0; l < lines; ++l)
            EXPECT_LT(before[std::size_t(l)], (chirped ? 0.9 : 0.6) * first[std::size_t(l)]);
    }
}

TEST_F(CompressiveOnGpu, LargeTauAndEmptyLineGiveZero) {
    for (const auto transform : {SensingTransform::nufft, SensingTransform::exact}) {
        for (const double a2 : {0.0, 30.0}) {
            for (const bool chosen : {true, false}) {
                ReconstructionSpec spec = with_dispersion(spec_for(2), a2);
                spec.compressive.transform = transform;
                const GpuRun run = chosen ? GpuRun{} : in_passes();
                for (const auto& bin : found(spec, std::vector<float>(2 * n), run)) EXPECT_EQ(bin, Field::value_type());
                spec.compressive.tau_relative = 1;
                for (const auto& bin : found(spec, scenes(2), run)) EXPECT_EQ(bin, Field::value_type());
            }
        }
    }
}

// Adjacent lines of very different power, each with its own scale: the results are proportional.
TEST_F(CompressiveOnGpu, MatrixFindsLinesOfAnyStrength) {
    const std::vector<float> factors{1e-6f, 1, 1e6f, 0};
    ReconstructionSpec spec = spec_for(std::ssize(factors));
    spec.compressive.transform = SensingTransform::exact;
    std::vector<float> spectra;
    for (const float factor : factors) {
        for (const float sample : scene(1)) spectra.push_back(factor * sample);
    }
    const Field all = found(spec, spectra);
    spec.geometry.a_scans = 1;
    const Field expected = on_cpu(spec, scene(1));
    for (std::size_t l = 0; l + 1 < factors.size(); ++l) {
        Field line(all.begin() + std::ptrdiff_t(l * n / 2), all.begin() + std::ptrdiff_t((l + 1) * n / 2));
        for (auto& bin : line) bin /= factors[l];
        EXPECT_LE(relative_l2(line, expected), max_of_halves) << factors[l];
    }
    EXPECT_TRUE(std::all_of(all.end() - n / 2, all.end(), [](const auto& bin) { return bin == Field::value_type(); }));
}

// The bits of a line do not depend on its neighbours, the block size or the number of streams. NaN samples are read as
// zero.
TEST_F(CompressiveOnGpu, LineHasSameBitsAtAnyPlace) {
    constexpr std::int64_t a_scans = 37, b_scans = 7, lines = a_scans * b_scans, different = 5;
    std::vector<float> spectra;
    for (std::int64_t l = 0; l < lines; ++l)
        std::ranges::copy(scene(static_cast<unsigned>(l % different)), std::back_inserter(spectra));
    ReconstructionSpec spec = spec_for(a_scans);
    spec.geometry.b_scans = b_scans;
    for (const auto transform : {SensingTransform::nufft, SensingTransform::exact, SensingTransform::fft}) {
        for (const bool chosen : {true, false}) {
            spec.compressive.transform = transform;
            const auto field = [&](const std::vector<float>& raw, std::int64_t block, int streams) {
                GpuRun run = chosen ? GpuRun{} : in_passes();
                run.block_b_scans = block;
                run.choice.streams = streams;
                return found(spec, raw, run);
            };
            const Field all = field(spectra, b_scans, 1);
            for (std::int64_t l = different; l < lines; ++l) {
                ASSERT_EQ(
                    std::memcmp(all.data() + l % different * n / 2, all.data() + l * n / 2, n / 2 * sizeof(all[0])), 0)
                    << "line " << l << ", transform " << int(transform);
            }
            for (const std::int64_t block : {1, 3}) {
                EXPECT_TRUE(same_bits(field(spectra, block, 3), all)) << block << ", transform " << int(transform);
            }
            std::vector<float> broken = spectra;
            broken[index(2 * n + 5)] = std::numeric_limits<float>::quiet_NaN();
            std::fill_n(broken.begin() + 3 * n, n, std::numeric_limits<float>::quiet_NaN());
            const Field beside = field(broken, b_scans, 2);
            EXPECT_EQ(std::memcmp(beside.data(), all.data(), 2 * n / 2 * sizeof(all[0])), 0);
            EXPECT_EQ(std::memcmp(beside.data() + 4 * n / 2, all.data() + 4 * n / 2,
                                  (all.size() - 4 * n / 2) * sizeof(all[0])),
                      0);
        }
    }
}

TEST_F(CompressiveOnGpu, BatchEqualsSingleLines) {
    constexpr int lines = 9;
    const std::vector<float> spectra = scenes(lines);
    for (const double a2 : {0.0, 30.0}) {
        const Field together = found(with_dispersion(spec_for(lines), a2), spectra);
        for (int l = 0; l < lines; ++l) {
            const Field alone = found(with_dispersion(spec_for(1), a2), scene(static_cast<unsigned>(l)));
            EXPECT_EQ(std::memcmp(alone.data(), together.data() + l * n / 2, n / 2 * sizeof(alone[0])), 0) << l;
        }
    }
}

}  // namespace
}  // namespace echolux
