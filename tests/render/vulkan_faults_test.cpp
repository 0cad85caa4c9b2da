// Whichever Vulkan call fails, once or permanently: either an Error reports it or the picture is correct. Nothing
// leaks, and the next renderer of the process works normally.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <random>

#include "app/live/live_pipeline.h"
#include "bench/spectra.h"
#include "compute/error.h"
#include "rendering.h"
#include "tests/support/set_fields.h"
#include "tests/vulkan_faults/vulkan_faults.h"

namespace echolux::test {
namespace {

using testing::AnyOf;

View small_view() {
    return sized_view(48, 32);
}

// ---- workloads ------------------------------------------------------------------------------------------------------

const VolumeGrid& still_grid() {
    static const VolumeGrid grid = db_grid(20, 18, 16, VoxelType::u16);
    return grid;
}

std::vector<std::byte> still_voxels() {
    return voxels(still_grid(), ball(still_grid(), 8));
}

Image lit_volume() {
    Renderer renderer;
    renderer.set_volume(still_grid(), still_voxels().data());
    View view = with(small_view(), "ambient_occlusion=0.5 shadows=0.5 lamp=free");
    return renderer.render(view);
}

Image volume_with_flow() {
    Renderer renderer;
    renderer.set_volume(still_grid(), still_voxels().data());
    VolumeGrid flow = db_grid(20, 18, 16);
    flow.unit = "mm/s";
    flow.quantity = "velocity";
    renderer.set_flow(flow,
                      voxels(flow, [](auto depth, auto, auto) { return 0.1 * static_cast<double>(depth); }).data());
    View view = with(small_view(), "flow_range=2 flow_threshold=0.1");
    return renderer.render(view);
}

Image volume_in_pages() {
    GpuDevice choice;
    choice.volume_limits = {.edge = 32, .pool_bytes = 40 * 18 * 18 * 18 * 2, .page_edge = 16};
    Renderer renderer(choice);
    const VolumeGrid grid = db_grid(48, 40, 32, VoxelType::u16);
    const std::vector<std::byte> codes = voxels(grid, ball(grid, 20));
    renderer.set_volume(voxels_in_memory(grid, codes.data()));
    return renderer.render(small_view());
}

Image picture_in_the_background() {
    Renderer renderer;
    renderer.set_volume(still_grid(), still_voxels().data());
    const auto first = renderer.begin(small_view());
    View turned = small_view();
    turned.azimuth_deg = 60;
    const auto second = renderer.begin(turned);
    first();
    return second();
}

Image live_volumes() {
    const BenchSize size{256, 16, 8, 4};
    BackendChoice choice;
    choice.backend = Backend::cpu;
    LivePipeline path(chain_spec(size), choice, {});
    const BenchSpectra spectra(size, SampleFormat::u16, MemoryKind::host);
    for (std::int64_t volume = 0; volume < 2; ++volume) {
        for (Block block : spectra.blocks()) {
            block.volume = volume;
            path.feeder.feed(block);
        }
        if (const auto picture = path.display.picture(small_view())) path.display.wait(*picture);
    }
    const auto picture = path.display.picture(small_view());
    if (!picture) throw Error(ErrorCode::device, "no volume came");  // other tests check the path's own messages
    return path.display.read(*picture);
}

struct Workload {
    const char* name;
    Image (*run)();
};

constexpr Workload workloads[] = {{"LitVolume", lit_volume},
                                  {"VolumeWithFlow", volume_with_flow},
                                  {"VolumeInPages", volume_in_pages},
                                  {"PicturesInTheBackground", picture_in_the_background},
                                  {"LiveVolumes", live_volumes}};

// ---- checks ---------------------------------------------------------------------------------------------------------

char tried[160] = "";

// Reports a hang with its name: a test that only times out would give no information.
class Watch {
  public:
    Watch() {
        std::signal(SIGALRM, [](int) {
            static_cast<void>(!write(STDERR_FILENO, tried, strlen(tried)));
            std::abort();
        });
    }
    ~Watch() {
        alarm(0);
        std::signal(SIGALRM, SIG_DFL);
    }

    static void trying(const Workload& work, const VulkanFaultPlan& plan) {
        fmt::format_to_n(tried, sizeof(tried) - 1, "{} does not end within a minute after call {} failed{}\n{}",
                         work.name, plan.at, plan.time == FaultTime::once ? " once" : " for good", '\0');
        alarm(60);
    }
};

class VulkanFaults : public testing::TestWithParam<Workload> {
  protected:
    void SetUp() override {
        expected_ = GetParam().run();
        layer_.plan({});
        ASSERT_EQ(GetParam().run().pixels, expected_.pixels);
        calls_ = layer_.seen().calls;
        ASSERT_GT(calls_, 50);
        ASSERT_EQ(layer_.seen().objects, 0) << layer_.seen().an_object_of;
    }

    void TearDown() override {
        layer_.plan({});
        EXPECT_EQ(GetParam().run().pixels, expected_.pixels) << "after faults";
    }

    void fail(std::int64_t at, FaultTime time) {
        const VulkanFaultPlan plan{at, time};
        Watch::trying(GetParam(), plan);
        layer_.plan(plan);
        std::string problem;
        try {
            EXPECT_EQ(GetParam().run().pixels, expected_.pixels) << where(plan);
        } catch (const Error& error) {
            problem = error.line();
            EXPECT_THAT(error.code(), AnyOf(ErrorCode::device, ErrorCode::out_of_memory)) << problem << where(plan);
        } catch (const std::exception& error) {
            ADD_FAILURE() << "no Error, but: " << error.what() << where(plan);
        }
        EXPECT_EQ(layer_.seen().objects, 0) << layer_.seen().an_object_of << where(plan);
        faults_ += layer_.seen().failed > 0;
    }

    std::string where(const VulkanFaultPlan& plan) const {
        return fmt::format("\ncall {} of {}, {}, fails {}", plan.at, calls_, layer_.seen().first_failed,
                           plan.time == FaultTime::once ? "once" : "for good");
    }

    std::int64_t calls() const { return calls_; }
    std::int64_t faults() const { return faults_; }

  private:
    Watch watch_;
    Image expected_;
    VulkanFaultLayer layer_;
    std::int64_t calls_ = 0;
    std::int64_t faults_ = 0;
};

TEST_P(VulkanFaults, SlowRandomFailedCallsAreHandled) {
    const char* wanted = std::getenv("ECHOLUX_FAULT_SEED");
    const unsigned seed = wanted == nullptr ? std::random_device()() : static_cast<unsigned>(std::atoi(wanted));
    SCOPED_TRACE(fmt::format("ECHOLUX_FAULT_SEED={}", seed));
    std::mt19937 random(seed);
    for (int i = 0; i < 50; ++i) {
        const std::int64_t at = std::uniform_int_distribution<std::int64_t>(1, calls())(random);
        fail(at, i % 2 == 0 ? FaultTime::once : FaultTime::for_good);
    }
    EXPECT_GE(faults(), 45);  // the number of calls may vary with waiting
}

TEST_P(VulkanFaults, SlowEachFailedCallIsHandled) {
    for (const FaultTime time : {FaultTime::once, FaultTime::for_good}) {
        for (std::int64_t at = 1; at <= calls(); ++at) fail(at, time);
    }
    RecordProperty("calls", std::to_string(calls()));
    EXPECT_GE(faults(), 2 * calls() - 8);
}

INSTANTIATE_TEST_SUITE_P(Work, VulkanFaults, testing::ValuesIn(workloads),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace echolux::test
