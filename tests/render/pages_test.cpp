// Paged volumes: the same pictures as with one texture, in a pool that never grows, and the display while pages are
// missing. The limits are artificial because the real ones are gigabytes.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <fstream>
#include <stdexcept>

#include "render/bricks.h"
#include "render/slots/paged_volume.h"
#include "render/vk/device.h"
#include "render/vk/queue.h"
#include "rendering.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Layers with speckle and a cavity: bright, dark and empty regions. Nothing coincides with the edge of a page.
ValueAt tissue(const VolumeGrid& grid) {
    return [grid](std::int64_t z, std::int64_t a, std::int64_t b) {
        const auto part = [](std::int64_t i, std::int64_t n) {
            return static_cast<double>(i) / static_cast<double>(n);
        };
        const double surface = 0.35 + 0.08 * std::sin(5 * part(a, grid.a_scans)) * std::cos(4 * part(b, grid.b_scans));
        const double below = part(z, grid.depth) - surface;
        if (below < 0 || below > 0.4) return 0.0;
        const double hollow = std::hypot(part(a, grid.a_scans) - 0.5, part(b, grid.b_scans) - 0.5, below - 0.1);
        if (hollow < 0.08) return 1.0;
        return 8 + 28 * std::exp(-6 * below) * (0.5 + 0.5 * noise(z, a, b));
    };
}

constexpr std::int64_t unlimited = INT64_MAX;

VolumeLimits in_pages(std::int64_t pool_bytes = unlimited) {
    return {.edge = 100, .pool_bytes = pool_bytes, .page_edge = 32};
}

View a_view(ViewMode mode = ViewMode::composite) {
    View view = with(View{}, "width=160 height=120 box=false");
    view.mode = mode;
    return view;
}

double psnr(const Image& a, const Image& b) {
    double squares = 0;
    for (std::size_t i = 0; i < a.pixels.size(); ++i) squares += std::pow(double(a.pixels[i]) - b.pixels[i], 2);
    return 10 * std::log10(255.0 * 255.0 * static_cast<double>(a.pixels.size()) / std::max(squares, 1e-9));
}

class Pages : public Rendering {
  protected:
    // Sets the volume both as one texture and in pages.
    void set(const VolumeGrid& grid, const ValueAt& value, const VolumeLimits& limits) {
        set_paged(grid, value, limits);
        renderer().set_volume(grid, voxels_.data());
    }

    void set_paged(const VolumeGrid& grid, const ValueAt& value, const VolumeLimits& limits) {
        make_paged(limits);
        voxels_ = voxels(grid, value);
        paged_->set_volume(voxels_in_memory(grid, voxels_.data()));
    }

    void make_paged(const VolumeLimits& limits) {
        paged_.reset();
        paged_ = renderer_with(limits);
    }

    Renderer& paged() { return *paged_; }

    // Bytes of `count` slots of the test volume, each of 32^3 voxels and their border.
    static std::int64_t slots(std::int64_t count, VoxelType type = VoxelType::u16) {
        return count * 34 * 34 * 34 * bytes_of(type);
    }

    // Returns the picture at rest.
    Image followed(const View& view) { return paged().read(followed_to_rest(paged(), view, now_s_).drawing); }

    std::vector<std::byte> voxels_;

  private:
    double now_s_ = 0;
    std::unique_ptr<Renderer> paged_;
};

const VolumeGrid odd_grid = db_grid(160, 200, 180, VoxelType::u16);  // 5 x 7 x 6 pages

// The pages that do not fit into the pool are those farthest from the eye. The pool never grows, so this is all it can
// hold.
TEST_F(Pages, ThirdOfPoolShowsNearPart) {
    set(odd_grid, tissue(odd_grid), in_pages(slots(70)));
    const Image whole = renderer().render(a_view());
    const Image pages = paged().render(a_view());
    EXPECT_GT(pages.pages.coarse, 10);
    EXPECT_GE(pages.pages.needed - pages.pages.coarse, 55);  // of 70 slots, 8 of which belong to the coarse level
    EXPECT_LE(pages.pages.needed - pages.pages.coarse, 62);
    VolumeLimits coarse = in_pages(slots(70));
    coarse.pages_a_picture = 0;
    set_paged(odd_grid, tissue(odd_grid), coarse);
    EXPECT_GT(psnr(whole, pages), psnr(whole, paged().render(a_view())) + 2);
}

