// The live path on a GPU with a filter: the textures hold the CPU's result for the same voxels, and no voxel is copied
// to the host.
#include "app/live/live_pipeline.h"
#include "engine/speckle/speckle_filter.h"
#include "tests/gpu/gpu_run.h"
#include "tests/gpu/sharing.h"

namespace echolux::test {
namespace {

class LiveTissueOnGpu : public Sharing {};

TEST_F(LiveTissueOnGpu, TexturesMatchCpu) {
    LivePipelineOptions options;
    options.tissue.filters = true;
    options.tissue.filter.search_depth = options.tissue.filter.search_a_scans = 7;
    options.tissue.filter.search_b_scans = options.tissue.filter.patch = 3;
    const ReconstructionSpec spec = spec_of({512, 61, 11, 0, 0}, VoxelType::u8);
    for (const SlotKind kind : {SlotKind::surface, SlotKind::buffer, SlotKind::upload}) {
        for (const FilterMethod method : {FilterMethod::nlm, FilterMethod::median, FilterMethod::bilateral}) {
            options.first_kind = kind;
            options.tissue.filter.method = method;
            LivePipeline path(spec, on_gpu, {}, options);
            ASSERT_EQ(path.feeder.kind(), kind) << path.feeder.describe();
            for (std::int64_t volume = 0; volume < 6; ++volume) {
                const PinnedSpectra spectra(spec, volume);
                feed(path, spec, spectra, volume);
                path.feeder.finish_tissue(std::chrono::minutes(2));
                const ReadVolume read = path.display.read_volume().value();
                ASSERT_EQ(read.stamp.volume, volume);
                Volume expected{path.feeder.grid(), voxels_in_memory(spec, spectra.samples, on_gpu), {}};
                SilentProgress silent;
                filter_volume(expected, options.tissue.filter, silent);
                CodeDifference difference;
                difference.add(read.voxels, expected.voxels);
                difference.expect_within_limits(1.0 / 500);
            }
            EXPECT_EQ(path.feeder.tissue_log().stats().filtered, 6);
        }
    }
}

// Noise cannot be registered, so it is shown as reconstructed.
TEST_F(LiveTissueOnGpu, ShowsUnstableVolumesUnchanged) {
    LivePipelineOptions options;
    options.tissue.stabilises = true;
    options.tissue.registration.axial_range = 8;
    options.tissue.registration.lateral_range = 4;
    ReconstructionSpec spec = spec_of({512, 37, 11, 0, 0}, VoxelType::u8);
    spec.recipe.background = Background::frame_mean;  // a background common to all lines could be registered
    LivePipeline path(spec, on_gpu, {}, options);
    const PinnedSpectra spectra(spec, 1);
    feed(path, spec, spectra, 0);
    path.feeder.finish_tissue(std::chrono::minutes(2));
    ASSERT_EQ(path.feeder.tissue_log().stats().skipped, 0) << "it took longer than that";
    path.feeder.collect();  // rethrows exceptions of the stage's thread
    ASSERT_THAT(path.feeder.describe(), testing::Not(testing::HasSubstr("after a failure")));
    EXPECT_EQ(path.display.read_volume()->voxels, voxels_in_memory(spec, spectra.samples, on_gpu));
    EXPECT_EQ(path.feeder.tissue_log().stats().as_it_was, 1);
    EXPECT_EQ(path.feeder.take_messages().size(), 1u);
}

}  // namespace
}  // namespace echolux::test
