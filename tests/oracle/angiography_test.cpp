// Angiography on the CPU, compared with known statistics.
#include "tests/oracle/angiography_truths.h"

namespace echolux {
namespace {

INSTANTIATE_TEST_SUITE_P(Cpu, Angiography, testing::Values(FlowMachine{"cpu", &plan_on_cpu}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace echolux
