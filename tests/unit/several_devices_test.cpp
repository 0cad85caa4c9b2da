// Several devices: the assignment of blocks, the transfer of coupled state, dropped devices, and the reporting of
// errors. compute_stream_test and tests/gpu check the bits.
#include "compute/several_devices.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "compute/error.h"
#include "compute/indexing.h"
#include "tests/oracle/chain.h"
#include "tests/support/error_of.h"

namespace echolux {
namespace {

// Records all calls. Block `fails` of a scan fails; wait() throws its error.
class NotingDevice : public Reconstructor {
  public:
    NotingDevice(std::string name, std::vector<std::string>& notes, std::uint64_t fails = ~std::uint64_t{0},
                 bool fails_to_follow = false)
        : name_(std::move(name)), notes_(notes), fails_(fails), fails_to_follow_(fails_to_follow) {}

    const VolumeGrid& grid() const override { return grid_; }
    const std::optional<VolumeGrid>& flow_grid() const override { return flow_grid_; }
    Backend backend() const override { return Backend::cpu; }
    std::string backend_description() const override { return "device " + name_; }
    void prime(const Block& block) override { note("follows", block.sequence); }
    Completion submit(const Block& block, const VoxelTargets&) override {
        if (block.b_scans == 0) throw Error(ErrorCode::bad_setting, "an empty block");
        note("makes", block.sequence);
        sequences_.push_back(block.sequence);
        return {sequences_.size()};
    }
    void wait(Completion completion) override {
        const std::uint64_t sequence = sequences_.at(completion.value - 1);
        note("has made", sequence);
        if (sequence == fails_) throw Error(ErrorCode::device, "broken", name_);
    }
    void collect() override {
        notes_.push_back(name_ + " collects");
        if (is_broken) throw Error(ErrorCode::device, "broken", name_);
    }
    void resume_after(Reconstructor& before) override {
        notes_.push_back(name_ + " resumes after " + dynamic_cast<NotingDevice&>(before).name_);
        if (fails_to_follow_) throw Error(ErrorCode::out_of_memory, "cannot follow", name_);
        if (is_broken || dynamic_cast<NotingDevice&>(before).is_broken)
            throw Error(ErrorCode::device, "a copy failed", name_);
    }
    int in_flight() const override { return busy; }
    DeviceId device() const override { return {static_cast<std::uint8_t>(name_.front())}; }

    int busy = 0;
    bool is_broken = false;

  private:
    void note(const char* what, std::uint64_t sequence) {
        notes_.push_back(fmt::format("{} {} {}", name_, what, sequence));
    }

    std::string name_;
    std::vector<std::string>& notes_;
    std::uint64_t fails_;
    bool fails_to_follow_;
    std::vector<std::uint64_t> sequences_;
    VolumeGrid grid_;
    std::optional<VolumeGrid> flow_grid_;
};

using Notes = std::vector<std::string>;

class SeveralDevicesTest : public testing::Test {
  protected:
    ReconstructionSpec spec = plain_spec(64, 2);
    Notes notes;
    VoxelTarget place;
    NotingDevice *a = nullptr, *b = nullptr;

    // `a` and `b` are the devices, until the returned object ends.
    SeveralDevices two(std::uint64_t fails = ~std::uint64_t{0}, bool b_fails_to_follow = false) {
        std::vector<std::unique_ptr<Reconstructor>> devices;
        devices.push_back(std::make_unique<NotingDevice>("A", notes, fails));
        devices.push_back(std::make_unique<NotingDevice>("B", notes, fails, b_fails_to_follow));
        a = dynamic_cast<NotingDevice*>(devices.front().get());
        b = dynamic_cast<NotingDevice*>(devices.back().get());
        return SeveralDevices(spec, std::move(devices));
    }

