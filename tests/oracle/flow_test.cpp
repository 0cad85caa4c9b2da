// Doppler and angiography on the CPU, compared with known motions and statistics, and with double precision NumPy
// (generate_flow_vectors.py contains the table of cases).

#include "tests/oracle/angiography_truths.h"
#include "tests/oracle/flow_doppler_truths.h"
#include "tests/oracle/flow_vectors.h"

namespace echolux {
namespace {

INSTANTIATE_TEST_SUITE_P(Cpu, Doppler, testing::Values(FlowMachine{"cpu", &plan_on_cpu}),
                         [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(Cpu, Angiography, testing::Values(FlowMachine{"cpu", &plan_on_cpu}),
                         [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(Cpu, FlowVector,
                         testing::Combine(testing::Values(FlowMachine{"cpu", &plan_on_cpu}),
                                          testing::ValuesIn(flow_vector_names())),
                         flow_vector_name);

TEST(FlowVectors, Exist) {
    if (flow_vector_names().empty()) GTEST_SKIP() << "python3-numpy or python3-scipy was missing when this was built";
    EXPECT_GE(flow_vector_names().size(), 35u);
}

}  // namespace
}  // namespace echolux
