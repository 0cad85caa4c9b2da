#include "render/slots/slot_peaks.h"

namespace echolux {
namespace {

constexpr auto usage = vk::BufferUsageFlagBits::eStorageBuffer;

VolumeGrid grid_of_peaks(VolumeGrid grid, std::int64_t depths) {
    grid.depth = peaks_of(grid.depth, depths);
    grid.spacing_um[0] *= static_cast<double>(depths);
    return grid;
}

std::optional<gpu::ExportedBuffer> shared_buffer(const gpu::Device& device, std::size_t bytes, SlotKind kind) {
    if (kind == SlotKind::upload) return std::nullopt;
    return std::optional<gpu::ExportedBuffer>(std::in_place, device, bytes, usage);
}

std::optional<gpu::HostBuffer> host_buffer(const gpu::Device& device, std::size_t bytes, SlotKind kind) {
    if (kind != SlotKind::upload) return std::nullopt;
    return std::optional<gpu::HostBuffer>(std::in_place, device, bytes, usage);
}

}  // namespace

SlotPeaks::SlotPeaks(const gpu::Device& device, const VolumeGrid& grid, const Bricks& bricks, SlotKind kind)
    : grid_(grid_of_peaks(grid, bricks.edge())), depths_(bricks.edge()),
      shared_(shared_buffer(device, BrickPeaks::bytes(grid, bricks.edge()), kind)),
      host_(host_buffer(device, BrickPeaks::bytes(grid, bricks.edge()), kind)),
      for_bricks_(device, bricks, grid, buffer()) {}

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
                      .data = host_->bytes().data(),
                      .a_scan_bytes = grid_.a_scan_bytes(),
                      .b_scan_bytes = grid_.b_scan_bytes()},
            .depths = depths_};
}

void SlotPeaks::record_fetch(const vk::raii::CommandBuffer& commands) const {
    if (shared_) shared_->record_acquire(commands);
}

void SlotPeaks::record_return(const vk::raii::CommandBuffer& commands) const {
    if (shared_) shared_->record_release(commands);
}

}  // namespace echolux
