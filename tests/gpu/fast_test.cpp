// recipe.precision = fast on the GPU compared with the exact CPU: every recipe that runs in halves, and that all others
// stay exact. The limits follow from eleven bits and are measured (docs/performance.md), not chosen to pass.
#include <functional>
#include <string>

#include "compute/cuda/transform.h"
#include "compute/indexing.h"
#include "tests/gpu/fast_run.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

constexpr double max_error = 2e-6;  // 57 dB below the power of a line

struct Change {
    std::string name;
    std::function<void(ReconstructionSpec&)> make;
};

class Fast : public GpuTest, public testing::WithParamInterface<std::tuple<Change, std::int64_t>> {};

TEST_P(Fast, ApproximatesExactResult) {
    ReconstructionSpec spec = fast_spec(std::get<1>(GetParam()));
    const auto spectra = moving_reflectors(spec.geometry.samples, 36);
    std::get<0>(GetParam()).make(spec);
    ASSERT_TRUE(is_in_halves(spec));
    const double error = error_of(spec, bytes_of_lines(spectra));
    RecordProperty("error", std::to_string(error * 1e6) + "e-6");
    EXPECT_LE(error, max_error);
    EXPECT_GT(error, 1e-9) << "that cannot be half precision";
}

TEST_P(Fast, HasSameBitsInBlocksOfAnySize) {
    ReconstructionSpec spec = fast_spec(std::get<1>(GetParam()));
    const auto spectra = moving_reflectors(spec.geometry.samples, 36);
    std::get<0>(GetParam()).make(spec);
    set(spec, "quantity=db voxel=u8");
    const auto whole = voxels_of<std::uint8_t>(spec, bytes_of_lines(spectra), {.block_b_scans = 4});
    const auto parts = voxels_of<std::uint8_t>(spec, bytes_of_lines(spectra), {.block_b_scans = 1});
    EXPECT_EQ(parts, whole);
    EXPECT_NE(*std::ranges::max_element(whole), *std::ranges::min_element(whole));
}

const Change changes[] = {
    {"plain", [](ReconstructionSpec&) {}},
    {"real_weights", [](ReconstructionSpec& spec) { spec.recipe.a2_rad = 0; }},
    {"running", [](ReconstructionSpec& spec) { spec.recipe.background = Background::running; }},
    {"stored",
     [](ReconstructionSpec& spec) {
         spec.recipe.background = Background::stored;
         spec.calibration.background.assign(index(spec.geometry.samples), 2187.3);
     }},
    {"no_background_no_window", [](ReconstructionSpec& spec) { set(spec, "background=none window=rect"); }},
    {"linear", [](ReconstructionSpec& spec) { spec.recipe.resample = Resample::linear; }},
    {"cropped_and_flipped",
     [](ReconstructionSpec& spec) {
         spec.recipe.depth_begin = spec.geometry.samples / 40 + 1;
         spec.recipe.depth_end = spec.geometry.samples * 9 / 20;
         spec.geometry.depth_flip = true;
     }},
};
INSTANTIATE_TEST_SUITE_P(Recipes, Fast,
                         testing::Combine(testing::ValuesIn(changes), testing::Values(512, 1024, 2048, 4096, 8192)),
                         [](const auto& test) {
                             return std::get<0>(test.param).name + "_" + std::to_string(std::get<1>(test.param));
                         });

// ---- methods --------------------------------------------------------------------------------------------------------

// A method, and the max. error of half precision relative to the power of a line.
struct FastMethod {
    std::string name;
    std::int64_t samples;
    double max_error;
    std::function<void(ReconstructionSpec&)> choose;
};

void choose_nufft(ReconstructionSpec& spec) {
    spec.recipe.resample = Resample::nufft;
    spec.nufft = {GridKernel::kaiser_bessel, 2, 3};
}

class FastMethods : public GpuTest, public testing::WithParamInterface<FastMethod> {
  protected:
    static ReconstructionSpec method_spec() {
        ReconstructionSpec spec = fast_spec(GetParam().samples);
        GetParam().choose(spec);
        return spec;
    }
    static std::vector<std::uint16_t> lines() { return moving_reflectors(GetParam().samples, 36); }
};

TEST_P(FastMethods, ApproximateExactResult) {
    const ReconstructionSpec spec = method_spec();
    const auto spectra = lines();
    ASSERT_TRUE(is_in_halves(spec));
    const double error = error_of(spec, bytes_of_lines(spectra));
    RecordProperty("error", std::to_string(error * 1e6) + "e-6");
    EXPECT_LE(error, GetParam().max_error);
    EXPECT_GT(error, 1e-9) << "that cannot be half precision";
}

