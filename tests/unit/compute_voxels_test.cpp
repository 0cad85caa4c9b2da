// Voxel values (docs/algorithms.md 3.13): quantities, codes, levels, places and half precision; never NaN.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <type_traits>

#include "compute/calibrate/calibrate.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "compute/steps/depth.h"
#include "engine/io/volume_file.h"
#include "tests/oracle/chain.h"
#include "tests/support/error_of.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

constexpr std::int64_t n = 64, depth = n / 2, lines = 6, b_scans = 3;

std::vector<float> random_spectra() {
    std::mt19937 random(9);
    std::normal_distribution<float> value(0, 100);
    std::vector<float> spectra(n * lines * b_scans);
    for (std::size_t i = 0; i < spectra.size(); ++i) {
        spectra[i] = value(random) * static_cast<float>(1 + i / (n * lines));
    }
    return spectra;
}

ReconstructionSpec spec_for(Quantity quantity, VoxelType voxel, Levels levels) {
    ReconstructionSpec spec = plain_spec(n, lines);
    spec.geometry.b_scans = b_scans;
    spec.recipe.quantity = quantity;
    spec.recipe.voxel = voxel;
    spec.recipe.levels = levels;
    spec.recipe.low = quantity == Quantity::db ? 0 : 2;
    spec.recipe.high = quantity == Quantity::db ? 35 : 50;
    return spec;
}

TEST(Quantity, AllDeriveFromField) {
    const auto spectra = random_spectra();
    const auto field =
        reconstructed<std::complex<float>>(spec_for(Quantity::complex, VoxelType::complex64, Levels::fixed), spectra);
    const auto value_of = [&](Quantity quantity) {
        return reconstructed<float>(spec_for(quantity, VoxelType::f32, Levels::fixed), spectra);
    };
    const auto db = value_of(Quantity::db), intensity = value_of(Quantity::intensity),
               amplitude = value_of(Quantity::amplitude);
    for (std::size_t i = 0; i < field.size(); ++i) {
        const double power = std::norm(std::complex<double>(field[i]));
        ASSERT_NEAR(intensity[i], power, 1e-6 * power);
        ASSERT_NEAR(amplitude[i], std::sqrt(power), 1e-6 * std::sqrt(power));
        ASSERT_NEAR(db[i], 10 * std::log10(power), 1e-5);
    }
}

// Voxels that are not codes do not depend on the range of codes.
TEST(Quantity, FrameLevelsAffectOnlyCodes) {
    const auto spectra = random_spectra();
    const auto with = [&](Quantity quantity, VoxelType voxel, Levels levels) {
        return reconstructed<float>(spec_for(quantity, voxel, levels), spectra);
    };
    EXPECT_EQ(with(Quantity::complex, VoxelType::complex64, Levels::frame),
              with(Quantity::complex, VoxelType::complex64, Levels::fixed));
    EXPECT_EQ(with(Quantity::complex, VoxelType::u8, Levels::frame),
              with(Quantity::complex, VoxelType::u8, Levels::fixed));
    EXPECT_EQ(with(Quantity::db, VoxelType::f32, Levels::frame), with(Quantity::db, VoxelType::f32, Levels::fixed));
}

// Expected codes: the value in double, rounded to nearest; ties may differ by one ulp of float.
template <class Code>
void expect_codes(const std::vector<Code>& codes, const std::vector<float>& values, std::size_t begin, std::size_t end,
                  double low, double high) {
    const double most = std::numeric_limits<Code>::max();
    for (std::size_t i = begin; i < end; ++i) {
        const double wanted = std::clamp((double{values[i]} - low) / (high - low), 0.0, 1.0) * most;
        ASSERT_NEAR(codes[i], wanted, 0.5 + most * 1e-6) << i;
    }
}

template <class Code>
void expect_fixed_codes(VoxelType type, Quantity quantity) {
    const auto spectra = random_spectra();
    const ReconstructionSpec spec = spec_for(quantity, type, Levels::fixed);
    const auto values = reconstructed<float>(spec_for(quantity, VoxelType::f32, Levels::fixed), spectra);
    const auto codes = reconstructed<Code>(spec, spectra);
    expect_codes(codes, values, 0, values.size(), spec.recipe.low, spec.recipe.high);
    EXPECT_EQ(*std::min_element(codes.begin(), codes.end()), 0);
    EXPECT_EQ(*std::max_element(codes.begin(), codes.end()), std::numeric_limits<Code>::max());

    const VolumeGrid grid = planned_grid(spec);
    EXPECT_EQ(grid.type, type);
    EXPECT_DOUBLE_EQ(grid.offset, spec.recipe.low);
    EXPECT_DOUBLE_EQ(grid.scale * std::numeric_limits<Code>::max(), spec.recipe.high - spec.recipe.low);
}

