// Lengths that are products of 2 ... 13: like powers of two, they take one kernel, or two passes beyond 8192 points.
// Every recipe is compared with the CPU.
#include <string>

#include "compute/indexing.h"
#include "tests/gpu/gpu_run.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

ReconstructionSpec spec_of(std::int64_t samples) {
    ReconstructionSpec spec;
    set(spec, "background=frame_mean a2_rad=9 levels=fixed quantity=amplitude");
    spec.geometry = {.samples = samples, .a_scans = 7, .b_scans = 3};
    const auto last = static_cast<double>(samples - 1);
    spec.calibration.k_polynomial = {0.01 * last, 0.94 * last, 0.04 * last};
    return spec;
}

// True if the plan uses one kernel, or two passes for long lines.
bool is_quick(const ReconstructionSpec& spec) {
    const bool is_long = spec.geometry.samples * spec.recipe.zero_padding > 8192;
    return takes(spec, is_long ? ", two passes)" : ", fused)");
}

template <class Voxel>
double error_of(const ReconstructionSpec& spec, std::span<const std::byte> spectra) {
    const auto gpu = voxels_of<Voxel>(spec, spectra, {.block_b_scans = 2});
    const auto cpu = voxels_of<Voxel>(spec, spectra, run_on_cpu(2));
    return normalised_error(gpu, cpu);
}

class AnyLength : public GpuTest, public testing::WithParamInterface<std::int64_t> {};

TEST_P(AnyLength, AgreesWithCpu) {
    ReconstructionSpec spec = spec_of(GetParam());
    const auto spectra = moving_reflectors(GetParam(), 21);
    ASSERT_TRUE(is_quick(spec)) << way_of(spec);
    EXPECT_LE(error_of<float>(spec, bytes_of_lines(spectra)), 1e-7);
    spec.recipe.quantity = Quantity::complex;
    EXPECT_LE(error_of<std::complex<float>>(spec, bytes_of_lines(spectra)), 1e-7);
}

TEST_P(AnyLength, CodesAgreeInBlocksOfAnySize) {
    ReconstructionSpec spec = with(spec_of(GetParam()), "quantity=db voxel=u8");
    const auto spectra = moving_reflectors(GetParam(), 21);
    const auto whole = voxels_of<std::uint8_t>(spec, bytes_of_lines(spectra), {.block_b_scans = 3});
    const auto parts = voxels_of<std::uint8_t>(spec, bytes_of_lines(spectra), {.block_b_scans = 1});
    EXPECT_EQ(parts, whole);
    CodeDifference difference;
    difference.add(whole, voxels_of<std::uint8_t>(spec, bytes_of_lines(spectra), run_on_cpu()));
    difference.expect_within_limits(1e-3, 1);
}

// All radices, in two to five stages. 832, 1000, 1536, 2000 and 3000 are compile-time constants.
INSTANTIATE_TEST_SUITE_P(Lengths, AnyLength,
                         testing::Values(64, 65, 77, 96, 100, 128, 169, 243, 256, 338, 500, 693, 832, 1000, 1200, 1331,
                                         1536, 1875, 2000, 2187, 2197, 3000, 3003, 4000, 4802, 5000, 6561, 8000, 8190));

// Two and three stages in each pass, whole and partial blocks, even and odd lengths.
INSTANTIATE_TEST_SUITE_P(LongLengths, AnyLength,
                         testing::Values(8505, 9009, 10000, 12250, 16384, 20000, 30030, 32768, 36864, 50000, 65536));

// A recipe, as its difference from spec_of().
struct Change {
    std::string name, assignments;
    void (*more)(ReconstructionSpec&) = [](ReconstructionSpec&) {};
};

class AnyLengthRecipe : public GpuTest, public testing::WithParamInterface<std::tuple<Change, std::int64_t>> {
  protected:
    ReconstructionSpec spec = spec_of(std::get<1>(GetParam()));
    std::vector<std::byte> spectra;

    // Random bytes are valid samples of any integer format.
    AnyLengthRecipe() {
        const Change& change = std::get<0>(GetParam());
        spec.calibration.background.assign(index(spec.geometry.samples), 30000.25);  // if it is stored
        set(spec, change.assignments);
        change.more(spec);
        std::mt19937 random(3);
        std::uniform_int_distribution<int> byte(0, 255);
        std::generate_n(std::back_inserter(spectra), spec.geometry.b_scans * b_scan_bytes(spec),
                        [&] { return static_cast<std::byte>(byte(random)); });
    }

    template <class Code>
    void expect_codes_agree() const {
        const auto gpu = voxels_of<Code>(spec, spectra, {.block_b_scans = 2});
        CodeDifference difference;
        difference.add(gpu, voxels_of<Code>(spec, spectra, run_on_cpu(2)));
        difference.expect_within_limits(sizeof(Code) == 1 ? 1e-3 : 1e-2, 1);
        EXPECT_NE(*std::ranges::max_element(gpu), *std::ranges::min_element(gpu));
    }
};

TEST_P(AnyLengthRecipe, AgreesWithCpu) {
    ASSERT_TRUE(is_quick(spec)) << way_of(spec);
    if (spec.recipe.voxel == VoxelType::u8) return expect_codes_agree<std::uint8_t>();
    if (spec.recipe.voxel == VoxelType::u16) return expect_codes_agree<std::uint16_t>();
    if (spec.recipe.quantity == Quantity::complex) {
        EXPECT_LE(error_of<std::complex<float>>(spec, spectra), 1e-7);
    } else {
        EXPECT_LE(error_of<float>(spec, spectra), 1e-7);
    }
}

