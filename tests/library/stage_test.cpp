// Stages: the data they see, the changes they make, and unchanged results if they do nothing.
#include <cstring>
#include <map>
#include <optional>

#include "compute/indexing.h"
#include "fringes.h"
#include "temporary_folder.h"

namespace echolux::test {
namespace {

// Records the calls of a stage, and controls its behaviour.
struct Seen {
    std::map<std::int32_t, std::vector<echolux_staged>> calls;
    bool blackens = false;
};

int note(void* user, const echolux_staged* staged) {
    auto& seen = *static_cast<Seen*>(user);
    seen.calls[staged->stage].push_back(*staged);
    if (seen.blackens && staged->stage == ECHOLUX_STAGE_VOXELS) {
        const std::int64_t b_scan = staged->stride_bytes[0];
        std::memset(staged->values, 0, index(staged->shape[0] * b_scan));
    }
    return 0;
}

echolux_stages stages_of(Seen& seen) {
    auto stages = lux::make<echolux_stages>();
    stages.spectra = stages.bins = stages.voxels = note;
    stages.user = &seen;
    return stages;
}

lux::Scan staged(Seen& seen, const Size& size, const lux::Assignments& settings = fixed_levels) {
    lux::Scan scan = described(size, settings);
    scan.set_stages(stages_of(seen));
    return scan;
}

class LibraryStage : public FringesTest {};

TEST_F(LibraryStage, EmptyCallbackChangesNoBit) {
    for (const char* background : {"none", "frame_mean", "running", "median"}) {
        const lux::Assignments settings{std::string("recipe.background=") + background, "recipe.levels=fixed"};
        Seen seen;
        EXPECT_EQ(reconstructed(staged(seen, size_, settings), spectra_, size_, 2),
                  reconstructed(described(size_, settings), spectra_, size_, 2))
            << background;
        EXPECT_EQ(seen.calls.size(), 3u);
    }
}

TEST_F(LibraryStage, SeesRepeatsAndFlow) {
    lux::Assignments settings = fixed_levels;
    for (const char* more : {"scan.a_scans=4", "scan.a_repeats=3", "recipe.average=power", "flow.method=doppler",
                             "recipe.noise_floor_db=1"})
        settings.emplace_back(more);
    Seen seen;
    lux::Scan scan = lux::Scan::create(size_.samples, 4, size_.b_scans, "u16", settings);
    scan.set_stages(stages_of(seen));
    lux::Reconstructor work(scan);
    std::vector<float> voxels(index(work.grid().bytes) / 4);
    work.wait(work.submit(whole_, place_in(voxels)));
    EXPECT_EQ(seen.calls[ECHOLUX_STAGE_BINS].front().shape[3], 3);
    EXPECT_EQ(seen.calls[ECHOLUX_STAGE_VOXELS].front().shape[3], 1);
    EXPECT_EQ(seen.calls[ECHOLUX_STAGE_VOXELS].front().shape[2], 4);
}

TEST_F(LibraryStage, WorksOnCpuOnly) {
    Seen seen;
    const lux::Scan scan = staged(seen, {});
    auto device = lux::make<echolux_device>();
    device.kind = ECHOLUX_DEVICE_CUDA;
    EXPECT_EQ(status_of([&] { lux::Reconstructor work(scan, device); }), ECHOLUX_DEVICE);
    device.kind = ECHOLUX_DEVICE_AUTO;
    EXPECT_NE(lux::Reconstructor(scan, device).device().find("custom stages need the CPU"), std::string::npos);
    lux::Scan without = described();
    EXPECT_EQ(status_of([&] { without.set_stages(echolux_stages{}); }), ECHOLUX_BAD_ARGUMENT) << "size is not set";
}

TEST_F(LibraryStage, IsReleasedAfterLastUser) {
    static int released;
    released = 0;
    Seen seen;
    echolux_stages stages = stages_of(seen);
    stages.release = [](void* user) { released += user != nullptr ? 1 : 100; };
    std::optional<lux::Scan> scan(described(size_));
    scan->set_stages(stages);
    {
        lux::Reconstructor work(*scan);
        scan.reset();
        EXPECT_EQ(released, 0) << "the reconstructor has it";
    }
    EXPECT_EQ(released, 1);
    scan.emplace(described(size_));
    scan->set_stages(stages);
    scan->set_stages(lux::make<echolux_stages>());
    EXPECT_EQ(released, 2);
}

TEST_F(LibraryStage, IsPartOfWholeScansSessionsAndProvenance) {
    const TemporaryFolder folder;
    Seen seen;
    lux::Scan scan = lux::Scan::open(scan_in(folder.path(), size_), fixed_levels);
    scan.set_stages(stages_of(seen));
    const lux::Volumes made = lux::reconstruct(scan);
    EXPECT_EQ(seen.calls.size(), 3u);
    EXPECT_NE(made.structure.provenance().find("stages = spectra, bins, voxels"), std::string::npos);
    auto options = lux::make<echolux_live_options>();
    options.delivery = ECHOLUX_EVERY;
    Seen live_seen;
    live_seen.blackens = true;
    const echolux_stages stages = stages_of(live_seen);
    options.stages = &stages;
    lux::Live live = lux::Live::create(described(size_), options);
    live.start();
    ASSERT_TRUE(live.push(whole_, 60'000));
    const auto taken = live.next(60'000);
    ASSERT_TRUE(taken);
    for (const float voxel : taken->structure.voxels<float>()) ASSERT_EQ(voxel, 0);
    EXPECT_NE(taken->structure.provenance().find("stages = "), std::string::npos);
}

}  // namespace
}  // namespace echolux::test