TEST(Codes, RoundToNearestFixedLevel) {
    for (const Quantity quantity : {Quantity::db, Quantity::amplitude, Quantity::intensity}) {
        expect_fixed_codes<std::uint8_t>(VoxelType::u8, quantity);
        expect_fixed_codes<std::uint16_t>(VoxelType::u16, quantity);
    }
}

TEST(Codes, StartAtNoiseFloor) {
    const auto spectra = random_spectra();
    ReconstructionSpec above = spec_for(Quantity::db, VoxelType::u8, Levels::noise_floor);
    above.recipe.noise_floor_db = 10;
    ReconstructionSpec absolute = spec_for(Quantity::db, VoxelType::u8, Levels::fixed);
    absolute.recipe.low += 10;
    absolute.recipe.high += 10;
    const auto a = reconstructed<std::uint8_t>(above, spectra), b = reconstructed<std::uint8_t>(absolute, spectra);
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1);
    EXPECT_LE(std::inner_product(a.begin(), a.end(), b.begin(), 0, std::plus<>(), std::not_equal_to<>()), 1);
    EXPECT_EQ(planned_grid(above).offset, 0);
}

TEST(Codes, FrameLevelsFillEachBScan) {
    const auto spectra = random_spectra();
    for (const Quantity quantity : {Quantity::db, Quantity::amplitude, Quantity::intensity}) {
        const auto values = reconstructed<float>(spec_for(quantity, VoxelType::f32, Levels::fixed), spectra);
        const auto codes = reconstructed<std::uint8_t>(spec_for(quantity, VoxelType::u8, Levels::frame), spectra);
        constexpr std::size_t frame = depth * lines;
        for (std::size_t b = 0; b < b_scans; ++b) {
            const auto [low, high] = std::minmax_element(values.begin() + static_cast<std::ptrdiff_t>(b * frame),
                                                         values.begin() + static_cast<std::ptrdiff_t>((b + 1) * frame));
            expect_codes(codes, values, b * frame, (b + 1) * frame, double{*low}, double{*high});
        }
    }
}

template <class Voxel>
void expect_floor(const ReconstructionSpec& spec, const std::vector<float>& spectra) {
    const auto voxels = reconstructed<Voxel>(spec, spectra);
    for (const Voxel v : voxels) {
        if constexpr (std::is_integral_v<Voxel>) {
            ASSERT_EQ(v, 0);
        } else if constexpr (std::is_same_v<Voxel, float>) {
            ASSERT_TRUE(std::isfinite(v));
            ASSERT_EQ(v, voxels.front());
            ASSERT_LE(v, spec.recipe.quantity == Quantity::db ? -100 : 0);
        } else {
            ASSERT_EQ(v, Voxel{});
        }
    }
}

TEST(EmptySpectra, GiveLowestValueWithoutNaN) {
    const std::vector<float> zeros(n * lines * b_scans, 0.0f), constant(n * lines * b_scans, 1234.5f);
    for (const auto* spectra : {&zeros, &constant}) {
        for (const Background background :
             {Background::frame_mean, Background::median, Background::running, Background::rolling}) {
            for (const Levels levels : {Levels::fixed, Levels::noise_floor, Levels::frame}) {
                const auto spec = [&](Quantity quantity, VoxelType voxel) {
                    ReconstructionSpec made = with(spec_for(quantity, voxel, levels), "resample=lagrange3 window=hann");
                    made.recipe.background = background;
                    return made;
                };
                for (const Quantity quantity : {Quantity::db, Quantity::amplitude, Quantity::intensity}) {
                    expect_floor<std::uint8_t>(spec(quantity, VoxelType::u8), *spectra);
                    expect_floor<std::uint16_t>(spec(quantity, VoxelType::u16), *spectra);
                    expect_floor<float>(spec(quantity, VoxelType::f32), *spectra);
                }
                expect_floor<std::complex<float>>(spec(Quantity::complex, VoxelType::complex64), *spectra);
            }
        }
    }
}

TEST(EmptySpectra, HaveFiniteNoiseFloor) {
    ReconstructionSpec spec = spec_for(Quantity::db, VoxelType::f32, Levels::noise_floor);
    spec.block_b_scans = b_scans;
    const std::vector<float> zeros(n * lines * b_scans, 0.0f);
    EXPECT_TRUE(std::isfinite(measured_noise_floor_db(spec, block_of(bytes_of_lines(zeros), 0, b_scans))));
}

