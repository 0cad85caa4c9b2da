// The whole chain, in every format, background, interpolation, window and average, against double precision NumPy and
// SciPy (generate_vectors.py holds the table of cases): relative l2 at most 1e-6, dB within 1e-3 above the noise floor.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/oracle/chain.h"
#include "tests/oracle/vectors.h"

namespace echolux {
namespace {

class Chain : public testing::TestWithParam<std::string> {
  protected:
    VectorCase expected = read_vector_case(GetParam());
};

template <class Measured, class Expected>
double relative_l2(const std::vector<Measured>& measured, const std::vector<Expected>& expected) {
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        error += std::norm(static_cast<Expected>(measured[i]) - expected[i]);
        norm += std::norm(expected[i]);
    }
    return std::sqrt(error / norm);
}

TEST_P(Chain, FieldAgrees) {
    if (expected.field.empty()) return;  // AmplitudeAgrees looks at what is left of it
    expected.plan.recipe.quantity = Quantity::complex;
    expected.plan.recipe.voxel = VoxelType::complex64;
    const auto field = reconstructed<std::complex<float>>(expected.plan, expected.spectra);
    ASSERT_EQ(field.size(), expected.field.size());
    EXPECT_LE(relative_l2(field, expected.field), 1e-6);
}

TEST_P(Chain, AmplitudeAgrees) {
    expected.plan.recipe.quantity = Quantity::amplitude;
    const auto amplitude = reconstructed<float>(expected.plan, expected.spectra);
    ASSERT_EQ(amplitude.size(), expected.power.size());
    std::vector<double> root;
    for (const double power : expected.power) root.push_back(std::sqrt(power));
    EXPECT_LE(relative_l2(amplitude, root), 1e-6);
}

TEST_P(Chain, IntensityAgrees) {
    expected.plan.recipe.quantity = Quantity::intensity;
    const auto intensity = reconstructed<float>(expected.plan, expected.spectra);
    ASSERT_EQ(intensity.size(), expected.power.size());
    EXPECT_LE(relative_l2(intensity, expected.power), 2e-6);  // twice the amplitude's
}

TEST_P(Chain, DecibelsAgreeAboveTheNoiseFloor) {
    expected.plan.recipe.levels = Levels::fixed;
    const auto db = reconstructed<float>(expected.plan, expected.spectra);
    ASSERT_EQ(db.size(), expected.power.size());
    double worst = 0;
    for (std::size_t i = 0; i < db.size(); ++i) {
        const double wanted = 10 * std::log10(expected.power[i]);
        if (wanted > expected.noise_floor_db) worst = std::max(worst, std::abs(static_cast<double>(db[i]) - wanted));
    }
    EXPECT_LE(worst, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Vectors, Chain, testing::ValuesIn(vector_case_names()),
                         [](const auto& test) { return test.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Chain);

TEST(ChainVectors, Exist) {
    if (vector_case_names().empty()) GTEST_SKIP() << "python3-numpy or python3-scipy was missing when this was built";
    EXPECT_GE(vector_case_names().size(), 60u);
}

}  // namespace
}  // namespace echolux
