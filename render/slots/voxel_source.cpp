#include "render/slots/voxel_source.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "compute/empty_value.h"
#include "render/slots/voxel_codes.h"

namespace echolux {
namespace {

constexpr std::int64_t max_counted = 1 << 20;  // max number of voxels read for the percentiles

// Reads from memory in the layout [B-scan][A-scan][depth].
class VoxelsInMemory : public VoxelSource {
  public:
    VoxelsInMemory(const VolumeGrid& grid, const void* voxels, std::shared_ptr<const void> owner)
        : grid_(grid), voxels_(static_cast<const std::byte*>(voxels)), owner_(std::move(owner)) {}

    const VolumeGrid& grid() const override { return grid_; }

    void read(const VoxelBox& box, std::byte* codes) const override {
        const std::int64_t bytes = bytes_of(grid_.type);
        const std::int64_t row = box.extent[0] * bytes;
        for (std::int64_t b = 0; b < box.extent[2]; ++b) {
            for (std::int64_t a = 0; a < box.extent[1]; ++a, codes += row) {
                const std::int64_t a_scan = (box.first[2] + b) * grid_.a_scans + box.first[1] + a;
                std::memcpy(codes, voxels_ + (a_scan * grid_.depth + box.first[0]) * bytes,
                            static_cast<std::size_t>(row));
            }
        }
    }

  private:
    VolumeGrid grid_;
    const std::byte* voxels_;
    std::shared_ptr<const void> owner_;
};

}  // namespace

ValueRange VoxelSource::range() const {
    const VolumeGrid& of = grid();
    // An odd stride does not step along an axis of even length.
    const std::int64_t stride = std::max<std::int64_t>(1, of.voxels() / max_counted) | 1;
    std::vector<double> values;
    EmptyValue empty;
    for (std::int64_t i = 0; i < of.voxels(); i += stride) {
        const std::int64_t a_scan = i / of.depth;
        std::array<std::byte, 8> code{};
        read({{i % of.depth, a_scan % of.a_scans, a_scan / of.a_scans}, {1, 1, 1}}, code.data());
        const double value = code_at(of.type, code.data(), 0) * of.scale + of.offset;
        if (!std::isfinite(value)) continue;
        values.push_back(value);
        empty.add(value);
    }
    if (of.quantity == "db" && empty.found()) std::erase(values, *empty.found());
    if (values.empty()) return {};
    const auto at = [&](double part) {
        const auto place = values.begin() + std::lround(part * static_cast<double>(values.size() - 1));
        std::ranges::nth_element(values, place);
        return *place;
    };
    const ValueRange range{at(0.01), at(0.999)};
    if (range.low < range.high) return range;
    return {range.low, range.low + std::max(1e-6 * std::abs(range.low), 1e-6)};
}

std::shared_ptr<const VoxelSource> voxels_in_memory(const VolumeGrid& grid, const void* voxels,
                                                    std::shared_ptr<const void> owner) {
    return std::make_shared<VoxelsInMemory>(grid, voxels, std::move(owner));
}

}  // namespace echolux