const auto changes = testing::Values(
    Change{"u8", "sample_format=u8"}, Change{"u16_big", "byte_order=big"}, Change{"i16", "sample_format=i16"},
    Change{"packed12", "sample_format=packed12",
           [](auto& s) { s.format.line_bytes = (s.geometry.samples * 3 + 1) / 2; }},
    Change{"u16_with_gaps", "", [](auto& s) { s.format.line_bytes = 2 * s.geometry.samples + 2; }},
    Change{"two_channels", "channels=2 channel=1"}, Change{"no_background", "background=none"},
    Change{"running_background", "background=running"}, Change{"median_background", "background=median"},
    Change{"stored_background", "background=stored"}, Change{"linear", "resample=linear"},
    Change{"not_resampled", "resample=none"}, Change{"no_dispersion", "a2_rad=0"},
    Change{"zero_padding", "zero_padding=2"}, Change{"bidirectional", "bidirectional=true"},
    Change{"complex_flipped", "quantity=complex depth_flip=true"},
    Change{"bytes", "quantity=db low=20 high=100 voxel=u8"},
    Change{"bytes_cropped", "quantity=db low=20 high=100 voxel=u8 depth_begin=5 depth_end=99"},
    Change{"bytes_flipped", "quantity=db low=20 high=100 voxel=u8 depth_flip=true"},
    Change{"words", "quantity=db low=20 high=100 voxel=u16"},
    Change{"words_cropped", "quantity=db low=20 high=100 voxel=u16 depth_begin=16"});

INSTANTIATE_TEST_SUITE_P(Recipes, AnyLengthRecipe, testing::Combine(changes, testing::Values(832, 1000, 1155)),
                         [](const auto& test) {
                             return std::get<0>(test.param).name + "_" + std::to_string(std::get<1>(test.param));
                         });

INSTANTIATE_TEST_SUITE_P(LongRecipes, AnyLengthRecipe, testing::Combine(changes, testing::Values(9009, 16384)),
                         [](const auto& test) {
                             return std::get<0>(test.param).name + "_" + std::to_string(std::get<1>(test.param));
                         });

class AnyLengthBins : public GpuTest {};

// flow_variants() covers bins that are used together with voxels.
TEST_F(AnyLengthBins, AgreeWithCpu) {
    ReconstructionSpec spec = spec_of(1000);
    spec.recipe.fixed_pattern = FixedPattern::median;
    EXPECT_TRUE(takes(spec, "fused to bins")) << way_of(spec);
    EXPECT_LE(error_of<float>(spec, bytes_of_lines(moving_reflectors(1000, 21))), 1e-7);
}

class LongLines : public GpuTest, public testing::WithParamInterface<std::int64_t> {
  protected:
    ReconstructionSpec spec = spec_of(GetParam());

    template <class Voxel>
    void expect_same_bits(const std::vector<std::uint16_t>& spectra) const {
        const auto voxels = [&](std::int64_t block, int streams) {
            return voxels_of<Voxel>(spec, bytes_of_lines(spectra), run_on_gpu(true, block, streams));
        };
        const auto whole = voxels(3, 1);
        for (const std::int64_t block : {1, 2}) {
            EXPECT_EQ(voxels(block, 3), whole) << spec.geometry.a_scans << " A-scans, " << block << " B-scans";
        }
    }
};

// B-scans with more and fewer lines than one launch takes, an odd number of them, each with its own background. Checks
// bins and codes.
TEST_P(LongLines, HaveSameBitsInBlocksOfAnySize) {
    const std::int64_t more_than_at_once = (std::int64_t{1} << 22) / GetParam() + 38;
    for (const std::int64_t a_scans : {std::int64_t{1}, std::int64_t{7}, more_than_at_once / 2 * 2 + 1}) {
        const auto spectra = moving_reflectors(GetParam(), 3 * a_scans);
        spec = spec_of(GetParam());
        spec.geometry.a_scans = a_scans;
        if (a_scans == 1) spec.recipe.background = Background::none;
        expect_same_bits<float>(spectra);
        set(spec, "quantity=db voxel=u8");
        expect_same_bits<std::uint8_t>(spectra);
    }
}

// Steps that need whole B-scans of bins run after the second pass.
TEST_P(LongLines, SupportStepsOnWholeBScans) {
    spec.recipe.fixed_pattern = FixedPattern::median;
    EXPECT_LE(error_of<float>(spec, bytes_of_lines(moving_reflectors(GetParam(), 21))), 1e-7);
    set(spec, "fixed_pattern=none average=power b_repeats=2");
    EXPECT_LE(error_of<float>(spec, bytes_of_lines(moving_reflectors(GetParam(), 42))), 1e-7);
}

TEST_P(LongLines, SeparatePassesAgree) {
    const auto spectra = moving_reflectors(GetParam(), 21);
    const auto passes = voxels_of<float>(spec, bytes_of_lines(spectra), run_on_gpu(false));
    EXPECT_LE(normalised_error(voxels_of<float>(spec, bytes_of_lines(spectra), {}), passes), 1e-7);
}

INSTANTIATE_TEST_SUITE_P(Lengths, LongLines, testing::Values(9009, 16384, 65536));

class OtherLengths : public GpuTest {};

TEST_F(OtherLengths, TakeSeparatePasses) {
    for (const std::int64_t samples : {16, 63, 509, 2049, 8193, 65537}) {
        EXPECT_TRUE(takes(spec_of(samples), ", separate passes)")) << samples;
    }
    ReconstructionSpec spec = spec_of(16384);
    spec.recipe.background = Background::rolling;
    EXPECT_TRUE(takes(spec, ", separate passes)"));
}

}  // namespace
}  // namespace echolux
