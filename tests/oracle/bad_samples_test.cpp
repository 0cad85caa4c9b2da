// Arbitrary samples: no method outputs NaN or infinity, and zero input gives zero output.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/oracle/chain.h"

namespace echolux {
namespace {

constexpr std::int64_t n = 256;

struct Variation {
    std::string name;
    void (*choose)(ReconstructionSpec&);
};

std::ostream& operator<<(std::ostream& out, const Variation& one) {
    return out << one.name;
}

ReconstructionSpec spec_of(const Variation& variation, SampleFormat format) {
    ReconstructionSpec spec = plain_spec(n, 1);
    spec.format.sample_format = format;
    for (std::int64_t j = 0; j < n; ++j) {
        const double u = static_cast<double>(j) / (n - 1);
        spec.calibration.k_positions.push_back((n - 1) * (u + 0.05 * u * (1 - u)));
        spec.calibration.background.push_back(1000 * std::sin(3.1 * (u + 0.005)));
    }
    spec.recipe.window = Window::hann;
    spec.recipe.resample = Resample::lagrange3;
    variation.choose(spec);
    return spec;
}

const Variation ways[] = {
    {"nearest", [](auto& spec) { spec.recipe.resample = Resample::nearest; }},
    {"spline", [](auto& spec) { spec.recipe.resample = Resample::spline; }},
    {"upsampled",
     [](auto& spec) {
         spec.recipe.upsample = 2;
         spec.recipe.upsample_pad = true;
     }},
    {"dispersion",
     [](auto& spec) {
         spec.recipe.dispersion = true;
         spec.recipe.a2_rad = 30;
     }},
    {"shaping", [](auto& spec) { spec.recipe.shaping = Shaping::gaussian; }},
    {"nufft", [](auto& spec) { spec.recipe.resample = Resample::nufft; }},
    {"nufft_dispersion",
     [](auto& spec) {
         spec.recipe.resample = Resample::nufft;
         spec.recipe.dispersion = true;
         spec.recipe.a2_rad = 30;
     }},
    {"nudft", [](auto& spec) { spec.recipe.resample = Resample::nudft; }},
    {"defr",
     [](auto& spec) {
         spec.recipe.method = Method::defr;
         spec.recipe.dispersion = true;
         spec.recipe.a2_rad = 60;
     }},
    {"defr_double",
     [](auto& spec) {
         spec.recipe.method = Method::defr;
         spec.recipe.dispersion = true;
         spec.recipe.a2_rad = 60;
         spec.defr.double_precision = true;
     }},
    {"compressive",
     [](auto& spec) {
         spec.recipe.method = Method::compressive;
         spec.compressive.mask = SensingMask::variable;
     }},
    {"compressive_exact",
     [](auto& spec) {
         spec.recipe.method = Method::compressive;
         spec.compressive.transform = SensingTransform::exact;
         spec.compressive.step = StepRule::safeguarded;
     }},
    {"compressive_fft",
     [](auto& spec) {
         spec.recipe.method = Method::compressive;
         spec.compressive.transform = SensingTransform::fft;
         spec.compressive.step = StepRule::monotone;
         spec.compressive.continuation = true;
     }},
};

class BadSamples : public testing::TestWithParam<Variation> {
  protected:
    template <class Sample>
    static void expect_numbers(SampleFormat format, const std::vector<Sample>& line, const std::string& what) {
        ReconstructionSpec spec = spec_of(GetParam(), format);
        for (const auto& value : reconstructed<std::complex<float>>(spec, line)) {
            ASSERT_TRUE(std::isfinite(value.real()) && std::isfinite(value.imag())) << what;
        }
        spec.recipe.quantity = Quantity::db;
        spec.recipe.voxel = VoxelType::f32;
        for (const float value : reconstructed<float>(spec, line)) ASSERT_TRUE(std::isfinite(value)) << what;
    }
};

TEST_P(BadSamples, BecomeFiniteNumbers) {
    constexpr float infinity = std::numeric_limits<float>::infinity(), none = std::numeric_limits<float>::quiet_NaN();
    for (const float value : {none, infinity, -infinity, 3e38f, -1e30f, 1e19f, 1e-40f}) {
        expect_numbers(SampleFormat::f32, std::vector<float>(n, value), std::to_string(value) + " throughout");
        std::vector<float> line(n, 1000);
        for (std::size_t p = 0; p < n; ++p) line[p] += 100 * std::cos(0.7f * static_cast<float>(p));
        line[100] = line[n - 1] = value;
        expect_numbers(SampleFormat::f32, line, std::to_string(value) + " twice");
    }
}

TEST_P(BadSamples, SaturatedCountsAreValid) {
    expect_numbers(SampleFormat::u16, std::vector<std::uint16_t>(n, 65535), "saturated");
    std::vector<std::uint16_t> clipped(n, 65535);
    for (std::size_t p = 0; p < n; p += 3) clipped[p] = 0;
    expect_numbers(SampleFormat::u16, clipped, "clipped on both sides");
}

TEST_P(BadSamples, ZeroSpectraGiveZero) {
    const ReconstructionSpec spec = spec_of(GetParam(), SampleFormat::f32);
    for (const auto& value : reconstructed<std::complex<float>>(spec, std::vector<float>(n))) {
        EXPECT_EQ(value, std::complex<float>());
    }
}

INSTANTIATE_TEST_SUITE_P(SweepPaths, BadSamples, testing::ValuesIn(ways),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace echolux
