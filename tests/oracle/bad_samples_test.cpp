// Arbitrary samples: A-scans with samples that are not counts have no value, all others are finite in every method, and
// zero input gives zero output.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "compute/missing_voxels.h"
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
    static void expect_no_value(const std::vector<float>& line, const std::string& what) {
        ReconstructionSpec spec = spec_of(GetParam(), SampleFormat::f32);
        for (const auto& value : reconstructed<std::complex<float>>(spec, line))
            ASSERT_TRUE(std::isnan(value.real()) && std::isnan(value.imag())) << what;
        set(spec, "quantity=db voxel=f32");
        for (const float value : reconstructed<float>(spec, line)) ASSERT_TRUE(std::isnan(value)) << what;
        set(spec, "quantity=db voxel=u8 low=-200 high=100");
        for (const std::uint8_t code : reconstructed<std::uint8_t>(spec, line)) ASSERT_EQ(code, 0) << what;
    }

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

TEST_P(BadSamples, LeaveAScanWithoutValue) {
    constexpr float infinity = std::numeric_limits<float>::infinity(), none = std::numeric_limits<float>::quiet_NaN();
    for (const float value : {none, infinity, -infinity, 3e38f, -1e30f, 1e19f}) {
        expect_no_value(std::vector<float>(n, value), std::to_string(value) + " throughout");
        std::vector<float> line(n, 1000);
        line[n - 1] = value;
        expect_no_value(line, std::to_string(value) + " once");
    }
}

