// Shared by tests of the ring: volumes of eight slices, written without a device.
#pragma once

#include "engine/live/volume_ring.h"

namespace echolux::test {

inline constexpr std::int64_t slices = 8;

inline VolumeStamp stamp(std::int64_t volume) {
    return {.volume = volume, .time_s = 0.1 * static_cast<double>(volume)};
}

// Writes and publishes one volume without a device.
inline WriteTicket publish(VolumeRing& ring, std::int64_t volume) {
    WriteTicket ticket = ring.acquire_write(stamp(volume)).value();
    ring.hand_over(ticket, slices);
    return ticket;
}

}  // namespace echolux::test
