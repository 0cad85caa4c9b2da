#include "app/stage/series_voxels.h"
#include "compute/plan/describe.h"

#include <algorithm>
#include <vector>

namespace echolux {
namespace {

constexpr std::int64_t voxels_looked_at = 1 << 21;  // sampled for percentiles

class SeriesVoxels : public VoxelSource {
  public:
    SeriesVoxels(const Series& series, std::int64_t step, std::size_t level)
        : series_(series), step_(step), level_(level), grid_(series.levels(step).at(level)) {}

    const VolumeGrid& grid() const override { return grid_; }

    void read(const VoxelBox& box, std::byte* codes) const override {
        const auto along = [&](std::size_t axis) {
            return Interval{box.first[axis], box.first[axis] + box.extent[axis]};
        };
        const std::vector<std::byte> read = series_.read_box(step_, level_, {along(0), along(1), along(2)});
        std::ranges::copy(read, codes);
    }

    // Reading all voxels of a large file takes too long, so use the finest level that is quick to read, or some B-scans
    // if there is only one level.
    ValueRange range() const override {
        const std::vector<VolumeGrid> levels = series_.levels(step_);
        std::size_t coarse = level_;
        while (coarse + 1 < levels.size() && levels[coarse].voxels() > voxels_looked_at) ++coarse;
        VolumeGrid some = levels[coarse];
        const std::int64_t slices = some.b_scans;
        const std::int64_t slice = some.depth * some.a_scans;
        some.b_scans = std::clamp<std::int64_t>(voxels_looked_at / slice, 1, slices);
        std::vector<std::byte> voxels;
        for (std::int64_t i = 0; i < some.b_scans; ++i) {
            const std::int64_t at = i * slices / some.b_scans;
            const std::vector<std::byte> one =
                series_.read_box(step_, coarse, {{0, some.depth}, {0, some.a_scans}, {at, at + 1}});
            voxels.insert(voxels.end(), one.begin(), one.end());
        }
        return voxels_in_memory(some, voxels.data())->range();
    }

  private:
    const Series& series_;
    std::int64_t step_;
    std::size_t level_;
    VolumeGrid grid_;
};

}  // namespace

std::shared_ptr<const VoxelSource> voxels_of(const Series& series, std::int64_t step, std::size_t level) {
    return std::make_shared<SeriesVoxels>(series, step, level);
}

}  // namespace echolux
