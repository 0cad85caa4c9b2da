#include "engine/live/volume_ring.h"

#include <algorithm>
#include <utility>

#include "compute/error.h"
#include "compute/plan/describe_stats.h"

namespace echolux {
namespace {

// Throws Error{bad_setting} if the caller violates the ring's protocol.
void require(bool holds, const char* what) {
    if (!holds) throw Error(ErrorCode::bad_setting, what, "volume ring");
}

}  // namespace

template <>
const std::vector<Stat<RingStatistics>>& describe_stats<RingStatistics>() {
    using S = RingStatistics;
    static const std::vector<Stat<S>> all = joined_stats<S>({
        statistic<S>("published", &S::published, "volumes", "passed to the display"),
        statistic<S>("dropped", &S::dropped, "volumes", "dropped: no buffer was free"),
        statistic<S>("abandoned", &S::abandoned, "volumes", "begun but not finished"),
        statistic<S>("shown", &S::shown, "volumes", "displayed").in("Session", "shown"),
        statistic<S>("late", &S::late, "volumes", "replaced before they were displayed").in("Dropped", "never shown"),
        statistic<S>("kept", &S::kept, "volumes", "that can still be displayed"),
        statistic<S>("max_kept", &S::max_kept, "volumes", "max that can be kept; 0: none"),
    });
    return all;
}

VolumeRing::VolumeRing(std::size_t slots, std::int64_t slices, Publishing publishing, std::size_t keeps)
    : slots_(slots + keeps), slices_(slices), publishing_(publishing), keeps_(keeps) {
    require(slots >= 2, "a ring has at least two slots: one is shown, one is written");
    require(slices >= 1, "a volume has at least one slice");
}

// Returns whether a slot may be written: its volume is not the newest and not kept. Its pictures, if any, have been
// submitted.
bool VolumeRing::is_free(std::size_t slot) const {
    return !slots_[slot].reading && slot != newest_ && std::ranges::find(kept_, slot) == kept_.end();
}

std::optional<WriteTicket> VolumeRing::acquire_write(const VolumeStamp& stamp) {
    const std::scoped_lock lock(mutex_);
    require(!written_, "one volume is written at a time");
    std::optional<std::size_t> chosen;  // slot whose pictures are done first
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        if (is_free(i) && (!chosen || slots_[i].last_read < slots_[*chosen].last_read)) chosen = i;
    }
    if (!chosen) {
        ++statistics_.dropped;
        return std::nullopt;
    }
    Slot& slot = slots_[*chosen];
    slot.serial = ++serial_;
    slot.stamp = stamp;
    slot.filled_to = 0;
    slot.counted = false;
    written_ = chosen;
    return WriteTicket{*chosen, slot.serial, slot.last_read, ++write_values_};
}

void VolumeRing::hand_over(WriteTicket& ticket, std::int64_t filled_to) {
    const std::scoped_lock lock(mutex_);
    require(written_ == ticket.slot && slots_[ticket.slot].serial == ticket.serial && ticket.signal == write_values_,
            "this volume is not being written");
    require(!rewriting_, "a slot that is being rewritten is published when rewriting ends");
    Slot& slot = slots_[ticket.slot];
    require(filled_to > slot.filled_to && filled_to <= slices_, "slices are handed over in their order");
    slot.filled_to = filled_to;
    ++statistics_.handed_over;
    slot.last_written = write_submitted_ = ticket.signal;
    if (filled_to == slices_) {
        publish(ticket.slot);
    } else {
        ticket.signal = ++write_values_;
    }
}

void VolumeRing::publish(std::size_t slot) {
    if (newest_ && !slots_[*newest_].reading) count(slots_[*newest_], statistics_.late);
    written_.reset();
    newest_ = slot;
    ++statistics_.published;
    if (holds_ == 0) keep(slot);
}

// Keeps the volume in the slot. A volume reconstructed again with other settings replaces its predecessor.
void VolumeRing::keep(std::size_t slot) {
    if (keeps_ == 0) return;
    const VolumeStamp& stamp = slots_[slot].stamp;
    if (!kept_.empty()) {
        const VolumeStamp& last = slots_[kept_.back()].stamp;
        if (last.volume == stamp.volume && last.time_s == stamp.time_s) kept_.pop_back();
    }
    if (kept_.size() == keeps_) kept_.pop_front();
    kept_.push_back(slot);
}

std::optional<WriteTicket> VolumeRing::acquire_rewrite(std::int64_t volume) {
    const std::scoped_lock lock(mutex_);
    require(!written_, "one volume is written at a time");
    if (!newest_ || slots_[*newest_].stamp.volume != volume || slots_[*newest_].reading) return std::nullopt;
    if (holds_ > 0 && !kept_.empty() && kept_.back() == newest_) return std::nullopt;
    Slot& slot = slots_[*newest_];
    slot.serial = ++serial_;
    rewriting_ = true;
    written_ = newest_;
    return WriteTicket{*newest_, slot.serial, slot.last_read, ++write_values_};
}

void VolumeRing::hand_over_rewrite(const WriteTicket& ticket) {
    const std::scoped_lock lock(mutex_);
    require(rewriting_ && written_ == ticket.slot && slots_[ticket.slot].serial == ticket.serial,
            "this volume is not being written again");
    slots_[ticket.slot].last_written = write_submitted_ = ticket.signal;
    rewriting_ = false;
    written_.reset();
    ++statistics_.handed_over;
}

