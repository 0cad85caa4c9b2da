#include "app/live/volume_pictures.h"

#include <algorithm>
#include <utility>

#include "compute/error.h"
#include "render/scan_geometry.h"

namespace echolux {
namespace {

ShownSlot slot_of(const ReadTicket::Part& part) {
    return {part.slot, part.serial, part.filled_to};
}

}  // namespace

// A read ticket in use, and whether device work that reads its slots has been submitted.
struct VolumePictures::Reading {
    const ReadTicket& ticket;
    bool submitted = false;
    bool is_copy = false;  // copy to the host, which is not a shown picture

    ShownSlots slots() {
        ShownSlots shown{.newest = slot_of(ticket.newest),
                         .previous = {},
                         .wait = ticket.wait,
                         .signal = ticket.signal,
                         .submitted = &submitted};
        if (ticket.previous) shown.previous = slot_of(*ticket.previous);
        return shown;
    }
    bool is_whole(const VolumeGrid& grid) const { return ticket.newest.filled_to == grid.b_scans; }
};

void VolumePictures::give_up_reading() noexcept {
    const std::scoped_lock lock(live_.exchanging);
    if (live_.slots) live_.renderer.give_up_reading(live_.ring->read_submitted());
}

std::uint64_t VolumePictures::news() const {
    const std::scoped_lock lock(live_.exchanging);
    return (live_.generation << 40) + static_cast<std::uint64_t>(live_.ring->statistics().handed_over);
}

// All calls to the renderer go through this function. If its device is lost, the reconstructing GPU may be waiting for
// pictures that will never finish, so it is released.
template <class Call>
auto VolumePictures::with_release(const Call& call) {
    try {
        return call();
    } catch (const Error& error) {
        if (error.code() == ErrorCode::device) give_up_reading();
        throw;
    }
}

bool VolumePictures::is_finished(const VolumePicture& picture) {
    return with_release([&] { return live_.renderer.is_finished(picture.drawing); });
}

void VolumePictures::wait(const VolumePicture& picture) {
    with_release([&] { live_.renderer.wait(picture.drawing); });
}

Image VolumePictures::read(const VolumePicture& picture) {
    return with_release([&] { return live_.renderer.read(picture.drawing); });
}

// `exchanging` must be held.
std::optional<std::uint64_t> VolumePictures::paused_at() const {
    if (!live_.pause) return {};
    return live_.pause->serial;
}

// Calls `read` with the ring's slots and reports the outcome to the ring. `exchanging` must be held.
template <class Read>
auto VolumePictures::with_ticket(std::optional<std::uint64_t> serial, const Read& read) {
    live_.require_built();
    const std::optional<ReadTicket> ticket = live_.ring->acquire_read(serial);
    std::optional<decltype(read(std::declval<Reading&>()))> result;
    if (!ticket) return result;
    Reading reading{*ticket};
    try {
        result = read(reading);
    } catch (...) {
        live_.ring->abandon(*ticket);
        throw;
    }
    if (!reading.submitted)
        live_.ring->abandon(*ticket);
    else if (reading.is_copy)
        live_.ring->copied(*ticket);
    else
        live_.ring->submitted(*ticket);
    return result;
}

template <class Read>
auto VolumePictures::read_ring(const Read& read) {
    return with_release([&] {
        const std::scoped_lock lock(live_.exchanging);
        return with_ticket(paused_at(), read);
    });
}

// Like read_ring(), but returns std::nullopt instead of waiting while the members of the ring are being replaced.
template <class Read>
auto VolumePictures::try_read_ring(const Read& read) {
    return with_release([&] {
        const std::unique_lock lock(live_.exchanging, std::try_to_lock);
        using Result = decltype(with_ticket({}, read));
        return lock.owns_lock() ? with_ticket(paused_at(), read) : Result{};
    });
}

void VolumePictures::set_heights(const HeightMaps& maps) {
    with_release([&] {
        const std::scoped_lock lock(live_.exchanging);
        live_.renderer.set_heights(maps);
        live_.has_heights = !maps.empty();
    });
}

bool VolumePictures::has_flow() const {
    const std::unique_lock lock(live_.exchanging, std::try_to_lock);
    return lock.owns_lock() && live_.flow_grid.has_value();
}

// Uses a separate read ticket: colours follow a volume after its first picture.
void VolumePictures::look_at_flow() {
    try_read_ring([&](Reading& reading) {
        live_.renderer.look_at_flow(reading.slots());
        return true;
    });
}

std::optional<FlowScale> VolumePictures::flow_scale(const View& view) {
    const std::unique_lock lock(live_.exchanging, std::try_to_lock);
    return lock.owns_lock() && live_.slots ? live_.renderer.flow_scale(view) : std::nullopt;
}

std::optional<VolumePicture> VolumePictures::picture(const View& view) {
    if (has_flow()) look_at_flow();
    return read_ring([&](Reading& reading) {
        const ReadTicket::Part& newest = reading.ticket.newest;
        return VolumePicture{live_.renderer.draw(view, reading.slots()), newest.stamp, newest.filled_to,
                             reading.is_whole(live_.grid)};
    });
}

ComingVolume VolumePictures::coming_of(Reading& reading) {
    reading.is_copy = true;
    const ReadTicket::Part& newest = reading.ticket.newest;
    return {{newest.stamp, newest.filled_to, live_.grid, {}, live_.plan.spec},
            [this, voxels = live_.renderer.copy_slot(reading.slots())] { return with_release(voxels); }};
}

std::optional<ComingVolume> VolumePictures::begin_reading_volume() {
    return read_ring([&](Reading& reading) { return coming_of(reading); });
}

std::optional<ComingVolume> VolumePictures::begin_reading_kept(const KeptHold& hold, std::uint64_t serial) {
    return with_release([&] {
        const std::scoped_lock lock(live_.exchanging);
        if (!hold.is_of(live_.ring))
            throw Error(ErrorCode::output, "are gone, since volumes have taken another shape", "kept volumes",
                        "save them before such settings change");
        return with_ticket(serial, [&](Reading& reading) { return coming_of(reading); });
    });
}

std::shared_ptr<const KeptHold> VolumePictures::hold_kept() {
    const std::scoped_lock lock(live_.exchanging);
    return live_.ring ? std::make_shared<const KeptHold>(live_.ring) : nullptr;
}

bool VolumePictures::pause_at(std::uint64_t serial) {
    const std::scoped_lock lock(live_.exchanging);
    if (!live_.ring) return false;
    Pause pause{live_.pause ? live_.pause->hold : std::make_shared<const KeptHold>(live_.ring), serial};
    const std::vector<KeptVolume> kept = live_.ring->kept();
    if (std::ranges::find(kept, serial, &KeptVolume::serial) == kept.end()) return false;
    live_.pause = std::move(pause);
    return true;
}

void VolumePictures::resume() {
    const std::scoped_lock lock(live_.exchanging);
    live_.pause.reset();
}

KeptVolumes VolumePictures::kept() const {
    const std::scoped_lock lock(live_.exchanging);
    if (!live_.ring) return {};
    return {live_.ring->kept(), live_.ring->statistics().max_kept, paused_at(), live_.grid};
}

PlanInUse VolumePictures::plan_in_use() const {
    const std::scoped_lock lock(live_.exchanging);
    return live_.plan;
}

std::optional<Image> VolumePictures::still(const View& view) {
    return read_ring([&](Reading& reading) { return live_.renderer.render(view, reading.slots()); });
}

std::optional<ReadVolume> VolumePictures::read_volume() {
    std::optional<ComingVolume> coming = begin_reading_volume();
    if (!coming) return {};
    coming->volume.voxels = coming->voxels();
    return std::move(coming->volume);
}

std::optional<ShownVolume> VolumePictures::shown() {
    return try_read_ring([&](const Reading& reading) {
        const ReadTicket::Part& newest = reading.ticket.newest;
        return ShownVolume{.stamp = newest.stamp,
                           .is_whole = reading.is_whole(live_.grid),
                           .grid = live_.grid,
                           .flow_grid = live_.flow_grid,
                           .generation = live_.generation,
                           .is_paused = live_.pause.has_value(),
                           .serial = newest.serial,
                           .filled_to = newest.filled_to};
    });
}

std::optional<FollowedVolume> VolumePictures::follow(const View& view, double now_s, std::size_t pane) {
    if (has_flow()) look_at_flow();
    return try_read_ring([&](Reading& reading) {
        View now_drawn = view;
        // The shape of the volume has changed, and its heights will be set with the next update.
        if (has_height_maps(view) && !live_.has_heights) now_drawn.heights_cut = false;
        const ReadTicket::Part& newest = reading.ticket.newest;
        return FollowedVolume{live_.renderer.follow(now_drawn, now_s, pane, reading.slots()), newest.stamp,
                              reading.is_whole(live_.grid)};
    });
}

std::optional<Probe> VolumePictures::probe(const View& view, std::int64_t x, std::int64_t y) {
    return try_read_ring([&](Reading& reading) { return live_.renderer.probe(view, x, y, reading.slots()); })
        .value_or(std::nullopt);
}

std::optional<PlaneHistogram> VolumePictures::plane_histogram(const View& view) {
    return try_read_ring([&](Reading& reading) { return live_.renderer.plane_histogram(view, reading.slots()); })
        .value_or(std::nullopt);
}

std::optional<Histogram> VolumePictures::histogram() {
    return try_read_ring([&](Reading& reading) { return live_.renderer.histogram(reading.slots()); })
        .value_or(std::nullopt);
}

}  // namespace echolux
