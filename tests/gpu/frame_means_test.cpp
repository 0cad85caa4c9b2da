// The published methods for the mean spectrum, which the benchmark measures, give the same bits as the product's. The
// sizes here do not fill tiles or thread blocks.
#include <gmock/gmock.h>

#include "compute/ceilings.h"
#include "compute/gpu_backend.h"
#include "tests/gpu/gpu_run.h"

namespace echolux {
namespace {

class FrameMeansOnGpu : public GpuTest {};

TEST_F(FrameMeansOnGpu, AllWaysAgree) {
    for (const FrameMeans& of : {FrameMeans{100, 37, 3}, FrameMeans{832, 240, 4}, FrameMeans{31, 1, 1}}) {
        std::vector<std::string> keys;
        required_gpu().measure_frame_means({}, of, {.repetitions = 1, .seconds = 0}, [&](const Ceiling& ceiling) {
            keys.push_back(ceiling.key);
            EXPECT_GT(ceiling.rates.at(0), 0);
        });
        EXPECT_THAT(keys, testing::ElementsAre("mean.serial", "mean.transposed", "mean.product"));
    }
}

}  // namespace
}  // namespace echolux
