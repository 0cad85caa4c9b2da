// Full range on the GPU. It must meet the same truths as the CPU, on chip and in passes, and agree with the CPU for
// many lengths, precisions and recipes. A line has the same bits wherever it is.
#include "compute/indexing.h"
#include "tests/gpu/gpu_run.h"
#include "tests/oracle/full_range_truths.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

// ---- truths shared with the CPU -------------------------------------------------------------------------------------

std::unique_ptr<Reconstructor> plan_on_chip(const ReconstructionSpec& spec) {
    return make_reconstructor(spec, {.backend = Backend::cuda});
}

std::unique_ptr<Reconstructor> plan_in_passes(const ReconstructionSpec& spec) {
    return make_reconstructor(spec, {.backend = Backend::cuda, .fused = false});
}

// Empty without a GPU; FullRangeOnGpu reports the reason.
std::vector<FullRangeMachine> machines() {
    if (surveyed_gpus().usable.empty()) return {};
    return {{"on_chip", &plan_on_chip}, {"in_passes", &plan_in_passes}};
}

INSTANTIATE_TEST_SUITE_P(Gpu, FullRange, testing::ValuesIn(machines()),
                         [](const auto& test) { return test.param.name; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FullRange);

// ---- agreement with the CPU -----------------------------------------------------------------------------------------

using Field = std::vector<std::complex<float>>;

// In rad at the band edge; limited because few samples resolve less.
double dispersion_of(std::int64_t samples) {
    return std::min(80.0, 0.5 * static_cast<double>(samples));
}

// Returns `lines` spectra of `samples` u16 values: layers on both sides of zero delay, and noise.
std::vector<std::uint16_t> two_sided_spectra(std::int64_t samples, std::int64_t lines) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::normal_distribution<double> noise(0, 20);
    std::vector<std::uint16_t> spectra;
    for (std::int64_t line = 0; line < lines; ++line) {
        std::array<full_range::Reflector, 4> scene;
        for (auto& r : scene)
            r = {0.8 * (uniform(random) - 0.5), std::pow(10, 2 + uniform(random)), 6.28 * uniform(random)};
        for (std::int64_t p = 0; p < samples; ++p) {
            const double kappa = 2 * static_cast<double>(p) / static_cast<double>(samples - 1) - 1;
            double sum = 30000 + noise(random);
            for (const auto& [depth, amplitude, phase] : scene) {
                sum += amplitude * std::cos(6.283185307 * depth * static_cast<double>(p) + phase +
                                            dispersion_of(samples) * kappa * kappa);
            }
            spectra.push_back(static_cast<std::uint16_t>(sum));
        }
    }
    return spectra;
}

ReconstructionSpec two_sided_spec(std::int64_t samples, std::int64_t a_scans, std::int64_t b_scans) {
    ReconstructionSpec spec;
    set(spec,
        "recipe.method=defr background=frame_mean resample=lagrange3 quantity=complex voxel=complex64 "
        "levels=fixed");
    spec.geometry = {.samples = samples, .a_scans = a_scans, .b_scans = b_scans};
    spec.recipe.a2_rad = dispersion_of(samples);
    const auto last = static_cast<double>(samples - 1);
    spec.calibration.k_polynomial = {0.005 * last, 0.985 * last, 0.01 * last};
    return spec;
}

class FullRangeOnGpu : public GpuTest {
  protected:
    static Field field(const ReconstructionSpec& spec, const std::vector<std::uint16_t>& spectra, GpuRun run) {
        return voxels_of<std::complex<float>>(spec, bytes_of_lines(spectra), run);
    }
};

TEST_F(FullRangeOnGpu, RunsTruthTests) {
    EXPECT_FALSE(machines().empty());
}

TEST_F(FullRangeOnGpu, ReportsItsPath) {
    ReconstructionSpec spec = two_sided_spec(2048, 4, 1);
    EXPECT_TRUE(takes(spec, "full range on chip")) << way_of(spec);
    EXPECT_NE(way_of(spec, run_on_gpu(false).choice).find("full range in passes"), std::string::npos);
    EXPECT_TRUE(takes(two_sided_spec(2000, 4, 1), "full range in passes"));
    spec.defr.double_precision = true;
    EXPECT_TRUE(takes(spec, "full range in passes"));
}

// In float, decisions that depend on the last bit change the result: peaks as small as the noise are found an iteration
// earlier or later.
TEST_F(FullRangeOnGpu, AgreesWithCpuAtAnyLength) {
    for (const std::int64_t samples : {16, 509, 512, 832, 1024, 2048, 2049, 4096, 8192, 16384}) {
        const auto spectra = two_sided_spectra(samples, 12);
        ReconstructionSpec spec = two_sided_spec(samples, 4, 3);
        for (const bool precise : {false, true}) {
            spec.defr.double_precision = precise;
            const Field cpu = field(spec, spectra, run_on_cpu());
            for (const bool fused : {true, false}) {
                EXPECT_LE(normalised_error(field(spec, spectra, run_on_gpu(fused, 2)), cpu), 1e-7)
                    << samples << (precise ? " in double" : " in float") << (fused ? ", fused" : "");
            }
        }
    }
}

