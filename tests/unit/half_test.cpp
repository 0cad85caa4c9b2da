// Half-precision voxels: rounding compared with the compiler's half type, and no file format that accepts them.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "compute/error.h"
#include "compute/steps/depth.h"
#include "engine/io/volume_file.h"
#include "tests/oracle/chain.h"

namespace echolux {
namespace {

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
    spec.recipe.quantity = Quantity::db;
    spec.recipe.voxel = VoxelType::f32;
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
        try {
            check_volume_name(name, VoxelType::f16);
            ADD_FAILURE() << name << " takes f16";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::bad_setting);
            EXPECT_THAT(error.line(), testing::HasSubstr("recipe.voxel=f32"));
        }
    }
}

}  // namespace
}  // namespace echolux