TEST_F(Pages, ThirdOfPoolSufficesForCloseView) {
    set(odd_grid, tissue(odd_grid), in_pages(slots(70)));
    View view = a_view();
    view.zoom = 16;
    const Image pages = paged().render(view);
    EXPECT_GT(pages.pages.needed, 10);
    EXPECT_EQ(pages.pages.coarse, 0);
    EXPECT_LE(largest_difference(renderer().render(view), pages), 1);
}

TEST_F(Pages, CoarseLevelResemblesVolume) {
    VolumeLimits limits = in_pages();
    limits.pages_a_picture = 0;
    set(odd_grid, tissue(odd_grid), limits);
    const Image pages = paged().render(a_view());
    EXPECT_EQ(pages.pages.coarse, pages.pages.needed);
    const double similar = psnr(renderer().render(a_view()), pages);
    EXPECT_GT(similar, 24);
    EXPECT_LT(similar, 60);  // only the coarse level was used
}

// A linear ramp has the same values in every level: values and positions must be continuous between present and missing
// pages.
TEST_F(Pages, LevelsJoinWithoutCracks) {
    const VolumeGrid ramp = db_grid(160, 200, 180);
    set(
        ramp, [](std::int64_t z, std::int64_t a, std::int64_t b) { return 0.1 * static_cast<double>(z + a + b); },
        in_pages(slots(70, VoxelType::f32)));
    View view = a_view(ViewMode::mip);
    view.projection = Projection::orthographic;
    const std::vector<RayMeasure> whole = renderer().measure(view);
    EXPECT_GT(paged().render(view).pages.coarse, 10);
    const std::vector<RayMeasure> pages = paged().measure(view);
    // Half a coarse voxel at the faces of the volume, where the ramp ends.
    for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(pages[i].value, whole[i].value, 0.1 * 3 * 2) << i;
}

std::int64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::int64_t all = 0;
    std::int64_t resident = 0;
    file >> all >> resident;
    return resident * 4096;
}

// On software Vulkan, the device's memory is the program's. Each picture loads a dozen pages or more.
TEST_F(Pages, TurningNeedsNoFurtherMemory) {
    set(odd_grid, tissue(odd_grid), in_pages(slots(70)));
    View view = a_view();
    const auto turn = [&](int times) {
        for (int i = 0; i < times; ++i) {
            view.azimuth_deg = 36.0 * i;
            paged().render(view);
        }
    };
    turn(4);
    const std::int64_t before = resident_bytes();
    turn(20);
    EXPECT_LT(resident_bytes() - before, 8 << 20);
    const Image turned = paged().render(view);
    set(odd_grid, tissue(odd_grid), in_pages(slots(70)));
    const Image fresh = paged().render(view);
    EXPECT_EQ(turned.pages.coarse, fresh.pages.coarse);
    EXPECT_LE(largest_difference(turned, fresh), 1);  // pages are in other slots
}

// Seen from one end, so that the only ray crosses all pages.
TEST_F(Pages, SupportLinesLongerThanAnyTexture) {
    constexpr std::int64_t length = 20000;
    struct Line {
        std::int64_t depth, a_scans, b_scans;
        double azimuth_deg, elevation_deg;
    };
    for (const Line& line :
         {Line{length, 1, 1, 0, 90}, Line{1, length, 1, 90, 0}, Line{1, 1, length, 0, 0}, Line{5, 3, length, 0, 0}}) {
        const VolumeGrid grid = db_grid(line.depth, line.a_scans, line.b_scans);
        const auto ramp = [](std::int64_t z, std::int64_t a, std::int64_t b) {
            return 1e-3 * static_cast<double>(std::max({z, a, b}));
        };
        set_paged(grid, ramp, {.pool_bytes = 32 << 20});
        View view = with(voxel_view(grid, 1, 1), "zoom=1 mode=mip low=0 high=20");
        view.azimuth_deg = line.azimuth_deg;
        view.elevation_deg = line.elevation_deg;
        EXPECT_GT(paged().render(view).pages.needed, 300);
        EXPECT_NEAR(paged().measure(view)[0].value, 19.999, 2e-3);
    }
}

// A source in memory that counts the voxels read from it.
class CountedSource : public VoxelSource {
  public:
    CountedSource(const VolumeGrid& grid, const void* codes) : memory_(voxels_in_memory(grid, codes)) {}

