// The whole chain with every format, background, interpolation, window, average and method, compared with double
// precision NumPy and SciPy (generate_vectors.py contains the table of cases): relative l2 at most 1e-6, dB within 1e-3
// above the noise floor.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/oracle/chain.h"
#include "tests/oracle/vectors.h"

namespace echolux {
namespace {

class Chain : public testing::TestWithParam<std::string> {
  protected:
    const VectorCase expected = read_vector_case(GetParam());

    template <class Voxel>
    std::vector<Voxel> voxels(Quantity quantity) const {
        ReconstructionSpec spec = expected.spec;
        spec.recipe.quantity = quantity;
        spec.recipe.levels = Levels::fixed;
        const auto found = reconstructed<Voxel>(spec, expected.spectra);
        EXPECT_EQ(found.size(), expected.power.size());
        return found;
    }

    double field_error() const { return relative_l2(voxels<std::complex<float>>(Quantity::complex), expected.field); }

    double amplitude_error() const {
        std::vector<double> root;
        for (const double power : expected.power) root.push_back(std::sqrt(power));
        return relative_l2(voxels<float>(Quantity::amplitude), root);
    }

    double intensity_error() const { return relative_l2(voxels<float>(Quantity::intensity), expected.power); }

    double worst_db_error() const {
        const auto db = voxels<float>(Quantity::db);
        double worst = 0;
        for (std::size_t i = 0; i < db.size(); ++i) {
            const double wanted = 10 * std::log10(expected.power[i]);
            if (wanted > expected.noise_floor_db) worst = std::max(worst, std::abs(double{db[i]} - wanted));
        }
        return worst;
    }
};

TEST_P(Chain, AgreesWithDoublePrecision) {
    const bool joined_without_phase = expected.field.empty();
    const double field = joined_without_phase ? 0 : field_error();
    const double intensity = intensity_error();
    const double worst_db = worst_db_error();
    RecordProperty("field_relative_l2", std::to_string(field * 1e9) + "e-9");
    RecordProperty("intensity_relative_l2", std::to_string(intensity * 1e9) + "e-9");
    RecordProperty("worst_db", std::to_string(worst_db));
    EXPECT_LE(field, 1e-6);
    EXPECT_LE(amplitude_error(), 1e-6);
    EXPECT_LE(intensity, 1e-6);
    EXPECT_LE(worst_db, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Vectors, Chain, testing::ValuesIn(vector_case_names()),
                         [](const auto& test) { return test.param; });
INSTANTIATE_TEST_SUITE_P(Searches, Chain, testing::ValuesIn(search_case_names()),
                         [](const auto& test) { return test.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Chain);

TEST(ChainVectors, Exist) {
    if (vector_case_names().empty()) GTEST_SKIP() << "python3-numpy or python3-scipy was missing when this was built";
    EXPECT_GE(vector_case_names().size(), 60u);
}

}  // namespace
}  // namespace echolux
