// Arbitrary samples: no method outputs NaN or infinity, and zero input gives zero output.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/oracle/chain.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

constexpr std::int64_t n = 256;

struct Variation {
    std::string name, settings;
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
    return with(spec, "window=hann resample=lagrange3 " + variation.settings);
}

const Variation ways[] = {
    {"nearest", "resample=nearest"},
    {"spline", "resample=spline"},
    {"upsampled", "upsample=2 upsample_pad=true"},
    {"dispersion", "dispersion=true a2_rad=30"},
    {"shaping", "shaping=gaussian"},
    {"nufft", "resample=nufft"},
    {"nufft_dispersion", "resample=nufft dispersion=true a2_rad=30"},
    {"nudft", "resample=nudft"},
    {"defr", "method=defr dispersion=true a2_rad=60"},
    {"defr_double", "method=defr dispersion=true a2_rad=60 double_precision=true"},
    {"compressive", "method=compressive mask=variable"},
    {"compressive_exact", "method=compressive compressive.transform=exact step=safeguarded"},
    {"compressive_fft", "method=compressive compressive.transform=fft step=monotone continuation=true"},
};

class BadSamples : public testing::TestWithParam<Variation> {
  protected:
    template <class Sample>
    static void expect_numbers(SampleFormat format, const std::vector<Sample>& line, const std::string& what) {
        ReconstructionSpec spec = spec_of(GetParam(), format);
        for (const auto& value : reconstructed<std::complex<float>>(spec, line)) {
            ASSERT_TRUE(std::isfinite(value.real()) && std::isfinite(value.imag())) << what;
        }
        set(spec, "quantity=db voxel=f32");
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
