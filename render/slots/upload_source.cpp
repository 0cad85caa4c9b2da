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

class UploadSource : public SlotSource {
  public:
    UploadSource(const gpu::Device& device, const Textures& textures, const SlotTimelines& timelines,
                 std::chrono::milliseconds patience)
        : textures_(textures), timelines_(timelines), patience_(patience) {
        for (const auto& texture : textures) {
            const auto bytes = static_cast<std::size_t>(texture->grid().voxels() * texture->image().bytes_per_pixel());
            staging_.push_back(std::make_unique<gpu::HostBuffer>(device, bytes, vk::BufferUsageFlagBits::eTransferSrc));
            const auto codes = static_cast<std::size_t>(texture->grid().bytes());
            codes_.push_back(is_widened(*texture) ? std::make_unique<std::byte[]>(codes) : nullptr);
        }
    }

    Places places(std::size_t slot) const override {
        const VolumeGrid& grid = textures_[slot]->grid();
        const std::int64_t a_scan = grid.depth * bytes_of(grid.type);
        return Place{.kind = PlaceKind::host_linear,
                     .data = codes_[slot] ? codes_[slot].get() : staging_[slot]->bytes().data(),
                     .a_scan_bytes = a_scan,
                     .b_scan_bytes = a_scan * grid.a_scans};
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
        if (codes_[slot]) {
            const VolumeGrid& grid = textures_[slot]->grid();
            const std::int64_t slice = grid.depth * grid.a_scans;
            widen(staging_[slot]->bytes().subspan(static_cast<std::size_t>(2 * first * slice),
                                                  static_cast<std::size_t>(2 * (end - first) * slice)),
                  codes_[slot].get() + first * slice);
        }
        timelines_.written.signal(value);
    }

    void record_fetch(const vk::raii::CommandBuffer& commands, std::size_t slot, std::int64_t first,
                      std::int64_t end) const override {
        if (first < end) textures_[slot]->record_slices_from(commands, staging_[slot]->handle(), first, end);
    }
    void record_return(const vk::raii::CommandBuffer&, std::size_t) const override {}

  private:
    const Textures& textures_;
    const SlotTimelines& timelines_;
    std::chrono::milliseconds patience_;
    std::vector<std::unique_ptr<gpu::HostBuffer>> staging_;
    std::vector<std::unique_ptr<std::byte[]>> codes_;  // 8-bit codes that the texture stores in 16 bits
};

}  // namespace

std::unique_ptr<SlotSource> upload_source(const gpu::Device& device, const Textures& textures,
                                          const SlotTimelines& timelines, std::chrono::milliseconds patience) {
    return std::make_unique<UploadSource>(device, textures, timelines, patience);
}

}  // namespace echolux
