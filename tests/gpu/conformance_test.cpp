// Compares every step, method and option on the GPU with the CPU, for the same cases that are compared with double
// precision: normalised mean square error at most 1e-7, and at most one u8 code in ten thousand differs, by one. The
// exact transform on tensor cores has its own limits (nudft_test.cpp).
#include "tests/gpu/gpu_run.h"
#include "tests/oracle/vectors.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

constexpr double max_error = 1e-7;

class Conformance : public GpuTest, public testing::WithParamInterface<std::tuple<std::string, bool>> {
  protected:
    VectorCase one;

    void SetUp() override {
        GpuTest::SetUp();
        if (!IsSkipped()) one = read_vector_case(std::get<0>(GetParam()));
        if (!IsSkipped() && one.spec.recipe.resample == Resample::nudft)
            GTEST_SKIP() << "nudft_test.cpp has its limits";
    }

    template <class Voxel>
    struct Volumes {
        std::vector<Voxel> gpu, cpu;
    };

    template <class Voxel>
    Volumes<Voxel> volumes(Quantity quantity, VoxelType voxel) const {
        ReconstructionSpec spec = one.spec;
        spec.recipe.quantity = quantity;
        spec.recipe.voxel = voxel;
        spec.recipe.levels = Levels::fixed;
        const GpuRun run = run_on_gpu(std::get<1>(GetParam()), spec.geometry.b_scans);
        return {voxels_of<Voxel>(spec, one.spectra, run), voxels_of<Voxel>(spec, one.spectra, run_on_cpu())};
    }

    // Normalised mean square error of the GPU relative to the CPU.
    template <class Voxel>
    double error(Quantity quantity, VoxelType voxel) const {
        const auto [gpu, cpu] = volumes<Voxel>(quantity, voxel);
        return normalised_error(gpu, cpu);
    }

    // Skips voxels more than 60 dB below the noise. Where subtracting the noise floor leaves almost nothing, dB amplify
    // the last bit of an amplitude without bound.
    double db_error() const {
        const auto [gpu, cpu] = volumes<float>(Quantity::db, VoxelType::f32);
        std::vector<float> gpu_kept, cpu_kept;
        for (std::size_t i = 0; i < cpu.size(); ++i) {
            if (std::min(gpu[i], cpu[i]) < one.noise_floor_db - 60 && std::max(gpu[i], cpu[i]) < one.noise_floor_db) {
                continue;
            }
            gpu_kept.push_back(gpu[i]);
            cpu_kept.push_back(cpu[i]);
        }
        EXPECT_GT(cpu_kept.size(), cpu.size() / 4);
        return normalised_error(gpu_kept, cpu_kept);
    }
};

TEST_P(Conformance, AgreesWithCpu) {
    if (!one.field.empty()) {
        EXPECT_LE(error<std::complex<float>>(Quantity::complex, VoxelType::complex64), max_error);
    }
    EXPECT_LE(error<float>(Quantity::amplitude, VoxelType::f32), max_error);
    EXPECT_LE(error<float>(Quantity::intensity, VoxelType::f32), max_error);
    EXPECT_LE(db_error(), max_error);
}

INSTANTIATE_TEST_SUITE_P(Vectors, Conformance,
                         testing::Combine(testing::ValuesIn(vector_case_names()), testing::Bool()),
                         [](const auto& test) {
                             return std::get<0>(test.param) + (std::get<1>(test.param) ? "_fused" : "_separate");
                         });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Conformance);

class Codes : public GpuTest, public testing::WithParamInterface<bool> {};

// The range of levels = frame is taken from the B-scan's voxels and is compared for amplitudes only. In dB its low end
// is the deepest null, which floats resolve to few digits, and it affects all codes.
TEST_P(Codes, AllVectorsAgree) {
    CodeDifference difference;
    for (const std::string& name : vector_case_names()) {
        VectorCase one = read_vector_case(name);
        if (one.spec.recipe.resample == Resample::nudft) continue;
        one.spec.recipe.voxel = VoxelType::u8;
        one.spec.recipe.noise_floor_db = one.noise_floor_db;
        const auto compare = [&](Levels levels, Quantity quantity) {
            const GpuRun run = run_on_gpu(GetParam(), one.spec.geometry.b_scans);
            one.spec.recipe.levels = levels;
            one.spec.recipe.quantity = quantity;
            difference.add(voxels_of<std::uint8_t>(one.spec, one.spectra, run),
                           voxels_of<std::uint8_t>(one.spec, one.spectra, run_on_cpu()));
        };
        compare(Levels::noise_floor, Quantity::db);
        compare(Levels::frame, Quantity::amplitude);
    }
    if (difference.voxels == 0) GTEST_SKIP() << "there are no vectors (NumPy was missing, or ECHOLUX_VECTORS is wrong)";
    difference.expect_within_limits();
}

