// The side of the way that draws: whatever reads the ring's slots takes a read ticket, and gives it back.
#include "app/live/volume_path.h"
#include "compute/error.h"

namespace echolux {
namespace {

ShownSlot slot_of(const ReadTicket::Part& part) {
    return {part.slot, part.serial, part.filled_to};
}

}  // namespace

// A read ticket in use: `slots` are asked for where work of the device reads them.
struct VolumePath::Reading {
    const ReadTicket& ticket;
    bool is_used = false;

    ShownSlot newest() const { return slot_of(ticket.newest); }
    ShownSlots slots() {
        is_used = true;
        ShownSlots shown{.newest = newest(), .previous = {}, .wait = ticket.wait, .signal = ticket.signal};
        if (ticket.previous) shown.previous = slot_of(*ticket.previous);
        return shown;
    }
};

void VolumePath::give_up_reading() noexcept {
    const std::scoped_lock lock(exchanging_);
    if (slots_ != nullptr) slots_->give_up_reading(ring_->read_submitted());
}

// Whatever is asked of the renderer is asked here. When its device is lost, the GPU that reconstructs may be waiting
// for pictures that will never be finished: it is released.
template <class Call>
auto VolumePath::asked(const Call& call) {
    try {
        return call();
    } catch (const Error& error) {
        if (error.code() == ErrorCode::device) give_up_reading();
        throw;
    }
}

bool VolumePath::is_finished(const VolumePicture& picture) {
    return asked([&] { return renderer_.is_finished(picture.drawing); });
}

void VolumePath::wait(const VolumePicture& picture) {
    asked([&] { renderer_.wait(picture.drawing); });
}

Image VolumePath::read(const VolumePicture& picture) {
    return asked([&] { return renderer_.read(picture.drawing); });
}

// What `read` makes of the ring's slots; it tells the ring how that ended. `exchanging_` is held.
template <class Read>
auto VolumePath::of_ring(const Read& read) {
    require_built();
    const std::optional<ReadTicket> ticket = ring_->acquire_read();
    std::optional<decltype(read(std::declval<Reading&>()))> result;
    if (!ticket) return result;
    Reading reading{*ticket};
    try {
        result = read(reading);
    } catch (...) {
        ring_->abandon(*ticket);
        throw;
    }
    if (reading.is_used)
        ring_->submitted(*ticket);
    else
        ring_->abandon(*ticket);
    return result;
}

template <class Read>
auto VolumePath::drawn(const Read& read) {
    return asked([&] {
        const std::scoped_lock lock(exchanging_);
        return of_ring(read);
    });
}

// The same for whoever cannot wait: nothing while what follows is exchanged.
template <class Read>
auto VolumePath::drawn_at_once(const Read& read) {
    return asked([&] {
        const std::unique_lock lock(exchanging_, std::try_to_lock);
        return lock.owns_lock() ? of_ring(read) : decltype(of_ring(read)){};
    });
}

void VolumePath::set_heights(const HeightMaps& maps) {
    asked([&] {
        const std::scoped_lock lock(exchanging_);
        renderer_.set_heights(maps);
        has_heights_ = !maps.empty();
    });
}

std::optional<VolumePicture> VolumePath::picture(const View& view) {
    return drawn([&](Reading& reading) {
        const ReadTicket::Part& newest = reading.ticket.newest;
        return VolumePicture{renderer_.draw(view, reading.slots()), newest.stamp, newest.filled_to,
                             newest.filled_to == grid_.b_scans};
    });
}

std::optional<ComingVolume> VolumePath::begin_reading_volume() {
    return drawn([&](Reading& reading) {
        const ReadTicket::Part& newest = reading.ticket.newest;
        return ComingVolume{{newest.stamp, newest.filled_to, grid_, {}, plan_},
                            [this, voxels = renderer_.copy_slot(reading.slots())] { return asked(voxels); }};
    });
}

std::optional<Image> VolumePath::still(const View& view) {
    return drawn([&](Reading& reading) { return renderer_.render(view, reading.slots()); });
}

std::optional<ReadVolume> VolumePath::read_volume() {
    std::optional<ComingVolume> coming = begin_reading_volume();
    if (!coming) return {};
    coming->volume.voxels = coming->voxels();
    return std::move(coming->volume);
}

std::optional<ShownVolume> VolumePath::shown() {
    return drawn_at_once([&](const Reading& reading) {
        const ReadTicket::Part& newest = reading.ticket.newest;
        return ShownVolume{
            newest.stamp,    newest.filled_to == grid_.b_scans, grid_, flow_grid_, generation_, newest.serial,
            newest.filled_to};
    });
}

std::optional<FollowedVolume> VolumePath::follow(const View& view, double now_s, std::size_t pane) {
    return drawn_at_once([&](Reading& reading) {
        const ReadTicket::Part& newest = reading.ticket.newest;
        const auto slots = [&] { return reading.slots(); };
        return FollowedVolume{renderer_.follow(view, reading.newest(), slots, now_s, pane), newest.stamp,
                              newest.filled_to == grid_.b_scans};
    });
}

std::optional<Probe> VolumePath::probe(const View& view, std::int64_t x, std::int64_t y) {
    return drawn_at_once([&](Reading& reading) { return renderer_.probe(view, x, y, reading.slots()); })
        .value_or(std::nullopt);
}

std::optional<Histogram> VolumePath::histogram() {
    return drawn_at_once(
               [&](Reading& reading) { return renderer_.histogram(reading.newest(), [&] { return reading.slots(); }); })
        .value_or(std::nullopt);
}

}  // namespace echolux
