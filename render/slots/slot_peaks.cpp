#include "render/slots/slot_peaks.h"

namespace echolux {
namespace {

constexpr auto usage = vk::BufferUsageFlagBits::eStorageBuffer;

VolumeGrid grid_of_peaks(VolumeGrid grid, std::int64_t depths) {
    grid.depth = peaks_of(grid.depth, depths);
    grid.spacing_um[0] *= static_cast<double>(depths);
    return grid;
}

}  // namespace

SlotPeaks::SlotPeaks(const gpu::Device& device, const VolumeGrid& grid, const Bricks& bricks, SlotKind kind)
    : grid_(grid_of_peaks(grid, bricks.edge())), depths_(bricks.edge()) {
    const std::size_t bytes = BrickPeaks::bytes(grid, bricks.edge());
    if (kind == SlotKind::upload) {
        staging_.emplace(device, bytes, vk::BufferUsageFlagBits::eTransferSrc);
        own_.emplace(device, bytes, usage);
    } else {
        shared_.emplace(device, bytes, usage);
    }
    for_bricks_.emplace(device, bricks, grid, buffer());
}

HandedOver SlotPeaks::exported(const gpu::Device& device) const {
    return {.facts = {.device = device.id(),
                      .bytes = shared_->memory_bytes(),
                      .type = grid_.type,
                      .depth = grid_.depth,
                      .a_scans = grid_.a_scans,
                      .b_scans = grid_.b_scans,
                      .linear = true},
            .handle = shared_->exported()};
}

Peaks SlotPeaks::peaks() const {
    return {.place = {.kind = PlaceKind::host_linear,
                      .data = staging_->bytes().data(),
                      .a_scan_bytes = grid_.a_scan_bytes(),
                      .b_scan_bytes = grid_.b_scan_bytes()},
            .depths = depths_};
}

void SlotPeaks::record_fetch(const vk::raii::CommandBuffer& commands, std::int64_t first, std::int64_t end) const {
    if (shared_) return shared_->record_acquire(commands);
    if (first == end) return;
    const auto begin = static_cast<vk::DeviceSize>(first * grid_.b_scan_bytes());
    own_->record_part_from(commands, staging_->handle(), begin,
                           static_cast<vk::DeviceSize>(end * grid_.b_scan_bytes()) - begin);
}

void SlotPeaks::record_return(const vk::raii::CommandBuffer& commands) const {
    if (shared_) shared_->record_release(commands);
}

}  // namespace echolux
