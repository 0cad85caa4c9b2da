// The published ways to the mean spectrum, which the benchmark measures, have the bits of the product's: measuring them
// checks it, here with sizes that fill no tile and no block of threads.
#include <gmock/gmock.h>

#include "compute/ceilings.h"
#include "tests/gpu/gpu_run.h"

namespace echolux {
namespace {

class FrameMeansOnGpu : public GpuTest {};

TEST_F(FrameMeansOnGpu, AllWaysAgree) {
    for (const FrameMeans& of : {FrameMeans{100, 37, 3}, FrameMeans{832, 240, 4}, FrameMeans{31, 1, 1}}) {
        std::vector<std::string> keys;
        measure_frame_means({}, of, {.repetitions = 1, .seconds = 0}, [&](const Ceiling& way) {
            keys.push_back(way.key);
            EXPECT_GT(way.rates.at(0), 0);
        });
        EXPECT_THAT(keys, testing::ElementsAre("mean.serial", "mean.transposed", "mean.product"));
    }
}

}  // namespace
}  // namespace echolux