    const VolumeGrid& grid() const override { return memory_->grid(); }
    void read(const VoxelBox& box, std::byte* codes) const override {
        if (breaks) throw std::runtime_error("the file has gone");
        if (box.voxels() > 1) voxels_read += box.voxels();
        memory_->read(box, codes);
    }

    mutable std::atomic<std::int64_t> voxels_read = 0;
    bool breaks = false;

  private:
    std::shared_ptr<const VoxelSource> memory_;
};

class PagesOfASource : public Pages {
  protected:
    void SetUp() override {
        Pages::SetUp();
        voxels_ = voxels(odd_grid, tissue(odd_grid));
        source_ = std::make_shared<CountedSource>(odd_grid, voxels_.data());
        make_paged(in_pages(slots(70)));
    }

    std::shared_ptr<CountedSource> source_;
};

TEST_F(PagesOfASource, IsReadOnceThenOnlyNewPages) {
    std::int64_t reported = 0;
    paged().set_volume(source_, [&](std::int64_t read) { reported += read; });
    EXPECT_EQ(source_->voxels_read, odd_grid.voxels());
    EXPECT_EQ(reported, odd_grid.voxels());
    paged().render(a_view());
    EXPECT_GT(source_->voxels_read, odd_grid.voxels());
    EXPECT_LE(source_->voxels_read, odd_grid.voxels() + 62 * 34 * 34 * 34);
    const std::int64_t after = source_->voxels_read;
    paged().render(a_view());
    EXPECT_EQ(source_->voxels_read, after);
}

struct Stop {};

TEST_F(PagesOfASource, StoppingKeepsPreviousVolume) {
    EXPECT_THROW(paged().set_volume(source_, [](std::int64_t) { throw Stop(); }), Stop);
    EXPECT_THROW(paged().render(a_view()), Error);  // there is no volume
    paged().set_volume(source_);
    const Image before = paged().render(a_view());
    EXPECT_THROW(paged().set_volume(source_, [](std::int64_t) { throw Stop(); }), Stop);
    EXPECT_EQ(paged().render(a_view()).pixels, before.pixels);
}

TEST_F(PagesOfASource, StoppedPictureKeepsVolumeUsable) {
    paged().set_volume(source_);
    const Image before = paged().render(a_view());
    View other = a_view();
    other.azimuth_deg += 180;
    EXPECT_THROW(paged().render(other, {}, [](std::int64_t) { throw Stop(); }), Stop);
    source_->breaks = true;
    EXPECT_THROW(paged().render(other), std::runtime_error);
    source_->breaks = false;
    EXPECT_EQ(paged().render(a_view()).pixels, before.pixels);
}

// Stops when pages needed by a picture have been evicted and no new page has arrived.
TEST_F(PagesOfASource, EvictedPagesLeaveDeviceTable) {
    const gpu::Device device{GpuDevice{}};
    gpu::Queue queue(device);
    const BrickBuilder builder(device);
    PagedVolume volume(device, queue, builder, in_pages(slots(70)), source_, {}, {});
    volume.bring_in(a_view(), {});
    const std::uint64_t before = volume.changes();
    View other = a_view();
    other.azimuth_deg += 180;
    EXPECT_THROW(volume.bring_in(other, [] { throw Stop(); }), Stop);
    EXPECT_EQ(volume.changes(), before + 1);
}

TEST_F(PagesOfASource, FollowedPicturesLoadTheirPages) {
    paged().set_volume(source_);
    View view = a_view();
    view.rest_samples = 2;
    for (int i = 0; i < 2; ++i) {
        view.azimuth_deg += 180;
        source_->breaks = true;
        EXPECT_THROW(followed(view), std::runtime_error);
        source_->breaks = false;
        const Image shown = followed(view);
        View still = view;
        still.samples = view.rest_samples;
        EXPECT_EQ(shown.pixels, paged().render(still).pixels);
    }
}

TEST_F(Pages, IsRejectedOnlyIfCoarseLevelDoesNotFit) {
    make_paged({.pool_bytes = 100000});
    const VolumeGrid huge = db_grid(20000, 20000, 20000, VoxelType::u16);
    const Error error = refusal_of([&] { paged().set_volume(voxels_in_memory(huge, nullptr)); });  // never read
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_THAT(error.line(), AllOf(HasSubstr("20000 x 20000 x 20000"), HasSubstr("MiB"), HasSubstr("crop it")));
}

}  // namespace
}  // namespace echolux::test