// A volume of realistic size.
TEST_P(Codes, LargeVolumeAgrees) {
    ReconstructionSpec spec = with(ReconstructionSpec{}, "a2_rad=12 voxel=u8 levels=fixed k_polynomial=1,1980,60");
    spec.geometry = {.samples = 2048, .a_scans = 512, .b_scans = 16};
    const auto spectra = moving_reflectors(2048, 512 * 16);
    const GpuRun run = run_on_gpu(GetParam(), 5);
    CodeDifference difference;
    difference.add(voxels_of<std::uint8_t>(spec, bytes_of_lines(spectra), run),
                   voxels_of<std::uint8_t>(spec, bytes_of_lines(spectra), run_on_cpu()));
    difference.expect_within_limits();
}

INSTANTIATE_TEST_SUITE_P(SweepPaths, Codes, testing::Bool(),
                         [](const auto& test) { return test.param ? "fused" : "separate"; });

// Recipes that only seem to need whole B-scans or another method take the fast path.
class FastPath : public GpuTest {};

TEST_F(FastPath, IsTakenIfPossible) {
    ReconstructionSpec spec;
    spec.geometry = {.samples = 1024, .a_scans = 4, .b_scans = 1};
    spec.recipe.levels = Levels::frame;
    EXPECT_TRUE(takes(spec, ", fused)")) << "f32 has no codes to spread";
    spec.recipe.resample = Resample::nudft;
    EXPECT_TRUE(takes(spec, ", fused)")) << "without a k map there is nothing to resample";

    spec.recipe.voxel = VoxelType::u8;
    EXPECT_FALSE(takes(spec, ", fused)"));
    set(spec, "levels=fixed k_polynomial=1,980,30");
    EXPECT_FALSE(takes(spec, ", fused)"));
}

struct Size {
    std::int64_t samples, a_scans, b_scans;
};

std::ostream& operator<<(std::ostream& out, const Size& size) {
    return out << size.samples << "x" << size.a_scans << "x" << size.b_scans;
}

// Max. share of u16 codes that differ. A code is 0.0008 dB; rounding in another order changes up to 0.4 % of these
// scenes' codes by one and none by two (float64 model of the chain).
constexpr double max_u16_codes = 0.01;

class OddSizes : public GpuTest, public testing::WithParamInterface<std::tuple<Size, bool>> {};

TEST_P(OddSizes, AgreeWithCpu) {
    const auto [size, fused] = GetParam();
    for (const VoxelType voxel : {VoxelType::f32, VoxelType::u16}) {
        for (const double a2 : {0.0, 9.0}) {
            ReconstructionSpec spec = with(ReconstructionSpec{}, "rolling_width=8 levels=fixed");
            spec.geometry = {.samples = size.samples, .a_scans = size.a_scans, .b_scans = size.b_scans};
            spec.recipe.background = size.a_scans > 1 ? Background::frame_mean : Background::rolling;
            spec.recipe.a2_rad = a2;
            spec.recipe.voxel = voxel;
            spec.recipe.depth_end = size.samples / 2 - 1;
            const auto last = static_cast<double>(size.samples - 1);
            spec.calibration.k_polynomial = {0.01 * last, 0.94 * last, 0.04 * last};
            const auto spectra = moving_reflectors(size.samples, size.a_scans * size.b_scans);
            const GpuRun run = run_on_gpu(fused, 2);
            if (voxel == VoxelType::f32) {
                EXPECT_LE(normalised_error(voxels_of<float>(spec, bytes_of_lines(spectra), run),
                                           voxels_of<float>(spec, bytes_of_lines(spectra), run_on_cpu())),
                          max_error);
            } else {
                CodeDifference difference;
                difference.add(voxels_of<std::uint16_t>(spec, bytes_of_lines(spectra), run),
                               voxels_of<std::uint16_t>(spec, bytes_of_lines(spectra), run_on_cpu()));
                difference.expect_within_limits(max_u16_codes);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, OddSizes,
                         testing::Combine(testing::Values(Size{512, 1, 1}, Size{512, 1, 3}, Size{509, 7, 5},
                                                          Size{832, 13, 3}, Size{2049, 3, 2}, Size{2048, 3, 5},
                                                          Size{16, 5, 3}, Size{1024, 257, 2}, Size{8192, 2, 1},
                                                          Size{4096, 31, 1}, Size{16384, 3, 2}),
                                          testing::Bool()));

}  // namespace
}  // namespace echolux
