// Flow and scan order compared with double precision NumPy, for either backend. Includers instantiate FlowVector.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/oracle/flow_run.h"
#include "tests/oracle/vectors.h"

namespace echolux {

class FlowVector : public testing::TestWithParam<std::tuple<FlowMachine, std::string>> {
  protected:
    const FlowVectorCase expected = read_flow_vector(std::get<1>(GetParam()));

    FlowVolumes found() const { return flow_of(std::get<0>(GetParam()), expected.spec, expected.spectra); }

    // 8-bit codes change a direction by up to 0.5 sqrt(2) / 127.
    static constexpr double max_turn = 0.0057;

    void expect_phasor(std::uint16_t code, std::complex<double> wanted, std::size_t voxel) const {
        const std::complex<double> phasor = phasor_of(code);
        ASSERT_GT(std::abs(phasor), 0.98) << voxel;
        ASSERT_LE(std::abs(std::arg(phasor * std::conj(wanted))), max_turn) << voxel;
    }

    // A half has eleven significant bits. The rounding of float differences is absolute; for power Doppler in dB it
    // counts a hundredfold where almost nothing has changed.
    void expect_value(std::uint16_t code, double wanted, std::size_t voxel) const {
        const double rest = expected.spec.flow.method == FlowMethod::power_doppler ? 1e-3 : 2e-5;
        ASSERT_NEAR(number_of_half(code), wanted, 6e-4 * std::abs(wanted) + rest) << voxel;
    }
};

TEST_P(FlowVector, AgreesWithDoublePrecision) {
    const FlowVolumes volumes = found();
    ASSERT_EQ(volumes.structure.size(), expected.power.size());
    const double brightest = *std::max_element(expected.power.begin(), expected.power.end());
    for (std::size_t i = 0; i < expected.power.size(); ++i) {
        ASSERT_NEAR(volumes.structure[i], expected.power[i], 1e-6 * brightest) << i;
    }
    ASSERT_EQ(volumes.flow.size(), expected.margin.size());
    std::size_t masked = 0;
    for (std::size_t i = 0; i < expected.margin.size(); ++i) {
        if (std::abs(expected.margin[i] - 1) < 1e-5) continue;  // a tie
        masked += expected.margin[i] < 1;
        if (expected.margin[i] < 1) {
            ASSERT_EQ(volumes.flow[i], 0) << i;
        } else if (!expected.phasors.empty()) {
            expect_phasor(volumes.flow[i], expected.phasors[i], i);
        } else {
            expect_value(volumes.flow[i], expected.values[i], i);
        }
    }
    RecordProperty("masked", std::to_string(masked));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FlowVector);

inline std::string flow_vector_name(const testing::TestParamInfo<std::tuple<FlowMachine, std::string>>& test) {
    return std::get<1>(test.param) + "_" + std::get<0>(test.param).name;
}

}  // namespace echolux