    static Block block(std::uint64_t sequence) { return Block{.b_scans = 1, .sequence = sequence}; }
};

TEST_F(SeveralDevicesTest, AlternatesDevicesWithIncreasingValues) {
    SeveralDevices devices = two();
    for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(devices.submit(block(i), place).value, i + 1);
    for (const std::uint64_t value : {2, 1, 3}) devices.wait({value});
    EXPECT_EQ(notes, (Notes{"A makes 0", "B makes 1", "A makes 2", "B has made 1", "A has made 0", "A has made 2"}));
}

// Blocks near a GPU go there, until it has more than one block more in progress than the others.
TEST_F(SeveralDevicesTest, PrefersGpuNearBlock) {
    SeveralDevices devices = two();
    Block near_b = block(0);
    near_b.near_gpu = b->device();
    for (const int busy : {0, 0, 1, 2}) {
        b->busy = busy;
        devices.submit(near_b, place);
    }
    EXPECT_EQ(notes, (Notes{"B makes 0", "B makes 0", "B makes 0", "A makes 0"}));
}

TEST_F(SeveralDevicesTest, WaitsOnceForEachSubmittedBlock) {
    SeveralDevices devices = two();
    const Completion first = devices.submit(block(0), place);
    notes.clear();
    devices.wait({0});
    devices.wait({7});
    devices.wait(first);
    devices.wait(first);
    EXPECT_EQ(notes, Notes{"A has made 0"});
}

// Each block sees the state left by the previous one, and devices read only the spectra that they reconstruct.
TEST_F(SeveralDevicesTest, PassesRunningBackgroundInOrderOfBlocks) {
    spec.recipe.background = Background::running;
    SeveralDevices devices = two();
    for (std::uint64_t i = 0; i < 2; ++i) devices.prime(block(i));
    for (std::uint64_t i = 2; i < 5; ++i) devices.submit(block(i), place);
    EXPECT_EQ(notes, (Notes{"A follows 0", "A follows 1", "A makes 2", "B resumes after A", "B makes 3",
                            "A resumes after B", "A makes 4"}));
}

TEST_F(SeveralDevicesTest, SkipsPrimingWithoutRunningBackground) {
    SeveralDevices devices = two();
    devices.prime(block(0));
    devices.submit(block(1), place);
    devices.submit(block(2), place);
    EXPECT_EQ(notes, (Notes{"A makes 1", "B makes 2"}));
}

TEST_F(SeveralDevicesTest, FailedResumeStartsNoWorkAndKeepsTurn) {
    spec.recipe.background = Background::running;
    SeveralDevices devices = two(9, true);
    devices.submit(block(0), place);
    for (int i = 0; i < 2; ++i) {
        notes.clear();
        EXPECT_THROW(devices.submit(block(1), place), Error);
        EXPECT_EQ(notes, Notes{"B resumes after A"});
    }
}

// A device with other work or a slower link gets fewer blocks.
TEST_F(SeveralDevicesTest, PrefersDeviceWithFewerBlocks) {
    SeveralDevices devices = two();
    a->busy = 1;
    for (std::uint64_t i = 0; i < 3; ++i) devices.submit(block(i), place);
    a->busy = 0;
    devices.submit(block(3), place);
    EXPECT_EQ(notes, (Notes{"B makes 0", "B makes 1", "B makes 2", "A makes 3"}));
    EXPECT_EQ(devices.device_work().at(0).blocks, 1);
    EXPECT_EQ(devices.device_work().at(1).blocks, 3);
}

TEST_F(SeveralDevicesTest, AlternatesDevicesForBlocksInDeviceMemory) {
    SeveralDevices devices = two();
    a->busy = 4;
    for (std::uint64_t i = 0; i < 3; ++i) {
        Block resident = block(i);
        resident.memory = MemoryKind::device;
        devices.submit(resident, place);
    }
    EXPECT_EQ(notes, (Notes{"A makes 0", "B makes 1", "A makes 2"}));
}

// State is taken over by a copy, which fails if either device is broken.
TEST_F(SeveralDevicesTest, ExcludesBrokenDeviceAfterFailedCopy) {
    spec.recipe.background = Background::running;
    for (const int broken : {0, 1}) {
        SeveralDevices devices = two();
        devices.submit(block(0), place);
        (broken == 0 ? a : b)->is_broken = true;
        EXPECT_THROW(devices.submit(block(1), place), Error);
        EXPECT_EQ(devices.backend_description(), broken == 0 ? "device B" : "device A");
    }
}

// Its error is reported once, its blocks are lost, and the others continue.
TEST_F(SeveralDevicesTest, ExcludesFailedDevice) {
    SeveralDevices devices = two(1);
    for (std::uint64_t i = 0; i < 4; ++i) devices.submit(block(i), place);
    try {
        devices.wait({2});
        ADD_FAILURE() << "the error is lost";
    } catch (const Error& error) {
        EXPECT_TRUE(devices.continues_after(error));
        EXPECT_FALSE(devices.continues_after(error)) << "once for each error";
    }
    notes.clear();
    devices.wait({4});  // includes B's block
    devices.collect();
    for (std::uint64_t i = 4; i < 6; ++i) devices.submit(block(i), place);
    EXPECT_EQ(notes, (Notes{"A collects", "A makes 4", "A makes 5"}));
    EXPECT_EQ(devices.backend_description(), "device A");
    EXPECT_EQ(left_out(devices.device_work()), "device B (device 2 of 2) is not used: broken");
}

// The caller must then create new devices.
TEST_F(SeveralDevicesTest, KeepsLastDevice) {
    SeveralDevices devices = two(0);
    devices.submit(block(0), place);
    devices.submit(block(0), place);
    const auto continues_after = [&](std::uint64_t value) {
        try {
            devices.wait({value});
        } catch (const Error& error) {
            return devices.continues_after(error);
        }
        throw std::logic_error("nothing was thrown");
    };
    EXPECT_TRUE(continues_after(1));
    EXPECT_FALSE(continues_after(2));
    EXPECT_EQ(devices.backend_description(), "device B");
}

// Errors of the caller do not drop a device.
TEST_F(SeveralDevicesTest, KeepsDevicesAfterCallersError) {
    SeveralDevices devices = two();
    try {
        devices.submit(Block{}, place);
        ADD_FAILURE() << "an empty block was taken";
    } catch (const Error& error) {
        EXPECT_FALSE(devices.continues_after(error));
    }
    EXPECT_EQ(devices.backend_description(), "device A + device B");
    devices.submit(block(0), place);
    EXPECT_EQ(notes, Notes{"A makes 0"}) << "it keeps its turn";
}

TEST_F(SeveralDevicesTest, ReportsErrorWhenWaitingForItsBlock) {
    SeveralDevices devices = two(1);
    for (std::uint64_t i = 0; i < 4; ++i) devices.submit(block(i), place);
    devices.wait({1});
    EXPECT_EQ(error_of([&] { devices.wait({2}); }).where, "B");
    devices.wait({3});
    devices.wait({4});
}

// A caller that never waits has a limited number of pending blocks and still receives errors.
TEST_F(SeveralDevicesTest, WaitsInOrderForAbandonedBlocks) {
    SeveralDevices devices = two(1);
    const auto submit_many = [&] {
        for (std::uint64_t i = 0; i < 1000; ++i) devices.submit(block(i), place);
    };
    EXPECT_THROW(submit_many(), Error);
    const auto waited = std::ranges::find(notes, "A has made 0"), failed = std::ranges::find(notes, "B has made 1");
    EXPECT_LT(waited, failed);
    EXPECT_NE(failed, notes.end());
}

TEST_F(SeveralDevicesTest, CollectsAndNamesAllDevices) {
    SeveralDevices devices = two();
    devices.collect();
    EXPECT_EQ(notes, (Notes{"A collects", "B collects"}));
    EXPECT_EQ(devices.backend_description(), "device A + device B");
    std::vector<std::unique_ptr<Reconstructor>> alike;
    for (int i = 0; i < 3; ++i) alike.push_back(std::make_unique<NotingDevice>("C", notes));
    EXPECT_EQ(SeveralDevices(spec, std::move(alike)).backend_description(), "3 x device C");
}

TEST_F(SeveralDevicesTest, ReturnsSingleDeviceUnchanged) {
    std::vector<std::unique_ptr<Reconstructor>> one;
    one.push_back(std::make_unique<NotingDevice>("A", notes));
    const Reconstructor* const itself = one.front().get();
    EXPECT_EQ(over_devices(spec, std::move(one)).get(), itself);
}

}  // namespace
}  // namespace echolux
