// Volumes in pages: the same picture as one texture makes of them, in a pool that never grows, and what is seen while
// pages are missing. Limits are artificial: real ones begin at gigabytes.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "compute/error.h"
#include "rendering.h"

namespace echolux::test {
namespace {

using testing::HasSubstr;

// Layers with speckle and a hollow: bright, dark and empty regions, nothing that a page's edge would coincide with.
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
    View view;
    view.mode = mode;
    view.width = 160;
    view.height = 120;
    view.box = false;
    return view;
}

// Largest difference of a channel, and how many pixels differ at all.
struct Difference {
    int most = 0;
    double differing = 0;  // share of the pixels
    double psnr = 0;       // decibels
};

Difference difference(const Image& a, const Image& b) {
    Difference all;
    double squares = 0;
    for (std::size_t pixel = 0; pixel < a.pixels.size() / 4; ++pixel) {
        int most = 0;
        for (std::size_t i = 4 * pixel; i < 4 * pixel + 4; ++i) {
            const int by = std::abs(int{a.pixels[i]} - int{b.pixels[i]});
            most = std::max(most, by);
            squares += by * by;
        }
        all.most = std::max(all.most, most);
        all.differing += most > 0 ? 1 : 0;
    }
    all.differing /= static_cast<double>(a.pixels.size() / 4);
    all.psnr = 10 * std::log10(255.0 * 255.0 * static_cast<double>(a.pixels.size()) / std::max(squares, 1e-9));
    return all;
}

class Pages : public Rendering {
  protected:
    // A volume as one texture and in pages.
    void set(const VolumeGrid& grid, const ValueAt& value, const VolumeLimits& limits) {
        grid_ = grid;
        voxels_ = voxels(grid, value);
        paged_ = renderer_with(limits);
        renderer().set_volume(grid, voxels_.data());
        paged_->set_volume(voxels_in_memory(grid, voxels_.data()));
    }

    Renderer& paged() { return *paged_; }

    // Bytes of so many slots of the volume of the tests, of 32^3 voxels and their border.
    static std::int64_t slots(std::int64_t count, VoxelType type = VoxelType::u16) {
        return count * 34 * 34 * 34 * std::max<std::int64_t>(bytes_of(type), 2);
    }

    VolumeGrid grid_;
    std::vector<std::byte> voxels_;

  private:
    std::unique_ptr<Renderer> paged_;
};

const VolumeGrid odd_grid = db_grid(160, 200, 180, VoxelType::u16);  // 5 x 7 x 6 pages

class PagesOfType : public Pages, public testing::WithParamInterface<VoxelType> {};

INSTANTIATE_TEST_SUITE_P(, PagesOfType, testing::Values(VoxelType::u8, VoxelType::u16, VoxelType::f32),
                         [](const auto& of) {
                             return of.param == VoxelType::u8 ? "u8" : of.param == VoxelType::u16 ? "u16" : "f32";
                         });

// A place's coordinate in the pool is rounded otherwise than in one texture, by some 1e-5 voxels: a value changes by a
// hundred-thousandth of what its neighbours differ by, and now and then one on the edge of two entries of the transfer
// table changes its entry.
TEST_P(PagesOfType, LookLikeOneTexture) {
    set(db_grid(160, 200, 180, GetParam()), tissue(odd_grid), in_pages());
    for (const ViewMode mode : {ViewMode::composite, ViewMode::mip, ViewMode::isosurface}) {
        const View view = a_view(mode);
        const Image whole = renderer().render(view);
        const Image pages = paged().render(view);
        EXPECT_GT(pages.pages.needed, 60);
        EXPECT_EQ(pages.pages.coarse, 0);
        const Difference off = difference(whole, pages);
        EXPECT_LE(off.most, 1) << static_cast<int>(mode);
        EXPECT_LT(off.differing, 0.01) << static_cast<int>(mode);
        EXPECT_EQ(whole.pages.needed, 0);
    }
}

TEST_F(Pages, MeasureAsOneTextureDoes) {
    set(odd_grid, tissue(odd_grid), in_pages());
    View view = a_view(ViewMode::mip);
    view.width = view.height = 40;
    const std::vector<RayMeasure> whole = renderer().measure(view);
    const std::vector<RayMeasure> pages = paged().measure(view);
    for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(pages[i].value, whole[i].value, 1e-3);
}

}  // namespace
}  // namespace echolux::test
