// Percentiles of a histogram compared with those of the sorted list.
#include "engine/live/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace echolux {
namespace {

TEST(Latency, PercentilesMatchSortedList) {
    std::mt19937 random(4);
    std::lognormal_distribution<double> times(std::log(5e-3), 1.5);
    Latency latency;
    std::vector<double> all;
    for (int i = 0; i < 5000; ++i) {
        all.push_back(times(random));
        latency.add(all.back());
    }
    std::sort(all.begin(), all.end());
    for (const double share : {0.01, 0.5, 0.9, 0.99, 1.0}) {
        const double exact = all[static_cast<std::size_t>(std::ceil(share * 5000)) - 1];
        EXPECT_GE(latency.percentile_s(share), exact * (1 - 1e-12)) << share;
        EXPECT_LE(latency.percentile_s(share), exact * 1.0201) << share;
    }
    EXPECT_EQ(latency.count(), 5000);
    EXPECT_EQ(latency.max_s(), all.back());
}

TEST(Latency, AcceptsAnyValue) {
    Latency latency;
    EXPECT_EQ(latency.percentile_s(0.5), 0);
    latency.add(0);
    latency.add(-1);
    latency.add(1e9);
    EXPECT_EQ(latency.percentile_s(1), 1e9);
    EXPECT_LE(latency.percentile_s(0.5), 1.03e-6);
}

}  // namespace
}  // namespace echolux
