// Stages: the data they see, the changes they make, and unchanged results if they do nothing.
#include <complex>
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
    std::map<std::int32_t, double> first_value;  // of the last call
    float factor = 1;
    std::int32_t changes = -1;  // the stage that multiplies by `factor`
    int result = 0;
};

template <class T>
void multiply(const echolux_staged& staged, float factor) {
    for (std::int64_t b = 0; b < staged.shape[0] * staged.shape[1]; ++b) {
        for (std::int64_t a = 0; a < staged.shape[2] * staged.shape[3]; ++a) {
            const std::int64_t at =
                b / staged.shape[1] * staged.stride_bytes[0] + b % staged.shape[1] * staged.stride_bytes[1] +
                a / staged.shape[3] * staged.stride_bytes[2] + a % staged.shape[3] * staged.stride_bytes[3];
            auto* line = reinterpret_cast<T*>(static_cast<std::byte*>(staged.values) + at);
            for (std::int64_t i = 0; i < staged.shape[4]; ++i) line[i] *= factor;
        }
    }
}

int note(void* user, const echolux_staged* staged) {
    auto& seen = *static_cast<Seen*>(user);
    seen.calls[staged->stage].push_back(*staged);
    seen.first_value[staged->stage] = static_cast<double>(*static_cast<const float*>(staged->values));
    if (staged->stage == seen.changes) {
        if (staged->voxel == ECHOLUX_COMPLEX64)
            multiply<std::complex<float>>(*staged, seen.factor);
        else
            multiply<float>(*staged, seen.factor);
    }
    return seen.result;
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

TEST(LibraryStage, EmptyCallbackChangesNoBit) {
    const Size size;
    const auto spectra = fringes(size);
    for (const char* background : {"none", "frame_mean", "running", "median"}) {
        const lux::Assignments settings{std::string("recipe.background=") + background, "recipe.levels=fixed"};
        Seen seen;
        EXPECT_EQ(reconstructed(staged(seen, size, settings), spectra, size, 2),
                  reconstructed(described(size, settings), spectra, size, 2))
            << background;
        EXPECT_EQ(seen.calls.size(), 3u);
    }
}

TEST(LibraryStage, ReceivesEveryBlockInOrderWithShape) {
    const Size size;
    const auto spectra = fringes(size);
    Seen seen;
    reconstructed(staged(seen, size), spectra, size, 4);
    for (const auto& [stage, calls] : seen.calls) {
        ASSERT_EQ(calls.size(), 2u) << stage;
        EXPECT_EQ(calls[0].first_b_scan, 0);
        EXPECT_EQ(calls[1].first_b_scan, 4);
        EXPECT_EQ(calls[0].shape[0], 4);
        EXPECT_EQ(calls[1].shape[0], 2);
        EXPECT_EQ(calls[0].shape[2], size.a_scans);
        EXPECT_EQ(calls[0].shape[4], stage == ECHOLUX_STAGE_SPECTRA ? size.samples : size.samples / 2);
    }
    EXPECT_EQ(seen.first_value[ECHOLUX_STAGE_SPECTRA], spectra[index(4 * size.a_scans * size.samples)]);
}

TEST(LibraryStage, ChangesReachVoxels) {
    const Size size;
    const auto spectra = fringes(size);
    const std::vector<float> plain = reconstructed(described(size), spectra, size, 6);
    for (const std::int32_t stage : {ECHOLUX_STAGE_SPECTRA, ECHOLUX_STAGE_BINS}) {
        Seen seen;
        seen.changes = stage;
        seen.factor = 10;
        const std::vector<float> louder = reconstructed(staged(seen, size), spectra, size, 6);
        for (std::size_t i = 20; i < plain.size(); i += 1009) EXPECT_NEAR(louder[i], plain[i] + 20, 1e-3) << stage;
    }
    Seen seen;
    seen.changes = ECHOLUX_STAGE_VOXELS;
    seen.factor = -2;
    const std::vector<float> turned = reconstructed(staged(seen, size), spectra, size, 6);
    for (std::size_t i = 0; i < plain.size(); i += 1009) EXPECT_EQ(turned[i], -2 * plain[i]);
}

TEST(LibraryStage, SeesRepeatsAndFlow) {
    const Size size;
    const auto spectra = fringes(size);
    lux::Assignments settings = fixed_levels;
    for (const char* more : {"scan.a_scans=4", "scan.a_repeats=3", "recipe.average=power", "flow.method=doppler",
                             "recipe.noise_floor_db=1"})
        settings.emplace_back(more);
    Seen seen;
    lux::Scan scan = lux::Scan::create(size.samples, 4, size.b_scans, "u16", settings);
    scan.set_stages(stages_of(seen));
    lux::Reconstructor work(scan);
    std::vector<float> voxels(index(work.grid().bytes) / 4);
    work.wait(work.submit(block_of(spectra, size, 0, 6), place_in(voxels)));
    EXPECT_EQ(seen.calls[ECHOLUX_STAGE_BINS].front().shape[3], 3);
    EXPECT_EQ(seen.calls[ECHOLUX_STAGE_VOXELS].front().shape[3], 1);
    EXPECT_EQ(seen.calls[ECHOLUX_STAGE_VOXELS].front().shape[2], 4);
}

TEST(LibraryStage, EndsWorkWithResult) {
    const Size size;
    const auto spectra = fringes(size);
    Seen seen;
    seen.result = 1;
    EXPECT_EQ(status_of([&] { reconstructed(staged(seen, size), spectra, size, 6); }), ECHOLUX_CANCELLED);
    EXPECT_EQ(seen.calls.size(), 1u);
}

TEST(LibraryStage, WorksOnCpuOnly) {
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

TEST(LibraryStage, IsReleasedAfterLastUser) {
    const Size size;
    static int released;
    released = 0;
    Seen seen;
    echolux_stages stages = stages_of(seen);
    stages.release = [](void* user) { released += user != nullptr ? 1 : 100; };
    std::optional<lux::Scan> scan(described(size));
    scan->set_stages(stages);
    {
        lux::Reconstructor work(*scan);
        scan.reset();
        EXPECT_EQ(released, 0) << "the reconstructor has it";
    }
    EXPECT_EQ(released, 1);
    scan.emplace(described(size));
    scan->set_stages(stages);
    scan->set_stages(lux::make<echolux_stages>());
    EXPECT_EQ(released, 2);
}

TEST(LibraryStage, IsPartOfWholeScansSessionsAndProvenance) {
    const TemporaryFolder folder;
    const Size size;
    const auto spectra = fringes(size);
    Seen seen;
    lux::Scan scan = lux::Scan::open(scan_in(folder.path(), size), fixed_levels);
    scan.set_stages(stages_of(seen));
    const lux::Volumes made = lux::reconstruct(scan);
    EXPECT_EQ(seen.calls.size(), 3u);
    EXPECT_NE(made.structure.provenance().find("stages = spectra, bins, voxels"), std::string::npos);
    auto options = lux::make<echolux_live_options>();
    options.delivery = ECHOLUX_EVERY;
    Seen live_seen;
    live_seen.changes = ECHOLUX_STAGE_VOXELS;
    live_seen.factor = 0;
    const echolux_stages stages = stages_of(live_seen);
    options.stages = &stages;
    lux::Live live = lux::Live::create(described(size), options);
    live.start();
    ASSERT_TRUE(live.push(block_of(spectra, size, 0, 6), 60'000));
    const auto taken = live.next(60'000);
    ASSERT_TRUE(taken);
    for (const float voxel : taken->structure.voxels<float>()) ASSERT_EQ(voxel, 0);
    EXPECT_NE(taken->structure.provenance().find("stages = "), std::string::npos);
}

}  // namespace
}  // namespace echolux::test