void VolumeRing::abandon(const WriteTicket& ticket) {
    const std::scoped_lock lock(mutex_);
    require(written_ == ticket.slot && slots_[ticket.slot].serial == ticket.serial, "this volume is not being written");
    written_.reset();
    if (!std::exchange(rewriting_, false)) ++statistics_.abandoned;
}

void VolumeRing::release(const WriteTicket& ticket) {
    const std::scoped_lock lock(mutex_);
    require(written_ == ticket.slot && slots_[ticket.slot].serial == ticket.serial && !rewriting_,
            "this volume is not being written");
    written_.reset();
}

ReadTicket::Part VolumeRing::part_of(std::size_t slot) const {
    return {slot, slots_[slot].serial, slots_[slot].filled_to, slots_[slot].stamp};
}

// Returns the slot being written if pictures may already see it.
std::optional<std::size_t> VolumeRing::partial() const {
    const bool is_seen = publishing_ == Publishing::rolling && written_ && slots_[*written_].filled_to > 0;
    return is_seen ? written_ : std::nullopt;
}

std::optional<ReadTicket> VolumeRing::acquire_read(std::optional<std::uint64_t> serial) {
    const std::scoped_lock lock(mutex_);
    require(reader_ == 0, "one picture is made at a time");
    if (serial) {
        const std::optional<std::size_t> slot = recent_slot(*serial);
        return slot && !(rewriting_ && slot == written_) ? acquire_read_of(*slot) : std::nullopt;
    }
    if (rewriting_) return std::nullopt;
    const std::optional<std::size_t> newest = partial() ? partial() : newest_;
    if (!newest) return std::nullopt;
    std::optional<ReadTicket> ticket = acquire_read_of(*newest);
    if (newest != newest_ && newest_) {
        ticket->previous = part_of(*newest_);  // written before the newer slices that the ticket waits for
        slots_[*newest_].reading = true;
    }
    return ticket;
}

std::optional<ReadTicket> VolumeRing::acquire_read_of(std::size_t slot) {
    ReadTicket ticket;
    ticket.newest = part_of(slot);
    ticket.wait = slots_[slot].last_written;
    slots_[slot].reading = true;
    ticket.signal = reader_ = ++read_values_;
    return ticket;
}

std::optional<std::size_t> VolumeRing::recent_slot(std::uint64_t serial) const {
    const auto found = std::ranges::find(kept_, serial, [this](std::size_t slot) { return slots_[slot].serial; });
    if (found == kept_.end()) return std::nullopt;
    return *found;
}

std::vector<RecentVolume> VolumeRing::kept() const {
    const std::scoped_lock lock(mutex_);
    std::vector<RecentVolume> volumes;
    for (const std::size_t slot : kept_) volumes.push_back({slots_[slot].serial, slots_[slot].stamp});
    return volumes;
}

void VolumeRing::hold() {
    const std::scoped_lock lock(mutex_);
    ++holds_;
}

// When the last hold ends, keeps the newest volume that was published in between.
void VolumeRing::release() {
    const std::scoped_lock lock(mutex_);
    require(holds_ > 0, "nobody holds the volumes that are kept");
    if (--holds_ == 0 && newest_ && (kept_.empty() || kept_.back() != newest_)) keep(*newest_);
}

// Counts each volume once.
void VolumeRing::count(Slot& slot, std::int64_t& as) {
    if (!std::exchange(slot.counted, true)) ++as;
}

void VolumeRing::end_read(const ReadTicket& ticket, Reading reading) {
    require(reader_ != 0 && reader_ == ticket.signal, "this picture is not being made");
    reader_ = 0;
    const auto end = [&](const ReadTicket::Part& part) {
        Slot& slot = slots_[part.slot];
        slot.reading = false;
        if (reading != Reading::abandoned) slot.last_read = ticket.signal;
        const bool is_replaced = part.slot != written_ && part.slot != newest_ && part.filled_to == slices_;
        if (reading == Reading::drawn)
            count(slot, statistics_.shown);
        else if (is_replaced)
            count(slot, statistics_.late);
    };
    end(ticket.newest);
    if (ticket.previous) end(*ticket.previous);
    if (reading != Reading::abandoned) read_submitted_ = ticket.signal;
}

void VolumeRing::submitted(const ReadTicket& ticket) {
    const std::scoped_lock lock(mutex_);
    end_read(ticket, Reading::drawn);
    ++statistics_.pictures;
}

void VolumeRing::copied(const ReadTicket& ticket) {
    const std::scoped_lock lock(mutex_);
    end_read(ticket, Reading::copied);
}

void VolumeRing::abandon(const ReadTicket& ticket) {
    const std::scoped_lock lock(mutex_);
    end_read(ticket, Reading::abandoned);
}

std::uint64_t VolumeRing::written_submitted() const {
    const std::scoped_lock lock(mutex_);
    return write_submitted_;
}

std::uint64_t VolumeRing::read_submitted() const {
    const std::scoped_lock lock(mutex_);
    return read_submitted_;
}

RingStatistics VolumeRing::statistics() const {
    const std::scoped_lock lock(mutex_);
    RingStatistics statistics = statistics_;
    statistics.kept = std::ssize(kept_);
    statistics.max_kept = static_cast<std::int64_t>(keeps_);
    return statistics;
}

}  // namespace echolux
