// Slow plugins and plugins that never return: no block is lost, and no caller waits for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "await.h"
#include "compute/error.h"
#include "hostile_plugin.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// A call that returns after its caller gave up still delivers its block.
class SlowPlugin : public testing::TestWithParam<const char*> {};

TEST_P(SlowPlugin, LosesNoBlock) {
    const auto source = open_plugin(hostile("hostile", GetParam()));
    source->start();
    int waited = 0;
    for (std::int64_t number = 0; number < 7; ++number) {
        Arrival arrival = source->next(1ms);
        for (TestTimeout timeout; arrival.kind != Arrival::Kind::block && timeout.lasts(); ++waited)
            arrival = source->next(1ms);
        SCOPED_TRACE(number);
        EXPECT_EQ(arrival.block.lost_before, 0);
        EXPECT_EQ(arrival.block.volume, number / 3);
        EXPECT_EQ(arrival.block.first_b_scan, number % 3 * 3);
    }
    EXPECT_GT(waited, 0) << "else this tests nothing";
}

INSTANTIATE_TEST_SUITE_P(EachWay, SlowPlugin, testing::Values("next is slow", "posted next is slow"),
                         [](const auto& fault) { return as_name(fault.param); });

// A plugin that never returns is reported. Stopping and closing do not wait for it.
class HangingPlugin : public testing::TestWithParam<const char*> {};

TEST_P(HangingPlugin, DoesNotBlockExit) {
    const auto begun = std::chrono::steady_clock::now();
    {
        const auto source = open_plugin(hostile("hostile", GetParam()));
        source->start();
        source->next(1ms);
        source->stop();
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s) << "it hangs for 30 s";
}

INSTANTIATE_TEST_SUITE_P(EachWay, HangingPlugin,
                         testing::Values("next hangs", "posted next hangs", "stop hangs", "close hangs"),
                         [](const auto& fault) { return as_name(fault.param); });

TEST(PluginFaults, ReportsCallThatHangs) {
    const auto source = open_plugin(hostile("hostile", "next hangs"));
    source->start();
    std::string line;
    for (TestTimeout timeout; line.empty() && timeout.lasts();) {
        try {
            const auto begun = std::chrono::steady_clock::now();
            EXPECT_EQ(source->next(20ms).kind, Arrival::Kind::nothing_yet);
            EXPECT_LT(std::chrono::steady_clock::now() - begun, 2s) << "no call waits longer than it was asked to";
        } catch (const Error& error) {
            line = error.line();
        }
    }
    EXPECT_THAT(line, HasSubstr("next() has not returned for 5 s"));
    EXPECT_THROW(source->start(), Error) << "it still hangs";
}

}  // namespace
}  // namespace echolux
