// Slots in host memory, uploaded by pictures: where the CPU reconstructs, or a GPU that cannot share with the
// display's.
#include <fmt/format.h>

#include <chrono>

#include "compute/error.h"
#include "render/slots/slot_source.h"
#include "render/slots/upload.h"
#include "render/vk/memory.h"

namespace echolux {
namespace {

// The voxels of one texture in host memory.
class HostVoxels {
  public:
    HostVoxels(const gpu::Device& device, const VolumeTexture& texture)
        : texture_(texture),
          staging_(device, static_cast<std::size_t>(texture.grid().voxels() * texture.image().bytes_per_pixel()),
                   vk::BufferUsageFlagBits::eTransferSrc),
          codes_(is_widened(texture) ? std::make_unique<std::byte[]>(static_cast<std::size_t>(texture.grid().bytes()))
                                     : nullptr) {}

    Place place() const {
        const VolumeGrid& grid = texture_.grid();
        const std::int64_t a_scan = grid.depth * bytes_of(grid.type);
        return {.kind = PlaceKind::host_linear,
                .data = codes_ ? codes_.get() : staging_.bytes().data(),
                .a_scan_bytes = a_scan,
                .b_scan_bytes = a_scan * grid.a_scans};
    }

    void store(std::int64_t first, std::int64_t end) const {
        if (!codes_) return;
        const VolumeGrid& grid = texture_.grid();
        const std::int64_t slice = grid.depth * grid.a_scans;
        widen(staging_.bytes().subspan(static_cast<std::size_t>(2 * first * slice),
                                       static_cast<std::size_t>(2 * (end - first) * slice)),
              codes_.get() + first * slice);
    }

    void record_fetch(const vk::raii::CommandBuffer& commands, std::int64_t first, std::int64_t end) const {
        if (first < end) texture_.record_slices_from(commands, staging_.handle(), first, end);
    }

  private:
    const VolumeTexture& texture_;
    gpu::HostBuffer staging_;
    std::unique_ptr<std::byte[]> codes_;  // 8-bit codes that the texture stores in 16 bits
};

class UploadSource : public SlotSource {
  public:
    UploadSource(const gpu::Device& device, const Textures& textures, const SlotTimelines& timelines,
                 std::chrono::milliseconds patience)
        : timelines_(timelines), patience_(patience) {
        for (const auto& slot : textures) {
            voxels_.emplace_back(
                *slot, [&](const VolumeTexture& texture) { return std::make_unique<HostVoxels>(device, texture); });
        }
    }

    Places places(std::size_t slot) const override {
        const auto& [structure, flow] = voxels_[slot];
        return flow ? Places(structure->place(), flow->place()) : Places(structure->place());
    }

    void begin(std::size_t, std::uint64_t value) override {
        for (std::uint64_t reached = 0; !timelines_.read.wait(value, patience_);) {
            const std::uint64_t now = timelines_.read.value();
            if (now == reached) {
                throw Error(ErrorCode::device,
                            fmt::format("no picture was finished for {:.1f} s", 1e-3 * patience_.count()),
                            "volume ring", "make smaller pictures, or choose another device");
            }
            reached = now;
        }
    }

    void publish(std::size_t slot, std::uint64_t value, std::int64_t first, std::int64_t end) override {
        voxels_[slot].each([&](const HostVoxels& voxels) { voxels.store(first, end); });
        timelines_.written.signal(value);
    }

    void record_fetch(const vk::raii::CommandBuffer& commands, std::size_t slot, std::int64_t first,
                      std::int64_t end) const override {
        voxels_[slot].each([&](const HostVoxels& voxels) { voxels.record_fetch(commands, first, end); });
    }
    void record_return(const vk::raii::CommandBuffer&, std::size_t) const override {}

  private:
    const SlotTimelines& timelines_;
    std::chrono::milliseconds patience_;
    std::vector<ForEach<HostVoxels>> voxels_;  // of each slot
};

}  // namespace

std::unique_ptr<SlotSource> upload_source(const gpu::Device& device, const Textures& textures,
                                          const SlotTimelines& timelines, std::chrono::milliseconds patience) {
    return std::make_unique<UploadSource>(device, textures, timelines, patience);
}

}  // namespace echolux
