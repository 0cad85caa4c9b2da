// Doppler on the CPU, compared with known motions.
#include "tests/oracle/flow_doppler_truths.h"

namespace echolux {
namespace {

INSTANTIATE_TEST_SUITE_P(Cpu, Doppler, testing::Values(FlowMachine{"cpu", &plan_on_cpu}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace echolux
