// Detection of growing memory, files and threads from samples of the soak.
#include <gtest/gtest.h>

#include "tests/soak/usage.h"

namespace echolux::soak {
namespace {

// Memory that grows by `mb_each` per sample.
std::vector<Usage> samples(std::size_t count, double mb_each) {
    std::vector<Usage> all;
    for (std::size_t i = 0; i < count; ++i) {
        const auto n = static_cast<double>(i);
        all.push_back({.time_s = 5 * n, .resident_mb = 300 + mb_each * n, .files = 8, .threads = 14});
    }
    return all;
}

Growth growth(const std::vector<Usage>& all) {
    return UsageInThirds(all).growth();
}

TEST(SoakUsage, TooFewSamplesAreNeverFlat) {
    for (std::size_t count = 0; count < UsageInThirds::min_samples; ++count)
        EXPECT_EQ(growth(samples(count, 0)), Growth::too_few_samples) << count;
    EXPECT_EQ(growth(samples(UsageInThirds::min_samples, 0)), Growth::none);
}

TEST(SoakUsage, DetectsGrowth) {
    EXPECT_EQ(growth(samples(300, 0.1)), Growth::none) << "10 MB from third to third";
    EXPECT_EQ(growth(samples(300, 1)), Growth::some);
    for (const auto field : {&Usage::files, &Usage::threads}) {
        std::vector<Usage> all = samples(30, 0);
        for (std::size_t i = 20; i < 30; ++i) all[i].*field += 3;
        EXPECT_EQ(growth(all), Growth::some);
    }
}

TEST(SoakUsage, IgnoresGrowthInFirstThird) {
    std::vector<Usage> all = samples(30, 0);
    for (std::size_t i = 10; i < 30; ++i) all[i].resident_mb += 1000;
    EXPECT_EQ(growth(all), Growth::none);
}

}  // namespace
}  // namespace echolux::soak
