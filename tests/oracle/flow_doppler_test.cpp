// Doppler on the CPU, held to what is true of known motions.
#include "tests/oracle/flow_doppler_truths.h"

namespace echolux {
namespace {

INSTANTIATE_TEST_SUITE_P(Cpu, Doppler, testing::Values(FlowMachine{"cpu", &plan_on_cpu}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace echolux
