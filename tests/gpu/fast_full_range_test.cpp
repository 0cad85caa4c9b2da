// Full range in half precision on the GPU, compared with truths in closed form.
#include "tests/gpu/fast_run.h"
#include "tests/oracle/full_range_scenes.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

// The choice of peaks depends on the last bit, so results are compared with the truth and with other runs in half
// precision, not with the CPU.
class FastFullRange : public GpuTest {
  protected:
    static constexpr std::int64_t n = full_range::n;

    static ReconstructionSpec spec_of(std::int64_t a_scans, std::int64_t iterations) {
        ReconstructionSpec spec = with(full_range::spec_of(160, 30, iterations), "sample_format=u16 background=stored");
        spec.geometry.a_scans = a_scans;
        spec.calibration.background.assign(n, light);
        set(spec, "quantity=amplitude voxel=f32 precision=fast");
        return spec;
    }

    static void add_counts(std::vector<std::uint16_t>& spectra, const std::vector<full_range::Reflector>& scene) {
        for (const float value : full_range::spectrum_of(scene, 160, 30)) {
            spectra.push_back(static_cast<std::uint16_t>(std::lround(light + counts * double{value})));
        }
    }

    static double suppression_db(const float* found, const std::vector<full_range::Reflector>& scene) {
        double error = 0, energy = 0;
        for (const std::complex<double> bin : full_range::truth_of(scene)) {
            const double truth = counts * std::abs(bin);
            energy += truth * truth;
            error += (double{*found} - truth) * (double{*found} - truth);
            ++found;
        }
        return 10 * std::log10(energy / error);
    }

    static std::vector<float> voxels(const ReconstructionSpec& spec, const std::vector<std::uint16_t>& spectra) {
        return voxels_of<float>(spec, bytes_of_lines(spectra), {.block_b_scans = 1});
    }

  private:
    static constexpr double light = 30000, counts = 4000;
};

// Limits are those of floats (full_range_truths.h) where these are above the noise of halves.
TEST_F(FastFullRange, SuppressesFalseImages) {
    const std::vector<full_range::Reflector> mirror{{-300.3, 1, 0.7}};
    std::vector<std::uint16_t> spectra;
    add_counts(spectra, mirror);
    for (const auto& [iterations, least] : {std::pair{1, 12.0}, {2, 18.0}, {3, 28.0}, {5, 45.0}, {10, 50.0}}) {
        const ReconstructionSpec spec = spec_of(1, iterations);
        ASSERT_TRUE(is_in_halves(spec));
        const double db = suppression_db(voxels(spec, spectra).data(), mirror);
        RecordProperty("mirror_" + std::to_string(iterations), std::to_string(db));
        EXPECT_GE(db, least) << iterations;
    }
    constexpr unsigned scenes = 40;
    spectra.clear();
    for (unsigned seed = 0; seed < scenes; ++seed) add_counts(spectra, full_range::layers(seed));
    for (const auto& [iterations, least] : {std::pair{10, 42.0}, {15, 48.0}}) {
        const std::vector<float> all = voxels(spec_of(scenes, iterations), spectra);
        std::vector<double> db;
        for (unsigned seed = 0; seed < scenes; ++seed) {
            db.push_back(suppression_db(all.data() + seed * n, full_range::layers(seed)));
        }
        RecordProperty("layers_" + std::to_string(iterations), std::to_string(full_range::median(db)));
        EXPECT_GE(full_range::median(db), least) << iterations;
    }
}

// Two lines share a thread block; with an odd number, the last has one to itself.
TEST_F(FastFullRange, LinesAreIndependent) {
    std::vector<std::uint16_t> all;
    add_counts(all, full_range::layers(1));
    all.insert(all.end(), n, std::uint16_t{30000});  // a dark line
    add_counts(all, full_range::layers(2));
    const std::vector<float> together = voxels(spec_of(3, 10), all);
    for (std::int64_t line = 0; line < 3; ++line) {
        const std::vector<std::uint16_t> alone(all.begin() + line * n, all.begin() + (line + 1) * n);
        const std::vector<float> expected = voxels(spec_of(1, 10), alone);
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), together.begin() + line * n)) << line;
    }
    EXPECT_TRUE(std::all_of(together.begin() + n, together.begin() + 2 * n, [](float value) { return value == 0; }));
}

// The largest possible bin of 16-bit samples at each length: no intermediate half overflows. The choice of the other
// peaks depends on the last bit and changes this bin by at most 0.45 % on an H200.
TEST_F(FastFullRange, SaturatedSpectraStayFinite) {
    for (const std::int64_t samples : {512, 1024, 2048, 4096, 8192}) {
        ReconstructionSpec spec = fast_spec(samples);
        set(spec, "recipe.method=defr resample=none a2_rad=80 background=none window=rect");
        std::vector<std::uint16_t> spectra;
        for (std::int64_t i = 0; i < 36 * samples; ++i) {
            const double u = static_cast<double>(i % samples) / static_cast<double>(samples - 1), kappa = 2 * u - 1;
            const double phase = 0.6 * static_cast<double>(i % samples) + 80 * kappa * kappa;
            spectra.push_back(static_cast<std::uint16_t>(std::cos(phase) > 0 ? 65535 : 0));
        }
        ASSERT_TRUE(is_in_halves(spec));
        const std::vector<float> halves = voxels(spec, spectra);
        spec.recipe.precision = Precision::exact;
        const std::vector<float> exact = voxels(spec, spectra);
        EXPECT_NEAR(*std::ranges::max_element(halves) / *std::ranges::max_element(exact), 1, 0.01) << samples;
        EXPECT_TRUE(std::ranges::all_of(halves, [](float value) { return std::isfinite(value); })) << samples;
    }
}

TEST_F(FastFullRange, UpsamplesInHalves) {
    std::vector<std::uint16_t> spectra;
    const std::vector<full_range::Reflector> mirror{{-300.3, 1, 0.7}};
    add_counts(spectra, mirror);
    ReconstructionSpec spec = with(spec_of(1, 10), "resample=lagrange3 upsample=2");
    spec.calibration.k_polynomial = {0, static_cast<double>(n - 1)};
    ASSERT_TRUE(is_in_halves(spec));
    EXPECT_GE(suppression_db(voxels(spec, spectra).data(), mirror), 45);
    set(spec, "quantity=complex voxel=complex64");
    EXPECT_FALSE(is_in_halves(spec));
}

}  // namespace
}  // namespace echolux