TEST_P(BadSamples, SmallAndLargeNumbersStayFinite) {
    for (const float value : {1e-40f, 9e11f, -9e11f}) {
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

// ---- A-scans without a value are left out of everything that couples A-scans: the result for the others equals that
// of a scan in which these A-scans were never recorded.

constexpr std::int64_t frames = 2, a_scans = 6;

std::vector<float> random_lines(std::int64_t lines) {
    std::vector<float> samples;
    std::uint32_t state = 1;
    for (std::int64_t i = 0; i < lines * n; ++i) {
        state = state * 1664525u + 1013904223u;
        samples.push_back(1000 + static_cast<float>(state >> 20));
    }
    return samples;
}

std::vector<float> without_lines(const std::vector<float>& samples, const std::vector<std::int64_t>& lines) {
    std::vector<float> kept;
    for (std::int64_t line = 0; line < std::ssize(samples) / n; ++line) {
        if (std::ranges::find(lines, line) == lines.end())
            kept.insert(kept.end(), samples.begin() + line * n, samples.begin() + (line + 1) * n);
    }
    return kept;
}

class LeftOut : public testing::TestWithParam<std::string> {};

TEST_P(LeftOut, DoesNotAffectOtherAScans) {
    ReconstructionSpec spec = with(plain_spec(n, a_scans), "quantity=db voxel=f32 " + GetParam());
    spec.geometry.b_scans = frames;
    std::vector<float> spectra = random_lines(frames * a_scans);
    const std::vector<std::int64_t> bad{1, 4, a_scans + 2, a_scans + 3};
    ReconstructionSpec shorter = spec;
    shorter.geometry.a_scans = a_scans - 2;
    const std::vector<float> expected = reconstructed<float>(shorter, without_lines(spectra, bad));
    for (const std::int64_t line : bad) spectra[index(line * n + 17)] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> found = reconstructed<float>(spec, spectra);
    const std::int64_t depth = std::ssize(expected) / (frames * (a_scans - 2));
    auto next = expected.begin();
    for (std::int64_t line = 0; line < frames * a_scans; ++line) {
        const bool is_bad = std::ranges::find(bad, line) != bad.end();
        for (std::int64_t z = 0; z < depth; ++z) {
            const float value = found[index(line * depth + z)];
            if (is_bad) {
                ASSERT_TRUE(std::isnan(value)) << line;
            } else {
                ASSERT_NEAR(value, *next++, 1e-4) << line << ", depth " << z;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Couplings, LeftOut,
                         testing::Values("background=frame_mean", "background=median", "background=running",
                                         "fixed_pattern=median",
                                         "fixed_pattern=minimum_variance fixed_pattern_segments=2"),
                         [](const auto& test) { return "case" + std::to_string(test.index); });

TEST(BadSamplesOfRepeats, AverageKeepsOtherRepeats) {
    for (const std::string average : {"power", "magnitude", "complex"}) {
        ReconstructionSpec spec = with(plain_spec(n, 2), "quantity=db voxel=f32 average=" + average);
        spec.geometry.a_repeats = 3;
        std::vector<float> spectra = random_lines(6);
        ReconstructionSpec two = spec;
        two.geometry.a_repeats = 2;
        two.geometry.a_scans = 1;
        const std::vector<float> expected = reconstructed<float>(two, without_lines(spectra, {1, 3, 4, 5}));
        for (const std::int64_t line : {1, 3, 4, 5}) spectra[index(line * n)] = std::numeric_limits<float>::infinity();
        const std::vector<float> found = reconstructed<float>(spec, spectra);
        for (std::size_t z = 0; z < expected.size(); ++z) {
            ASSERT_NEAR(found[z], expected[z], 1e-4) << average << ", depth " << z;
            ASSERT_TRUE(std::isnan(found[expected.size() + z])) << "no repeat has a value";
        }
    }
}

TEST(BadSamplesOfRepeats, RangeOfBScanIgnoresThem) {
    ReconstructionSpec spec = with(plain_spec(n, 3), "quantity=db voxel=u8 levels=frame");
    std::vector<float> spectra = random_lines(3);
    ReconstructionSpec two = spec;
    two.geometry.a_scans = 2;
    const std::vector<std::uint8_t> expected = reconstructed<std::uint8_t>(two, without_lines(spectra, {1}));
    spectra[n + 5] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<std::uint8_t> found = reconstructed<std::uint8_t>(spec, spectra);
    const auto depth = static_cast<std::ptrdiff_t>(expected.size() / 2);
    EXPECT_TRUE(std::equal(expected.begin(), expected.begin() + depth, found.begin()));
    EXPECT_TRUE(std::all_of(found.begin() + depth, found.begin() + 2 * depth, [](auto code) { return code == 0; }));
    EXPECT_TRUE(std::equal(expected.begin() + depth, expected.end(), found.begin() + 2 * depth));
}

TEST(BadSamplesOfRepeats, FlowHasNoValueThere) {
    for (const std::string flow :
         {"flow.method=doppler", "flow.method=speckle_variance", "flow.method=decorrelation"}) {
        ReconstructionSpec spec = with(plain_spec(n, 5), "quantity=db voxel=f32 average=power " + flow);
        spec.geometry.b_repeats = 2;
        std::vector<float> spectra = random_lines(10);
        spectra[7 * n] = std::numeric_limits<float>::quiet_NaN();  // second repeat of A-scan 2
        spec.block_b_scans = 1;
        const auto work = plan_on_cpu(spec);
        const VolumeGrid grid = work->grid(), flow_grid = work->flow_grid().value();
        std::vector<std::byte> structure(index(grid.bytes())), moved(index(flow_grid.bytes()));
        work->submit(block_of(bytes_of_lines(spectra), 0, 1),
                     {packed_target(structure.data(), grid), packed_target(moved.data(), flow_grid)});
        const VoxelCode code = missing_flow_code(flow_grid.type, false);
        const std::int64_t bytes = bytes_of(flow_grid.type);
        for (std::int64_t a = 0; a < 5; ++a) {
            std::int64_t missing = 0;
            for (std::int64_t z = 0; z < grid.depth; ++z)
                missing += std::memcmp(moved.data() + (a * grid.depth + z) * bytes, code.data(), index(bytes)) == 0;
            EXPECT_EQ(missing == grid.depth, a == 2) << flow << ", A-scan " << a;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(SweepPaths, BadSamples, testing::ValuesIn(ways),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace echolux