TEST_F(FullRangeOnGpu, AgreesWithCpuForOtherOptions) {
    const std::int64_t samples = 2048;
    const auto spectra = two_sided_spectra(samples, 24);
    const auto check = [&](const char* what, auto change) {
        ReconstructionSpec spec = two_sided_spec(samples, 8, 3);
        change(spec);
        const Field cpu = field(spec, spectra, run_on_cpu());
        for (const bool fused : {true, false}) {
            EXPECT_LE(normalised_error(field(spec, spectra, run_on_gpu(fused)), cpu), 1e-7) << what << fused;
        }
    };
    check("cropped", [](auto& spec) { spec.recipe.depth_begin = 700, spec.recipe.depth_end = 1301; });
    check("peaks alone", [](auto& spec) { spec.defr.residual = false; });
    check("no iterations", [](auto& spec) { spec.defr.iterations = 0, spec.defr.residual = false; });
    check("many peaks", [](auto& spec) { spec.defr.delta = 0; });
    check("one peak at a time", [](auto& spec) { spec.defr.delta = 1; });
    check("up-sampled", [](auto& spec) { spec.recipe.upsample = 2, spec.recipe.resample = Resample::linear; });
    check("spline", [](auto& spec) { spec.recipe.resample = Resample::spline; });
    check("fixed pattern", [](auto& spec) { spec.recipe.fixed_pattern = FixedPattern::median; });
    check("flipped", [](auto& spec) { spec.geometry.depth_flip = true; });
}

// ---- reproducible bits ----------------------------------------------------------------------------------------------

TEST_F(FullRangeOnGpu, BitsDoNotDependOnBlocksAndStreams) {
    const auto spectra = two_sided_spectra(1024, 7 * 61);
    const ReconstructionSpec spec = two_sided_spec(1024, 61, 7);
    for (const bool fused : {true, false}) {
        const Field whole = field(spec, spectra, run_on_gpu(fused, 7, 1));
        for (const std::int64_t block : {1, 2, 3}) {
            for (const int streams : {1, 3}) {
                EXPECT_TRUE(same_bits(field(spec, spectra, run_on_gpu(fused, block, streams)), whole))
                    << block << streams;
            }
        }
    }
}

// More lines than one launch processes.
TEST_F(FullRangeOnGpu, LineHasSameBitsAtAnyPlace) {
    const std::int64_t samples = 512, lines = 20011;
    ReconstructionSpec spec = two_sided_spec(samples, lines, 1);
    spec.recipe.background = Background::none;
    std::vector<std::uint16_t> spectra = two_sided_spectra(samples, 1);
    spectra.resize(index(samples * lines));
    for (std::int64_t line = 1; line < lines; ++line) {
        std::copy_n(spectra.begin(), samples, spectra.begin() + line * samples);
    }
    for (const bool fused : {true, false}) {
        const Field all = field(spec, spectra, run_on_gpu(fused));
        const std::size_t depth = samples;
        for (std::size_t line = 1; line < index(lines); ++line) {
            ASSERT_EQ(std::memcmp(all.data(), all.data() + line * depth, depth * sizeof(all[0])), 0) << line;
        }
    }
}

// Dark lines, and lines 3e10 times as bright as the others, do not affect their neighbours.
TEST_F(FullRangeOnGpu, LinesAreIndependent) {
    const std::size_t n = 2048;
    ReconstructionSpec spec = full_range::spec_of(160, 30, 10);
    spec.geometry.a_scans = 3;
    std::vector<float> spectra;
    for (const unsigned seed : {1u, 2u, 3u}) {
        const auto one = full_range::spectrum_of(full_range::layers(seed), 160, 30);
        spectra.insert(spectra.end(), one.begin(), one.end());
    }
    for (const bool fused : {true, false}) {
        const auto all = voxels_of<std::complex<float>>(spec, bytes_of_lines(spectra), run_on_gpu(fused));
        std::vector<float> other = spectra;
        std::fill_n(other.begin(), n, 0.0f);
        for (std::size_t p = 0; p < n; ++p) other[2 * n + p] *= 3e10f;
        const auto beside = voxels_of<std::complex<float>>(spec, bytes_of_lines(other), run_on_gpu(fused));
        EXPECT_EQ(std::memcmp(all.data() + n, beside.data() + n, n * sizeof(all[0])), 0);
        EXPECT_TRUE(std::all_of(beside.begin(), beside.begin() + n, [](auto v) { return v == 0.0f; }));
        EXPECT_TRUE(std::all_of(beside.begin(), beside.end(), [](auto v) { return std::isfinite(std::norm(v)); }));
    }
}

}  // namespace
}  // namespace echolux
