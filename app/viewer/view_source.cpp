#include "app/viewer/view_source.h"

#include <atomic>
#include <chrono>

#include "compute/error.h"

namespace echolux {

// ---- The volume that the renderer shows

std::optional<Probe> ViewSource::probe(const View& view, std::int64_t x, std::int64_t y) {
    return grid() ? renderer_.probe(view, x, y) : std::nullopt;
}

std::optional<Histogram> ViewSource::histogram() {
    return grid() ? renderer_.histogram() : std::nullopt;
}

std::optional<PlaneHistogram> ViewSource::plane_histogram(const View& view) {
    return grid() ? renderer_.plane_histogram(view) : std::nullopt;
}

PendingVolume ViewSource::begin_reading() {
    if (!shows_derived()) return begin_reading_own();
    return [volume = derived_.shown->volume] { return volume; };
}

// ---- Derived volumes

std::uint64_t ViewSource::next_number() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

std::optional<VolumeRevision> ViewSource::revision_with(std::uint64_t news) const {
    const std::optional<VolumeStamp> shown = stamp();
    return shown ? std::optional(VolumeRevision{number_, shown->volume, shown->time_s, news}) : std::nullopt;
}

void ViewSource::show_derived(std::shared_ptr<const Volume> volume) {
    if (volume == derived_.wanted) return;
    derived_.wanted = std::move(volume);
    derived_.wanted_for = own_revision();
    if (!is_derived_coming()) begin_bringing();
}

void ViewSource::show_own() {
    derived_.wanted.reset();
    if (!shows_derived()) return;
    derived_.shown.reset();
    show_again();
    ++derived_.news;
}

// The derived volume determines its own value range, as the first volume of a series does, unless a range is chosen.
void ViewSource::begin_bringing() {
    derived_.bringing = derived_.wanted;
    derived_.coming = std::async(std::launch::async, [this, volume = derived_.wanted, chosen = chosen_range()] {
        return OnDevice{volume,
                        renderer_.prepare(voxels_in_memory(volume->grid, volume->voxels.data(), volume), chosen)};
    });
}

void ViewSource::receive_derived() {
    using namespace std::chrono_literals;
    if (!is_derived_coming() || derived_.coming.wait_for(0s) != std::future_status::ready) return;
    try {
        OnDevice came = derived_.coming.get();
        if (came.volume == derived_.wanted) {
            renderer_.show(came.prepared);
            derived_.shown = std::move(came);
            ++derived_.news;
        }
    } catch (const Error& error) {
        if (error.code() == ErrorCode::device) throw;
        derived_.problems.push_back(error.line());
    }
    const auto brought = std::exchange(derived_.bringing, nullptr);
    if (derived_.wanted && derived_.wanted != brought) begin_bringing();  // a later request
}

void ViewSource::update(double now_s) {
    update_own(now_s);
    if (derived_.wanted && own_revision() != derived_.wanted_for) {
        derived_.wanted.reset();
        if (shows_derived()) ++derived_.news;
        derived_.shown.reset();
    }
    receive_derived();
}

}  // namespace echolux
