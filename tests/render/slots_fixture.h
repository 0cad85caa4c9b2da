// A live ring to which a test writes by hand.
#pragma once

#include <cstring>
#include <vector>

#include "compute/voxel_target.h"
#include "rendering.h"

namespace echolux::test {

inline View small_view() {
    return sized_view(72, 56);
}

inline VolumeGrid small_grid(VoxelType type = VoxelType::u8) {
    return db_grid(21, 18, 12, type);
}

// Returns different noise for every seed.
inline std::vector<std::byte> noise_voxels(const VolumeGrid& grid, int seed) {
    return voxels(grid,
                  [=](std::int64_t z, std::int64_t a, std::int64_t b) { return 40 * noise(z + 100 * seed, a, b); });
}

class Slots : public Rendering {
  protected:
    SlotWriter& make(const VolumeGrid& grid, std::size_t count = 3, bool peaks = false) {
        grid_ = grid;
        SlotRequest wanted{.grid = grid,
                           .peaks = peaks,
                           .range = {-5, 45},
                           .count = count,
                           .timeout = std::chrono::milliseconds(1500)};
        slots_ = renderer().make_slots(wanted).writer;
        return *slots_;
    }

    // Writes slices [first, end) of `codes` into the slot, and publishes them with the next value.
    void write(std::size_t slot, const std::vector<std::byte>& codes, std::int64_t first, std::int64_t end) {
        const VoxelTarget target = slots_->targets(slot).structure;
        ASSERT_EQ(target.kind, TargetKind::host_linear);
        const std::int64_t slice = target.b_scan_bytes;
        ASSERT_EQ(slice * grid_.b_scans, grid_.bytes());
        std::memcpy(static_cast<std::byte*>(target.data) + first * slice, codes.data() + first * slice,
                    index((end - first) * slice));
        if (const auto peaks = slots_->targets(slot).peaks) write_peaks(*peaks, codes, first, end);
        slots_->publish(slot, ++written_, first, end);
    }
    void write(std::size_t slot, const std::vector<std::byte>& codes) { write(slot, codes, 0, grid_.b_scans); }

    void write_peaks(const Peaks& peaks, const std::vector<std::byte>& codes, std::int64_t first, std::int64_t end) {
        for (std::int64_t line = first * grid_.a_scans; line < end * grid_.a_scans; ++line) {
            store_peaks(grid_.type, codes.data() + line * grid_.a_scan_bytes(), grid_.depth, peaks.depths,
                        static_cast<std::byte*>(peaks.target.data) + line * peaks.target.a_scan_bytes);
        }
    }

    DisplayedSlots shown(std::size_t slot, std::uint64_t serial, std::int64_t filled_to) {
        return {.newest = {slot, serial, filled_to}, .previous = {}, .wait = written_, .signal = ++read_};
    }
    DisplayedSlots whole(std::size_t slot, std::uint64_t serial) { return shown(slot, serial, grid_.b_scans); }

    Image picture(const DisplayedSlots& what, const View& view) { return renderer().read(renderer().draw(view, what)); }

    Image picture_of_file(const std::vector<std::byte>& codes, const View& view) {
        renderer().set_volume(grid_, codes.data());
        return renderer().render(view);
    }

    SlotWriter* slots_ = nullptr;
    VolumeGrid grid_;
    std::uint64_t written_ = 0;
    std::uint64_t read_ = 0;
};

}  // namespace echolux::test
