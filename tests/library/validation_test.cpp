// Validation as a report.
#include <cmath>

#include "fringes.h"

namespace echolux::test {
namespace {

TEST(LibraryValidation, SlowReportsEveryCheck) {
    auto device = lux::make<echolux_device>();
    device.kind = ECHOLUX_DEVICE_CPU;
    int told = 0;
    const lux::Validation validation(device, true, [&](const std::string&, std::int64_t, std::int64_t) {
        ++told;
        return true;
    });
    EXPECT_GT(told, 5);
    const auto checks = validation.checks();
    ASSERT_GT(checks.size(), 20u);
    for (const echolux_check& check : checks) {
        EXPECT_TRUE(check.passed) << check.topic << ": " << check.what << " is " << check.found;
        if (check.bound == ECHOLUX_NEAR) {
            EXPECT_LE(std::abs(check.found - check.expected), check.limit) << check.what;
        }
    }
    EXPECT_NE(validation.report().find("| passed |"), std::string::npos);
    EXPECT_EQ(status_of([&] {
                  lux::Validation(device, true, [](const std::string&, std::int64_t, std::int64_t) { return false; });
              }),
              ECHOLUX_CANCELLED);
}

}  // namespace
}  // namespace echolux::test