TEST_P(FastMethods, HaveSameBitsInBlocksOfAnySize) {
    ReconstructionSpec spec = method_spec();
    const auto spectra = lines();
    for (const VoxelType voxel : {VoxelType::u8, VoxelType::f32}) {
        spec.recipe.quantity = Quantity::db;
        spec.recipe.voxel = voxel;
        const auto whole = voxels_of<std::byte>(spec, bytes_of_lines(spectra), {.block_b_scans = 4});
        const auto parts = voxels_of<std::byte>(spec, bytes_of_lines(spectra), {.block_b_scans = 1});
        EXPECT_EQ(parts, whole);
        EXPECT_NE(*std::ranges::max_element(whole), *std::ranges::min_element(whole));
    }
}

TEST_P(FastMethods, AreExactForComplexBins) {
    ReconstructionSpec spec = method_spec();
    spec.recipe.quantity = Quantity::complex;
    EXPECT_FALSE(is_in_halves(spec));
}

void with_dispersion(ReconstructionSpec& spec) {
    choose_nufft(spec);
    spec.recipe.a2_rad = 9;
}

void without_dispersion(ReconstructionSpec& spec) {
    choose_nufft(spec);
    spec.recipe.a2_rad = 0;
}

INSTANTIATE_TEST_SUITE_P(Methods, FastMethods,
                         testing::Values(FastMethod{"nufft_512", 512, 2e-6, with_dispersion},
                                         FastMethod{"nufft_2048", 2048, 2e-6, with_dispersion},
                                         FastMethod{"nufft_4096", 4096, 2e-6, with_dispersion},
                                         FastMethod{"nufft_of_real_weights_1024", 1024, 2e-6, without_dispersion},
                                         FastMethod{"nufft_of_real_weights_2048", 2048, 2e-6, without_dispersion}),
                         [](const auto& test) { return test.param.name; });

class FastLimits : public GpuTest {};

// The largest samples, all in phase: no intermediate half overflows.
TEST_F(FastLimits, SaturatedSpectraStayFinite) {
    for (const std::int64_t samples : {512, 2048, 8192}) {
        ReconstructionSpec spec = with(fast_spec(samples), "background=none window=rect a2_rad=0");
        spec.calibration.k_polynomial = {0, static_cast<double>(samples - 1)};
        std::vector<std::uint16_t> spectra(index(samples * 36));
        for (std::size_t i = 0; i < spectra.size(); ++i) spectra[i] = i % 2 == 0 ? 65535 : 65535 * (i / 64 % 2);
        EXPECT_LE(error_of(spec, bytes_of_lines(spectra)), max_error);
    }
}

// The widest kernel on the largest grid: many samples contribute to every bin.
TEST_F(FastLimits, SaturatedSpectraOfNufftStayFinite) {
    for (const std::int64_t width : {3, 12}) {
        ReconstructionSpec spec = fast_spec(4096);
        choose_nufft(spec);
        set(spec, "background=none window=rect");
        spec.nufft.width = width;
        std::vector<std::uint16_t> spectra(4096 * 36);
        for (std::size_t i = 0; i < spectra.size(); ++i) spectra[i] = i % 2 == 0 ? 65535 : 65535 * (i / 64 % 2);
        ASSERT_TRUE(is_in_halves(spec));
        EXPECT_LE(error_of(spec, bytes_of_lines(spectra)), max_error) << width;
    }
}

// Runs on the host without a GPU.
TEST(HalfSpectra, SaturatedBinsStayInRange) {
    RawFormat format;
    format.sample_format = SampleFormat::u16;
    const auto scale = [&](const std::vector<double>& window) {
        return cuda::half_spectrum_scale(format, window, 1.0 / 16);
    };
    EXPECT_EQ(scale(std::vector<double>(1024, 1.0)), 1.0f / 4096);
    EXPECT_EQ(scale(std::vector<double>(1024, -0.5)), 1.0f / 2048);
    std::vector<double> narrow(1024);
    narrow[512] = 1;
    EXPECT_EQ(scale(narrow), 1.0f / 256) << "a point that comes back is 1024 / 16 times as large";
    format.bits = 12;
    EXPECT_EQ(scale(std::vector<double>(1024, 1.0)), 1.0f / 256);
    EXPECT_TRUE(cuda::fits_halves(format));
    format.sample_format = SampleFormat::u32;
    EXPECT_TRUE(cuda::fits_halves(format));
    format.bits = 0;
    EXPECT_FALSE(cuda::fits_halves(format));
}

