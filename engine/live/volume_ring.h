// Who may write and who may read which slot of a live ring, and the only issuer of the values of its two timelines:
// `written`, signalled by who reconstructs, and `read`, signalled by pictures. Pure logic, free of any GPU.
//
// The rules, each of them a test:
// - A ticket waits only for values whose signal has been submitted, so nothing ever waits for what may not come.
//   A ticket that is abandoned leaves a gap in its timeline; values only have to grow.
// - A slot that a ticket still may submit work for is given to nobody else. One whose pictures are submitted may be
//   written again: the write ticket waits for the last of them.
// - What is published may be written again in place; no picture is begun meanwhile.
// - The newest published volume stays until a newer one is published, the last ones as long as there is room for them.
//   No slot left: the volume is dropped and counted.
// - While somebody holds the volumes that are kept, newer ones pass by in the other slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace echolux {

// What a volume means, besides its grid.
struct VolumeStamp {
    std::int64_t volume = 0;  // the source's number
    double time_s = 0;
    std::uint64_t plan = 0;  // number of the settings that it was begun with
};

enum class Publishing {
    whole,   // a volume is seen when all of it is written
    rolling  // each batch of B-scans is seen when it is written, with the volume before behind
};

struct WriteTicket {
    std::size_t slot = 0;
    std::uint64_t serial = 0;  // counts the tickets
    std::uint64_t wait = 0;    // of `read`; 0: nothing
    std::uint64_t signal = 0;  // of `written`, for what is handed over next
};

struct ReadTicket {
    struct Part {
        std::size_t slot = 0;
        std::uint64_t serial = 0;
        std::int64_t filled_to = 0;  // slices from the first
        VolumeStamp stamp;
    };
    Part newest;
    std::optional<Part> previous;  // whole; where `newest` is filled in part
    std::uint64_t wait = 0;        // of `written`
    std::uint64_t signal = 0;      // of `read`
};

// One of the last volumes, which can still be shown.
struct KeptVolume {
    std::uint64_t serial = 0;
    VolumeStamp stamp;
};

struct RingStatistics {
    std::int64_t handed_over = 0;  // batches of slices that pictures can see
    std::int64_t published = 0;
    std::int64_t dropped = 0;    // no slot was free
    std::int64_t abandoned = 0;  // begun, not finished
    std::int64_t shown = 0;      // volumes that some picture showed
    std::int64_t late = 0;       // published, and replaced before a picture showed them; not counted as shown later
    std::int64_t pictures = 0;
    std::int64_t kept = 0;      // volumes that can still be shown, where any are kept
    std::int64_t max_kept = 0;  // at most
};

// From any thread; at most one write ticket and one read ticket are out at a time. Throws Error{bad_setting} when a
// ticket is used twice.
class VolumeRing {
  public:
    // `slots`: at least 2; pictures under way + 2 keep both sides from waiting. `slices` of a volume. `keeps`: slots
    // besides, for the last so many volumes.
    VolumeRing(std::size_t slots, std::int64_t slices, Publishing publishing, std::size_t keeps = 0);

    // Nothing: no slot is free, and the volume is counted as dropped.
    std::optional<WriteTicket> acquire_write(const VolumeStamp& stamp);

    // Slices up to `filled_to` are written and ticket.signal has been submitted. Rolling: pictures see them from now
    // on. The ticket goes on with its next value; when all slices are there, the volume is published and the ticket
    // ends.
    void hand_over(WriteTicket& ticket, std::int64_t filled_to);

    // To write slices of `volume` again, where they are, as long as it is the newest. Pictures wait until that is
    // handed over or given up: meant for a few slices. Nothing: it is not, a picture of it is just being made, or it is
    // held.
    std::optional<WriteTicket> acquire_rewrite(std::int64_t volume);

    // Pictures see what was written again; ticket.signal has been submitted. The ticket ends.
    void hand_over_rewrite(const WriteTicket& ticket);

    // The volume will not be finished. What was submitted for it comes before anything that is submitted later.
    void abandon(const WriteTicket& ticket);

    // Of the newest volume, or of one that is kept. Nothing: no volume has been published yet, or it is not kept.
    std::optional<ReadTicket> acquire_read(std::optional<std::uint64_t> serial = {});

    // The last volumes, oldest first, each once; the newest one is among them unless they are held.
    std::vector<KeptVolume> kept() const;

    // Volumes that are kept stay as they are until each hold() has been followed by a release().
    void hold();
    void release();

    // The picture has been submitted, and with it ticket.signal; or a copy to the host, which nobody sees; or neither
    // has been and never will.
    void submitted(const ReadTicket& ticket);
    void copied(const ReadTicket& ticket);
    void abandon(const ReadTicket& ticket);

    // The last values whose signals have been submitted: what somebody may be waiting for.
    std::uint64_t written_submitted() const;
    std::uint64_t read_submitted() const;

    RingStatistics statistics() const;

  private:
    enum class Reading { abandoned, copied, drawn };
    struct Slot {
        std::uint64_t serial = 0;        // of the volume that it holds; 0: none
        VolumeStamp stamp;               //
        std::int64_t filled_to = 0;      // slices that have been handed over
        std::uint64_t last_written = 0;  // value of `written` at which they are there
        std::uint64_t last_read = 0;     // value of `read` at which the last picture of it is done
        bool reading = false;            // a read ticket is out
        bool counted = false;            // the volume, as shown or as late
    };

    bool is_free(std::size_t slot) const;
    void keep(std::size_t slot);
    std::optional<std::size_t> kept_slot(std::uint64_t serial) const;
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
    int holds_ = 0;                       // of those
    std::optional<std::size_t> newest_;   // published
    std::optional<std::size_t> written_;  // by the ticket that is out
    bool rewriting_ = false;              // that ticket is of the newest volume
    std::uint64_t serial_ = 0;
    std::uint64_t write_values_ = 0;  // issued
    std::uint64_t read_values_ = 0;
    std::uint64_t write_submitted_ = 0;
    std::uint64_t read_submitted_ = 0;
    std::uint64_t reader_ = 0;  // value of the read ticket that is out; 0: none
    RingStatistics statistics_;
};

}  // namespace echolux
