// The reconstructor through the C and C++ interfaces: blocks of any size, strides, threads, and wrong calls.
#include <algorithm>
#include <cstring>
#include <limits>
#include <thread>

#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "fringes.h"
#include "temporary_folder.h"

namespace echolux::test {
namespace {

class LibraryReconstructor : public FringesTest {};
class LibraryReconstruct : public FringesTest {};

TEST_F(LibraryReconstructor, ReportsGridAndDevice) {
    lux::Scan scan = described();
    scan.settings().set("recipe.voxel", "u16");
    auto device = lux::make<echolux_device>();
    device.kind = ECHOLUX_DEVICE_CPU;
    const lux::Reconstructor work(scan, device);
    const echolux_grid grid = work.grid();
    EXPECT_EQ(grid.depth, 128);
    EXPECT_EQ(grid.voxel, ECHOLUX_U16);
    EXPECT_EQ(grid.voxel_bytes, 2);
    EXPECT_EQ(grid.bytes, 128 * 12 * 6 * 2);
    EXPECT_STREQ(grid.quantity, "db");
    EXPECT_EQ(work.device().substr(0, 5), "cpu (");
}

TEST_F(LibraryReconstructor, HeadersBetweenBScansAreSkipped) {
    const lux::Scan scan = described(size_);
    constexpr std::size_t header = 100, b_scan = 12 * 512;
    std::vector<std::byte> framed(6 * (header + b_scan), std::byte{0xFF});
    for (std::size_t b = 0; b < 6; ++b) {
        std::memcpy(framed.data() + b * (header + b_scan) + header, spectra_.data() + b * b_scan / 2, b_scan);
    }
    auto block = lux::make<echolux_block>();
    block.data = framed.data();
    block.bytes = std::ssize(framed);
    block.b_scans = 6;
    block.frame_offset_bytes = header;
    block.frame_stride_bytes = header + b_scan;
    lux::Reconstructor work(scan);
    std::vector<float> voxels(6 * 12 * 128);
    work.wait(work.submit(block, place_in(voxels)));
    EXPECT_EQ(voxels, reconstructed(scan, spectra_, size_, 6));
}

TEST_F(LibraryReconstructor, TwoRunOnTwoThreads) {
    const lux::Scan one = described(size_);
    lux::Scan other = described(size_);
    other.settings().set("recipe.window", "rect");
    const std::vector<float> of_one = reconstructed(one, spectra_, size_, 2),
                             of_other = reconstructed(other, spectra_, size_, 3);
    ASSERT_NE(of_one, of_other);
    const auto works = [&](const lux::Scan& scan, const std::vector<float>& expected) {
        for (int i = 0; i < 5; ++i) EXPECT_EQ(reconstructed(scan, spectra_, size_, 2), expected);
    };
    std::thread beside([&] { works(other, of_other); });
    works(one, of_one);
    beside.join();
}

class LibraryReconstructorCalls : public FringesTest {
  protected:
    lux::Scan scan_ = described(size_);
    lux::Reconstructor work_{scan_};
    std::vector<float> voxels_ = std::vector<float>(6 * 12 * 128);
    echolux_block block_ = whole_;
    echolux_place place_ = place_in(voxels_);

