// Removal of the background spectrum (docs/algorithms.md 2.2) where it must be exact to the last bit.
#include <gtest/gtest.h>

#include <random>

#include "tests/oracle/chain.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

constexpr std::size_t n = 16;

ReconstructionSpec spec_for(Background background, std::int64_t lines) {
    ReconstructionSpec spec = plain_spec(n, lines);
    spec.format.sample_format = SampleFormat::u16;
    spec.recipe.background = background;
    return spec;
}

std::vector<std::uint16_t> random_lines(std::size_t lines, unsigned most) {
    std::mt19937 random(5);
    std::vector<std::uint16_t> spectra(lines * n);
    for (auto& x : spectra) x = static_cast<std::uint16_t>(random() % (most + 1));
    return spectra;
}

using Field = std::vector<std::complex<float>>;

Field field_of(const ReconstructionSpec& spec, const std::vector<std::uint16_t>& spectra) {
    return reconstructed<std::complex<float>>(spec, spectra);
}

// A large background, from which one sample per line deviates. The next line deviates by the same amount in the other
// direction.
TEST(FrameMean, KeepsDeviationsFromMeanExactly) {
    constexpr std::size_t lines = 20000;
    std::vector<std::uint16_t> spectra(lines * n);
    std::vector<float> left(lines);
    for (std::size_t l = 0; l < lines; ++l) {
        for (std::size_t p = 0; p < n; ++p) spectra[l * n + p] = static_cast<std::uint16_t>(60001 + 7 * p);
        left[l] = (l % 2 == 0 ? 1.0f : -1.0f) * static_cast<float>(1 + l / 2 % 3000);
        auto& sample = spectra[l * n + l / 2 % n];
        sample = static_cast<std::uint16_t>(sample + static_cast<int>(left[l]));
    }
    ReconstructionSpec spec = spec_for(Background::frame_mean, lines);
    spec.recipe.depth_end = 1;
    const Field field = field_of(spec, spectra);
    for (std::size_t l = 0; l < lines; ++l) ASSERT_EQ(field[l].real() * float{n}, left[l]) << l;
}

TEST(FrameMean, ConstantShiftChangesNoBit) {
    constexpr std::size_t lines = 64;  // sums of 64 counts divide exactly in binary
    const auto spectra = random_lines(lines, 30000);
    auto shifted = spectra;
    for (auto& x : shifted) x = static_cast<std::uint16_t>(x + 2000);
    const ReconstructionSpec spec = spec_for(Background::frame_mean, lines);
    EXPECT_EQ(field_of(spec, spectra), field_of(spec, shifted));
}

TEST(FrameMean, OrderOfLinesChangesNoBit) {
    constexpr std::size_t lines = 333;
    const auto spectra = random_lines(lines, 65535);
    std::vector<std::uint16_t> reversed;
    for (std::size_t l = lines; l-- > 0;) {
        reversed.insert(reversed.end(), spectra.begin() + static_cast<std::ptrdiff_t>(l * n),
                        spectra.begin() + static_cast<std::ptrdiff_t>((l + 1) * n));
    }
    const ReconstructionSpec spec = spec_for(Background::frame_mean, lines);
    const Field forward = field_of(spec, spectra), backward = field_of(spec, reversed);
    for (std::size_t l = 0; l < lines; ++l) {
        for (std::size_t z = 0; z < n / 2; ++z) {
            ASSERT_EQ(forward[l * n / 2 + z], backward[(lines - 1 - l) * n / 2 + z]);
        }
    }
}

TEST(FrameMean, IsComputedPerBScan) {
    ReconstructionSpec spec = spec_for(Background::frame_mean, 4);
    spec.geometry.b_scans = 3;
    std::vector<std::uint16_t> spectra;
    for (const std::uint16_t level : {100, 900, 40000}) spectra.insert(spectra.end(), 4 * n, level);
    for (const auto a : field_of(spec, spectra)) EXPECT_EQ(a, std::complex<float>{});
}

TEST(MedianBackground, IgnoresOutliersAndAveragesMiddle) {
    ReconstructionSpec spec = spec_for(Background::median, 4);
    spec.recipe.depth_end = 1;
    std::vector<std::uint16_t> spectra(4 * n, 0);
    const std::uint16_t at_zero[] = {10, 65535, 13, 0};  // median 11.5
    for (std::size_t l = 0; l < 4; ++l) spectra[l * n] = at_zero[l];
    const Field field = field_of(spec, spectra);
    for (std::size_t l = 0; l < 4; ++l) EXPECT_EQ(field[l].real() * float{n}, static_cast<float>(at_zero[l]) - 11.5f);
}

TEST(StoredBackground, IsSubtractedUnscaled) {
    ReconstructionSpec spec = spec_for(Background::stored, 3);
    spec.calibration.background.assign(n, 0);
    spec.calibration.background[5] = 1000.25;
    spec.recipe.depth_end = 1;
    std::vector<std::uint16_t> spectra(3 * n, 0);
    spectra[5] = 1000;
    spectra[n + 5] = 3000;
    const Field field = field_of(spec, spectra);
    EXPECT_EQ(field[0].real() * float{n}, -0.25f);
    EXPECT_EQ(field[1].real() * float{n}, 1999.75f);
    EXPECT_EQ(field[2].real() * float{n}, -1000.25f);
}

// b <- (1 - alpha) b + alpha mean per acquired B-scan, updated before it is subtracted; the first mean is taken
// unchanged.
TEST(RunningBackground, FollowsLevel) {
    ReconstructionSpec spec = spec_for(Background::running, 2);
    set(spec, "running_alpha=0.25 depth_end=1 b_scans=3");
    std::vector<std::uint16_t> spectra;
    for (const std::uint16_t level : {1000, 2000, 2000}) spectra.insert(spectra.end(), 2 * n, level);
    const Field field = field_of(spec, spectra);
    for (std::size_t l = 0; l < 2; ++l) {
        EXPECT_FLOAT_EQ(field[l].real(), 0);
        EXPECT_FLOAT_EQ(field[2 + l].real(), 750);
        EXPECT_FLOAT_EQ(field[4 + l].real(), 562.5);
    }
}

TEST(AutomaticBackground, PrefersStoredBackground) {
    const auto spectra = random_lines(8, 5000);
    ReconstructionSpec automatic = spec_for(Background::automatic, 8), chosen = spec_for(Background::frame_mean, 8);
    EXPECT_EQ(field_of(automatic, spectra), field_of(chosen, spectra));
    automatic.calibration.background.assign(n, 2345.0);
    chosen.calibration.background = automatic.calibration.background;
    chosen.recipe.background = Background::stored;
    EXPECT_EQ(field_of(automatic, spectra), field_of(chosen, spectra));
}

}  // namespace
}  // namespace echolux