TEST(DepthRange, IsCutFirst) {
    const auto spectra = random_spectra();
    ReconstructionSpec spec = spec_for(Quantity::amplitude, VoxelType::f32, Levels::fixed);
    const auto whole = reconstructed<float>(spec, spectra);
    set(spec, "depth_begin=5 depth_end=12");
    const auto cut = reconstructed<float>(spec, spectra);
    ASSERT_EQ(cut.size(), 7u * lines * b_scans);
    for (std::size_t i = 0; i < cut.size(); ++i) ASSERT_EQ(cut[i], whole[i / 7 * depth + 5 + i % 7]);

    spec.geometry.depth_flip = true;
    const auto flipped = reconstructed<float>(spec, spectra);
    for (std::size_t i = 0; i < cut.size(); ++i) ASSERT_EQ(flipped[i], cut[i / 7 * 7 + 6 - i % 7]);
}

TEST(VoxelTargets, KeepStridesAndGaps) {
    const auto spectra = random_spectra();
    ReconstructionSpec spec = spec_for(Quantity::amplitude, VoxelType::f32, Levels::fixed);
    const auto wanted = reconstructed<float>(spec, spectra);
    constexpr std::size_t a_pitch = depth + 3, b_pitch = a_pitch * lines + 11;
    std::vector<float> padded(b_pitch * b_scans, -1.0f);
    VoxelTarget target{.data = padded.data(),
                       .first_b_scan = 1,
                       .a_scan_bytes = a_pitch * sizeof(float),
                       .b_scan_bytes = b_pitch * sizeof(float)};
    const auto reconstructor = plan_on_cpu(spec);
    const std::size_t frame = n * lines;
    for (std::int64_t b = 1; b < b_scans; ++b) {
        const auto one = std::span(spectra).subspan(index(b) * frame, frame);
        reconstructor->wait(reconstructor->submit(block_of(std::as_bytes(one), b, 1), target));
    }
    std::size_t gaps = 0;
    for (std::size_t i = 0; i < padded.size(); ++i) {
        const std::size_t b = i / b_pitch, a = i % b_pitch / a_pitch, z = i % b_pitch % a_pitch;
        const bool voxel = b + 1 < b_scans && a < lines && z < depth;
        ASSERT_EQ(padded[i], voxel ? wanted[((b + 1) * lines + a) * depth + z] : -1.0f) << i;
        gaps += voxel ? 0u : 1u;
    }
    EXPECT_GT(gaps, 0u);
}

// ---- half precision ------------------------------------------------------------------------------------------------

std::uint16_t compilers_half(float value) {
    return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
}

TEST(Half, RoundsLikeCompiler) {
    for (std::uint64_t bits = 0; bits <= 0x477fe000u; bits += 1021) {  // up to 65504, a few thousand per octave
        const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        ASSERT_EQ(Half{}(value), compilers_half(value)) << value;
        ASSERT_EQ(Half{}(-value), compilers_half(-value)) << -value;
    }
}

// Tests every half, the midpoint to the next one, and the floats next to that midpoint.
TEST(Half, RoundsTiesToEven) {
    for (std::uint16_t half = 0; half < 0x7bffu; ++half) {
        const auto low = static_cast<float>(std::bit_cast<_Float16>(half));
        const auto high = static_cast<float>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(half + 1)));
        const float middle = low + (high - low) / 2;
        EXPECT_EQ(Half{}(low), half);
        EXPECT_EQ(Half{}(middle), half + half % 2) << middle;
        EXPECT_EQ(Half{}(std::nextafter(middle, 0.0f)), half) << middle;
        EXPECT_EQ(Half{}(std::nextafter(middle, high)), half + 1) << middle;
    }
}

TEST(Half, SaturatesInsteadOfInfinity) {
    for (const float value : {65504.0f, 65519.0f, 65520.0f, 1e9f, INFINITY}) {
        EXPECT_EQ(Half{}(value), 0x7bff) << value;
        EXPECT_EQ(Half{}(-value), 0xfbff) << value;
    }
}

TEST(HalfVoxels, AreRoundedValues) {
    ReconstructionSpec spec = plain_spec(64, 2);
    set(spec, "quantity=db voxel=f32");
    std::vector<float> spectra;
    for (int i = 0; i < 128; ++i) spectra.push_back(static_cast<float>(i * 37 % 101));
    const auto values = reconstructed<float>(spec, spectra);
    spec.recipe.voxel = VoxelType::f16;
    EXPECT_EQ(planned_grid(spec).type, VoxelType::f16);
    const auto halves = reconstructed<std::uint16_t>(spec, spectra);
    ASSERT_EQ(halves.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(halves[i], compilers_half(values[i]));
}

TEST(HalfVoxels, AreNotWrittenToFiles) {
    for (const char* name : {"v.nrrd", "v.nii", "v.tif", "v.mha"}) {
        EXPECT_EQ(error_of([&] { check_volume_name(name, VoxelType::f16); }).code, ErrorCode::bad_setting) << name;
    }
}

}  // namespace
}  // namespace echolux