// Runs on the host without a GPU.
TEST(HalfWeights, WeightsAndSumsStayInRange) {
    const auto scale_of = [](std::size_t count, float weight) {
        return cuda::half_weight_scale(std::vector<std::complex<float>>(count, {weight, 0}));
    };
    EXPECT_EQ(scale_of(1, 1), 1);
    EXPECT_EQ(scale_of(1, 1.5f), 0.5f) << "none above 1";
    EXPECT_EQ(scale_of(1, 0.3f), 2);
    EXPECT_EQ(scale_of(65504, 1), 1);
    EXPECT_EQ(scale_of(65505, 1), 0.5f) << "their sum is above the largest half";
    EXPECT_EQ(scale_of(8192 * 12, 1), 0.5f);
    EXPECT_EQ(scale_of(10, 0), 1);
    EXPECT_EQ(cuda::half_weight_scale({{0.0f, -3.0f}, {0.5f, 0.0f}}), 0.25f);
}

// A dark line next to a bright one.
TEST_F(FastLimits, DarkLineIsIndependent) {
    ReconstructionSpec spec = with(fast_spec(2048), "a_scans=2 background=none");
    auto spectra = moving_reflectors(2048, 8);
    for (std::size_t i = 0; i < 2048; ++i) spectra[i] = static_cast<std::uint16_t>(spectra[i] / 500);
    const auto all = voxels_of<float>(spec, bytes_of_lines(spectra), {.block_b_scans = 1});
    const auto cpu = voxels_of<float>(spec, bytes_of_lines(spectra), {.choice = {.backend = Backend::cpu}});
    const std::vector<float> dark(all.begin(), all.begin() + 1024), expected(cpu.begin(), cpu.begin() + 1024);
    EXPECT_LE(normalised_error(dark, expected), max_error);
}

TEST_F(FastLimits, ReadsPacked12ByWords) {
    ReconstructionSpec spec = fast_spec(2048);
    spec.format.sample_format = SampleFormat::packed12;
    std::mt19937 random(3);
    std::uniform_int_distribution<int> byte(0, 255);
    std::vector<std::byte> spectra;
    std::generate_n(std::back_inserter(spectra), spec.geometry.b_scans * b_scan_bytes(spec),
                    [&] { return static_cast<std::byte>(byte(random)); });
    ASSERT_TRUE(is_in_halves(spec));
    EXPECT_LE(error_of(spec, spectra), max_error);
}

TEST_F(FastLimits, ZeroPaddingAddsNoError) {
    ReconstructionSpec spec = fast_spec(1024);
    spec.recipe.zero_padding = 2;
    const auto spectra = moving_reflectors(1024, 36);
    ASSERT_TRUE(is_in_halves(spec));
    EXPECT_LE(error_of(spec, bytes_of_lines(spectra)), max_error);
}

TEST_F(FastLimits, MethodsWithoutHalvesAreExact) {
    const auto exact = [](const std::function<void(ReconstructionSpec&)>& change) {
        ReconstructionSpec spec = fast_spec(2048);
        change(spec);
        return !is_in_halves(spec);
    };
    EXPECT_TRUE(exact([](ReconstructionSpec& spec) { spec.recipe.quantity = Quantity::complex; }));
    EXPECT_TRUE(exact([](ReconstructionSpec& spec) { spec.flow.method = FlowMethod::doppler; }));
    EXPECT_TRUE(exact([](ReconstructionSpec& spec) { spec.format.bits = 12; }));
    EXPECT_TRUE(exact([](ReconstructionSpec& spec) { spec.recipe.upsample = 2; }));
    EXPECT_TRUE(exact([](ReconstructionSpec& spec) { spec.recipe.method = Method::compressive; }));
    EXPECT_TRUE(exact([](ReconstructionSpec& spec) { set(spec, "recipe.method=defr double_precision=true"); }));
    for (const SampleFormat format : {SampleFormat::f32, SampleFormat::u32}) {
        EXPECT_TRUE(exact([format](ReconstructionSpec& spec) {
            spec.recipe.method = Method::defr;
            spec.format.sample_format = format;
        }));
    }
    EXPECT_TRUE(exact([](ReconstructionSpec& spec) {
        choose_nufft(spec);
        spec.format.sample_format = SampleFormat::f32;
    }));
}

}  // namespace
}  // namespace echolux
