// The exact transform on tensor cores compared with the same transform in float on the CPU: the error is that of
// operands with eleven significant bits and no larger. A line has the same bits wherever it is.
#include <cmath>

#include "compute/indexing.h"
#include "tests/gpu/gpu_run.h"
#include "tests/oracle/vectors.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

using Field = std::vector<std::complex<float>>;

std::vector<std::string> exact_cases() {
    std::vector<std::string> names = vector_case_names();
    std::erase_if(names, [](const std::string& name) { return name.rfind("nudft", 0) != 0; });
    return names;
}

class ExactTransformVectors : public GpuTest, public testing::WithParamInterface<std::string> {};

TEST_P(ExactTransformVectors, HaveAccuracyOfOperands) {
    const VectorCase one = read_vector_case(GetParam());
    ReconstructionSpec spec = one.spec;
    spec.recipe.levels = Levels::fixed;
    spec.recipe.quantity = one.field.empty() ? Quantity::amplitude : Quantity::complex;
    spec.recipe.voxel = one.field.empty() ? VoxelType::f32 : VoxelType::complex64;
    const std::int64_t all = spec.geometry.b_scans;
    const double error = normalised_error(voxels_of<float>(spec, one.spectra, {.block_b_scans = all}),
                                          voxels_of<float>(spec, one.spectra, run_on_cpu(all)));
    RecordProperty("nmse", std::to_string(error * 1e9) + "e-9");
    EXPECT_LE(error, 2e-7);
    EXPECT_GT(error, 1e-10) << "this is not what halves can do: was it computed on the CPU?";
}

INSTANTIATE_TEST_SUITE_P(Vectors, ExactTransformVectors, testing::ValuesIn(exact_cases()),
                         [](const auto& test) { return test.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ExactTransformVectors);

class ExactTransformOnGpu : public GpuTest {
  protected:
    static constexpr std::int64_t samples = 2048, a_scans = 997, b_scans = 7, lines = a_scans * b_scans;
    ReconstructionSpec spec;

    ExactTransformOnGpu() {
        set(spec,
            "resample=nudft background=frame_mean a2_rad=12 levels=fixed quantity=complex voxel=complex64 "
            "k_polynomial=1,1980,60");
        spec.geometry = {.samples = samples, .a_scans = a_scans, .b_scans = b_scans};
    }

    Field field(const std::vector<std::uint16_t>& spectra, std::int64_t block_b_scans, int streams = 3) const {
        return voxels_of<std::complex<float>>(spec, bytes_of_lines(spectra), run_on_gpu(true, block_b_scans, streams));
    }
};

// Reflectors are 42 dB above the noise; codes start at the noise floor. The rounding error is 71 dB below a line's
// energy, so the share of changed codes grows with the height of the reflectors: 0.9 % at 30 dB, 2.8 % here, 6.6 % at
// 50 dB (float64 model).
TEST_F(ExactTransformOnGpu, FewCodesAreOffByOne) {
    std::mt19937 random(11);
    std::uniform_real_distribution<float> uniform(0, 1);
    std::vector<std::uint16_t> spectra(index(samples * lines));
    for (std::int64_t line = 0; line < lines; ++line) {
        const float depth = 0.05f + 0.35f * uniform(random), phase = 6.28f * uniform(random);
        for (std::int64_t p = 0; p < samples; ++p) {
            const float x = static_cast<float>(p) / samples;
            const float fringe = std::cos(6.2831853f * depth * static_cast<float>(p) + phase);
            const float value = 2000 + 1500 * x * (1 - x) * (1 + 0.2f * fringe) + 40 * (uniform(random) - 0.5f);
            spectra[index(line * samples + p)] = static_cast<std::uint16_t>(value);
        }
    }
    set(spec, "quantity=db voxel=u8 levels=noise_floor noise_floor_db=-11.7");
    CodeDifference difference;
    difference.add(voxels_of<std::uint8_t>(spec, bytes_of_lines(spectra), run_on_gpu(true, b_scans)),
                   voxels_of<std::uint8_t>(spec, bytes_of_lines(spectra), run_on_cpu(b_scans)));
    difference.expect_within_limits(0.04);
}

// More lines than one product takes, and not a multiple of that.
TEST_F(ExactTransformOnGpu, LineHasSameBitsAtAnyPlace) {
    spec.recipe.background = Background::none;
    std::vector<std::uint16_t> spectra = moving_reflectors(samples, 1);
    spectra.resize(index(samples * lines));
    for (std::int64_t line = 1; line < lines; ++line) {
        std::copy_n(spectra.begin(), samples, spectra.begin() + line * samples);
    }
    const Field all = field(spectra, b_scans);
    const auto depth = index(samples / 2);
    for (std::size_t line = 1; line < index(lines); ++line) {
        ASSERT_EQ(std::memcmp(all.data(), all.data() + line * depth, depth * sizeof(all[0])), 0) << "line " << line;
    }
}

TEST_F(ExactTransformOnGpu, BitsDoNotDependOnBlocksAndStreams) {
    const auto spectra = moving_reflectors(samples, lines);
    const Field whole = field(spectra, b_scans, 1);
    for (const std::int64_t block : {1, 2, 3, 5}) {
        for (const int streams : {1, 3}) {
            EXPECT_TRUE(same_bits(field(spectra, block, streams), whole)) << block << " B-scans, " << streams;
        }
    }
}

// Samples that are read in groups of eight are converted to halves directly, others through floats.
TEST_F(ExactTransformOnGpu, BothPathsToOperandsGiveSameBits) {
    std::vector<std::uint16_t> spectra = moving_reflectors(samples, lines);
    const Field by_eights = field(spectra, b_scans);
    for (std::uint16_t& count : spectra) count = static_cast<std::uint16_t>(count << 8 | count >> 8);
    spec.format.byte_order = ByteOrder::big;
    EXPECT_TRUE(same_bits(field(spectra, b_scans), by_eights));
}

// f32 samples of any size use tf32, because halves could not hold them.
TEST_F(ExactTransformOnGpu, RealSamplesOfAnySizeKeepPrecision) {
    spec.format.sample_format = SampleFormat::f32;
    std::vector<float> spectra;
    for (const std::uint16_t count : moving_reflectors(samples, lines)) spectra.push_back(1e-4f * count);
    for (const float factor : {1.0f, 1e10f}) {
        for (float& value : spectra) value *= factor;
        const auto gpu = voxels_of<std::complex<float>>(spec, bytes_of_lines(spectra), {.block_b_scans = b_scans});
        const auto cpu = voxels_of<std::complex<float>>(spec, bytes_of_lines(spectra), run_on_cpu(b_scans));
        EXPECT_LE(normalised_error(gpu, cpu), 2e-7) << factor;
    }
}

}  // namespace
}  // namespace echolux
