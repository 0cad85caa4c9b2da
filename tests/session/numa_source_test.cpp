// The choice of the GPU near which blocks are placed, read from mock copies of /sys, and whether sources report it and
// blocks are placed there.
#include "engine/acquire/wrapped_sources.h"

#include <gmock/gmock.h>

#include <fstream>

#include "compute/error.h"
#include "compute/indexing.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class OneBlock : public Source {
  public:
    const Scan& scan() const override { return scan_; }
    std::int64_t block_b_scans() const override { return 1; }
    const SourceCapabilities& capabilities() const override { return capabilities_; }
    std::string name() const override { return "A"; }
    void start() override {}
    Arrival next(std::chrono::milliseconds) override { return {Arrival::Kind::block, {}}; }
    void stop() noexcept override {}

  private:
    Scan scan_;
    SourceCapabilities capabilities_;
};

class NearGpus : public testing::Test {
  protected:
    void tell(const std::string& file, const std::string& line) {
        const std::filesystem::path path = folder_ / file;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << line << "\n";
    }
    void tell_nodes(const std::string& list) { tell("devices/system/node/has_memory", list); }
    void tell_gpu(const std::string& address, const std::string& node) {
        tell("bus/pci/devices/" + address + "/numa_node", node);
    }

    TemporaryFolder folder_;
    GpuSurvey gpus_{{{{1}, "X", 0, "0000:17:00.0"}, {{2}, "Y", 0, "0000:b1:00.0"}}, ""};
};

TEST_F(NearGpus, ReadsNodesFromKernel) {
    EXPECT_THAT(memory_nodes(folder_.path()), ElementsAre(0));  // the list is missing
    tell_nodes("0-1,3");
    EXPECT_THAT(memory_nodes(folder_.path()), ElementsAre(0, 1, 3));
    tell_nodes("nonsense");
    EXPECT_THAT(memory_nodes(folder_.path()), ElementsAre(0));
    tell_nodes("0-4000000000");
    EXPECT_LE(memory_nodes(folder_.path()).size(), 1024U);
}

TEST_F(NearGpus, AssignNodesOfGpusInTurn) {
    tell_nodes("0-1");
    tell_gpu("0000:17:00.0", "0");
    tell_gpu("0000:b1:00.0", "1");
    for (std::int64_t number = 0; number < 4; ++number) {
        const NearGpu found = near_gpu(number, gpus_, folder_.path());
        EXPECT_EQ(found.node, static_cast<int>(number % 2));
        EXPECT_EQ(found.gpu, gpus_.usable[index(number % 2)].id);
    }
    EXPECT_EQ(near_gpu(1, gpus_, folder_.path()).remark, "near GPU 1 on memory node 1");
}

TEST_F(NearGpus, ReportWhyNoNodeIsChosen) {
    EXPECT_THAT(near_gpu(0, gpus_, folder_.path()).remark, HasSubstr("this machine has a single memory node"));
    tell_nodes("0-1");
    EXPECT_THAT(near_gpu(1, gpus_, folder_.path()).remark, HasSubstr("the memory node of GPU 1 is unknown"));
    tell_gpu("0000:b1:00.0", "-1");
    EXPECT_EQ(near_gpu(1, gpus_, folder_.path()).node, std::nullopt);
    tell_gpu("0000:b1:00.0", "7");  // has no memory
    EXPECT_EQ(near_gpu(1, gpus_, folder_.path()).node, std::nullopt);
    EXPECT_THROW(near_gpu(0, {{}, "no driver"}, folder_.path()), Error);
}

// Takes effect only if the system allows memory placement; containers may forbid it.
TEST_F(NearGpus, BlocksNameGpuOfPlacedMemory) {
    const bool places = OnMemoryNode(0).is_in_force();
    const auto open = [] { return std::make_unique<OneBlock>(); };
    NumaSource placed({{9}, 0, "near GPU 9 on memory node 0"}, open);
    placed.start();
    EXPECT_EQ(placed.next({}).block.near_gpu, places ? DeviceId{9} : DeviceId{});
    EXPECT_THAT(placed.name(),
                HasSubstr(places ? "A, near GPU 9 on memory node 0" : "does not allow memory placement"));
    NumaSource anywhere({{9}, {}, "without effect"}, open);
    EXPECT_EQ(anywhere.next({}).block.near_gpu, DeviceId{});
}

TEST_F(NearGpus, IgnoreMissingNodes) {
    EXPECT_FALSE(OnMemoryNode(std::nullopt).is_in_force());
    EXPECT_FALSE(OnMemoryNode(1023).is_in_force());
    EXPECT_FALSE(OnMemoryNode(-1).is_in_force());
}

}  // namespace
}  // namespace echolux