    echolux_status submitted() {
        return status_of([&] { work_.wait(work_.submit(block_, place_)); });
    }
};

TEST_F(LibraryReconstructorCalls, RejectsBlockOfOtherPlan) {
    ASSERT_EQ(submitted(), ECHOLUX_OK);
    const auto wrong = [&](const auto& change) {
        block_ = whole_;
        change(block_);
        const echolux_status status = submitted();
        EXPECT_TRUE(status == ECHOLUX_BAD_SETTING || status == ECHOLUX_BAD_ARGUMENT) << status;
    };
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    wrong([](echolux_block& b) { b.data = nullptr; });
    wrong([](echolux_block& b) { b.bytes -= 1; });
    wrong([](echolux_block& b) { b.bytes = -1; });
    wrong([](echolux_block& b) { b.bytes = most; });
    wrong([](echolux_block& b) { b.b_scans = 0; });
    wrong([](echolux_block& b) { b.b_scans = 7; });
    wrong([](echolux_block& b) { b.b_scans = most; });
    wrong([](echolux_block& b) { b.first_b_scan = 1; });
    wrong([](echolux_block& b) { b.first_b_scan = -1; });
    wrong([](echolux_block& b) { b.first_b_scan = most; });
    wrong([](echolux_block& b) { b.volume = -1; });
    wrong([](echolux_block& b) { b.memory = 3; });
    wrong([](echolux_block& b) { b.sync = 9; });
    wrong([](echolux_block& b) { b.sync = ECHOLUX_SYNC_EVENT; });
    wrong([](echolux_block& b) { b.frame_offset_bytes = 1; });
    wrong([](echolux_block& b) { b.frame_offset_bytes = -1; });
    wrong([](echolux_block& b) { b.frame_stride_bytes = 511; });
    wrong([](echolux_block& b) { b.frame_stride_bytes = most; });
    wrong([](echolux_block& b) { b.size = 4; });
}

TEST_F(LibraryReconstructorCalls, RejectsUnsuitablePlace) {
    ASSERT_EQ(submitted(), ECHOLUX_OK);
    const auto wrong = [&](const auto& change) {
        place_ = place_in(voxels_);
        change(place_);
        EXPECT_EQ(submitted(), ECHOLUX_BAD_ARGUMENT);
    };
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    wrong([](echolux_place& p) { p.data = nullptr; });
    wrong([](echolux_place& p) { p.data = static_cast<char*>(p.data) + 1; });
    wrong([](echolux_place& p) { p.bytes -= 1; });
    wrong([](echolux_place& p) { p.bytes = -1; });
    wrong([](echolux_place& p) { p.bytes = 0; });
    wrong([](echolux_place& p) { p.first_b_scan = 1; });
    wrong([](echolux_place& p) { p.first_b_scan = -1; });
    wrong([](echolux_place& p) { p.first_b_scan = std::numeric_limits<std::int64_t>::min(); });
    wrong([](echolux_place& p) { p.a_scan_bytes = 508; });
    wrong([](echolux_place& p) { p.a_scan_bytes = 514; });
    wrong([](echolux_place& p) { p.a_scan_bytes = -512; });
    wrong([](echolux_place& p) { p.a_scan_bytes = most; });
    wrong([](echolux_place& p) { p.b_scan_bytes = 512; });
    wrong([](echolux_place& p) { p.b_scan_bytes = most; });
    wrong([](echolux_place& p) { p.memory = -1; });
}

TEST_F(LibraryReconstructorCalls, CpuRejectsStreams) {
    auto cpu = lux::make<echolux_device>();
    cpu.kind = ECHOLUX_DEVICE_CPU;
    work_ = lux::Reconstructor(scan_, cpu);
    block_.sync = ECHOLUX_SYNC_STREAM;
    EXPECT_EQ(submitted(), ECHOLUX_BAD_SETTING);
    EXPECT_EQ(status_of([&] { work_.prime(block_); }), ECHOLUX_BAD_SETTING);
    block_.sync = ECHOLUX_SYNC_NONE;
    block_.memory = ECHOLUX_ON_DEVICE;
    EXPECT_EQ(submitted(), ECHOLUX_BAD_SETTING);
    EXPECT_EQ(status_of([&] { work_.prime(block_); }), ECHOLUX_BAD_SETTING);
    block_.memory = ECHOLUX_HOST;
    place_.sync = ECHOLUX_SYNC_STREAM;
    EXPECT_EQ(submitted(), ECHOLUX_BAD_SETTING);
    place_.sync = ECHOLUX_SYNC_NONE;
    place_.memory = ECHOLUX_ON_DEVICE;
    EXPECT_EQ(submitted(), ECHOLUX_BAD_SETTING);
}

TEST_F(LibraryReconstructorCalls, UnknownCompletionsAreDone) {
    EXPECT_EQ(status_of([&] { work_.wait(1000); }), ECHOLUX_OK);
    EXPECT_EQ(status_of([&] { work_.collect(); }), ECHOLUX_OK);
    EXPECT_EQ(status_of([&] { work_.prime(block_); }), ECHOLUX_OK);
}

TEST_F(LibraryReconstructor, RejectsInvalidDevices) {
    const lux::Scan scan = described();
    const auto wrong = [&](const auto& change) {
        auto device = lux::make<echolux_device>();
        change(device);
        return status_of([&] { lux::Reconstructor work(scan, device); });
    };
    EXPECT_EQ(wrong([](echolux_device& d) { d.kind = 7; }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(wrong([](echolux_device& d) { d.streams = -1; }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(wrong([](echolux_device& d) { d.gpus = -2; }), ECHOLUX_BAD_ARGUMENT);
    std::size_t gpus = 0;
    ASSERT_EQ(echolux_gpu_count(&gpus, nullptr, 0, nullptr), ECHOLUX_OK);
    const echolux_status without = gpus == 0 ? ECHOLUX_DEVICE : ECHOLUX_OK;
    EXPECT_EQ(wrong([](echolux_device& d) { d.kind = ECHOLUX_DEVICE_CUDA; }), without);
    EXPECT_EQ(status_of([&] { lux::Reconstructor work(scan, lux::make<echolux_device>(), -1); }), ECHOLUX_BAD_ARGUMENT);
}

TEST_F(LibraryReconstructor, RequiresMeasuredNoiseFloor) {
    lux::Scan scan = described(size_, {plain_recipe});
    EXPECT_EQ(status_of([&] { lux::Reconstructor work(scan); }), ECHOLUX_BAD_SETTING);
    scan.settings().set("recipe.noise_floor_db", scan.noise_floor_db(whole_));
    EXPECT_EQ(status_of([&] { lux::Reconstructor work(scan); }), ECHOLUX_OK);
}

TEST_F(LibraryReconstruct, EqualsBlockwiseReconstruction) {
    const TemporaryFolder folder;
    const lux::Scan scan = lux::Scan::open(scan_in(folder.path()), fixed_levels);
    std::int64_t most = 0;
    const lux::Volumes made = lux::reconstruct(scan, lux::make<echolux_device>(), lux::make<echolux_part>(),
                                               [&](const std::string&, std::int64_t done, std::int64_t) {
                                                   most = std::max(most, done);
                                                   return true;
                                               });
    const auto voxels = made.structure.voxels<float>();
    const std::vector<float> expected = reconstructed(described(size_), fringes(size_), size_, 2);
    EXPECT_EQ(std::vector<float>(voxels.begin(), voxels.end()), expected);
    EXPECT_EQ(most, 72);
    EXPECT_FALSE(made.flow.has_value());
    EXPECT_NE(made.structure.provenance().find("recipe.levels"), std::string::npos);
}

TEST_F(LibraryReconstruct, BlocksHaveProvenanceOfWholeScan) {
    const TemporaryFolder folder;
    lux::Scan scan = lux::Scan::open(scan_in(folder.path()));
    std::string whole = lux::reconstruct(scan).structure.provenance();
    for (const std::string line : {"first_b_scan = 0\n", "volume = 0\n"}) whole.erase(whole.find(line), line.size());
    EXPECT_EQ(lux::Reconstructor(scan).provenance(), whole) << "with the noise floor that was measured";
    auto stages = lux::make<echolux_stages>();
    stages.voxels = [](void*, const echolux_staged*) { return 0; };
    scan.set_stages(stages);
    EXPECT_NE(lux::Reconstructor(scan).provenance().find("stages = voxels\n"), std::string::npos);
}

TEST_F(LibraryReconstruct, ReconstructsPartAndLaterVolume) {
    const TemporaryFolder folder;
    const Size size{.volumes = 2};
    const lux::Scan scan = lux::Scan::open(scan_in(folder.path(), size), fixed_levels);
    auto part = lux::make<echolux_part>();
    part.volume = 1;
    part.b_scan_begin = 2;
    part.b_scan_end = 4;
    const lux::Volume made = lux::reconstruct(scan, lux::make<echolux_device>(), part).structure;
    EXPECT_EQ(made.grid().b_scans, 2);
    EXPECT_EQ(made.number(), 1);
    EXPECT_DOUBLE_EQ(made.time_s(), 72.0 / 20000);
    part.volume = 2;
    EXPECT_EQ(status_of([&] { lux::reconstruct(scan, lux::make<echolux_device>(), part); }), ECHOLUX_BAD_SETTING);
    part.volume = 0;
    part.b_scan_end = 7;
    EXPECT_EQ(status_of([&] { lux::reconstruct(scan, lux::make<echolux_device>(), part); }), ECHOLUX_BAD_SETTING);
}

}  // namespace
}  // namespace echolux::test
