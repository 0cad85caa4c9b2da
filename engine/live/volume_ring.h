// Controls which slot of a live ring may be written and read. It alone issues the values of its two timelines:
// `written`, signalled by reconstruction, and `read`, signalled by pictures. Pure logic without a GPU.
//
// Rules, each with a test:
// - A ticket waits only for values whose signal has been submitted, so no wait can hang. An abandoned ticket leaves a
//   gap in its timeline, which is allowed because values only have to increase.
// - A slot for which a ticket may still submit work is not given to anyone else. A slot whose pictures are submitted
//   may be written again: the write ticket waits for the last of them.
// - A published volume may be rewritten in place; no picture is started until this is done.
// - The newest published volume stays until a newer one is published, the previous ones as long as there is room.
//   Without a free slot, the volume is dropped and counted.
// - While the kept volumes are held, newer ones use only the other slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "compute/plan/described.h"

namespace echolux {

// The volume's identity and settings.
struct VolumeStamp {
    std::int64_t volume = 0;  // number of the source
    double time_s = 0;
    std::uint64_t plan = 0;  // number of the settings at its start
};

// When pictures may see a volume.
enum class Publishing {
    whole,   // a volume becomes visible when it is complete
    rolling  // each batch of B-scans becomes visible when written, together with the previous volume
};

// Permission to write a slot.
struct WriteTicket {
    std::size_t slot = 0;
    std::uint64_t serial = 0;  // counts the tickets
    std::uint64_t wait = 0;    // value of `read`, 0: none
    std::uint64_t signal = 0;  // value of `written` for the next hand-over
};

// Permission to read a slot, or two with rolling publishing.
struct ReadTicket {
    struct Part {
        std::size_t slot = 0;
        std::uint64_t serial = 0;
        std::int64_t filled_to = 0;  // slices from the first
        VolumeStamp stamp;
    };
    Part newest;
    std::optional<Part> previous;  // a whole volume; set if `newest` is only partly filled
    std::uint64_t wait = 0;        // value of `written`
    std::uint64_t signal = 0;      // value of `read`
};

// One of the last volumes, which can still be displayed.
struct RecentVolume {
    std::uint64_t serial = 0;
    VolumeStamp stamp;
};

// Counts since the ring was created.
struct RingStatistics {
    std::int64_t handed_over = 0;  // batches of slices visible to pictures
    std::int64_t published = 0;
    std::int64_t dropped = 0;    // no slot was free
    std::int64_t abandoned = 0;  // begun but not finished
    std::int64_t shown = 0;      // volumes in any picture
    std::int64_t late = 0;       // published and replaced before any picture; a later picture does not count
    std::int64_t pictures = 0;
    std::int64_t kept = 0;      // volumes that can still be displayed
    std::int64_t max_kept = 0;  // limit
};
template <>
const std::vector<Stat<RingStatistics>>& describe_stats<RingStatistics>();

// Thread-safe. At most one write ticket and one read ticket exist at a time. Throws Error{bad_setting} if a ticket is
// used twice.
class VolumeRing {
  public:
    // `slots` is at least 2; the number of pictures in flight + 2 avoids waits on both sides. `slices` is per volume.
    // `keeps` is the number of additional slots for the last volumes.
    VolumeRing(std::size_t slots, std::int64_t slices, Publishing publishing, std::size_t keeps = 0);

    // Starts writing a new volume. Returns nullopt if no slot is free; the volume then counts as dropped.
    std::optional<WriteTicket> acquire_write(const VolumeStamp& stamp);

    // Reports that slices up to `filled_to` are written and that ticket.signal has been submitted. With rolling
    // publishing, pictures see them from now on. The ticket continues with its next value; after the last slice, the
    // volume is published and the ticket ends.
    void hand_over(WriteTicket& ticket, std::int64_t filled_to);

    // Starts rewriting slices of `volume` in place. Pictures wait until this is handed over or abandoned, so it is
    // meant for a few slices. Returns nullopt if the volume is not the newest, if a picture of it is in progress, or if
    // it is held.
    std::optional<WriteTicket> acquire_rewrite(std::int64_t volume);

    // Makes the rewritten slices visible; ticket.signal has been submitted. The ticket ends.
    void hand_over_rewrite(const WriteTicket& ticket);

    // Gives up the volume. Work submitted for it precedes all work submitted later.
    void abandon(const WriteTicket& ticket);

    // Like abandon(), for a rehearsal: no volume is counted.
    void release(const WriteTicket& ticket);

    // Starts a picture of the newest volume, or of a kept one. Returns nullopt if no volume has been published yet, or
    // if it is not kept.
    std::optional<ReadTicket> acquire_read(std::optional<std::uint64_t> serial = {});

    // Returns the last volumes, oldest first, without duplicates. The newest one is included unless the volumes are
    // held.
    std::vector<RecentVolume> kept() const;

    // hold() preserves the kept volumes until each call has been followed by release().
    void hold();
    void release();

    // End a picture: its work and ticket.signal have been submitted; or a copy to the host has, which is not displayed;
    // or neither has been and never will.
    void submitted(const ReadTicket& ticket);
    void copied(const ReadTicket& ticket);
    void abandon(const ReadTicket& ticket);

    // Return the last values whose signals have been submitted, which others may wait for.
    std::uint64_t written_submitted() const;
    std::uint64_t read_submitted() const;

    RingStatistics statistics() const;

  private:
    enum class Reading { abandoned, copied, drawn };
    struct Slot {
        std::uint64_t serial = 0;  // serial of its volume, 0 if empty
        VolumeStamp stamp;
        std::int64_t filled_to = 0;      // slices handed over
        std::uint64_t last_written = 0;  // value of `written` when they are complete
        std::uint64_t last_read = 0;     // value of `read` when its last picture is done
        bool reading = false;            // a read ticket is active
        bool counted = false;            // as shown or as late
    };

    bool is_free(std::size_t slot) const;
    void keep(std::size_t slot);
    std::optional<std::size_t> recent_slot(std::uint64_t serial) const;
    std::optional<ReadTicket> acquire_read_of(std::size_t slot);
    ReadTicket::Part part_of(std::size_t slot) const;
    std::optional<std::size_t> partial() const;
    void publish(std::size_t slot);
    static void count(Slot& slot, std::int64_t& as);
    void end_read(const ReadTicket& ticket, Reading reading);

    mutable std::mutex mutex_;
    std::vector<Slot> slots_;
    std::int64_t slices_;
    Publishing publishing_;
    std::size_t keeps_;
    std::deque<std::size_t> kept_;        // slots, oldest first
    int holds_ = 0;                       // number of hold() calls in effect
    std::optional<std::size_t> newest_;   // published
    std::optional<std::size_t> written_;  // slot of the active write ticket
    bool rewriting_ = false;              // the active ticket rewrites the newest volume
    std::uint64_t serial_ = 0;
    std::uint64_t write_values_ = 0;  // issued
    std::uint64_t read_values_ = 0;
    std::uint64_t write_submitted_ = 0;
    std::uint64_t read_submitted_ = 0;
    std::uint64_t reader_ = 0;  // value of the active read ticket, 0 if none
    RingStatistics statistics_;
};

}  // namespace echolux
