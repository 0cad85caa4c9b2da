#include "app/stage/kept_time.h"

#include <algorithm>
#include <utility>

#include "compute/error.h"

namespace echolux {

KeptTime::~KeptTime() {
    for (const std::weak_ptr<KeptReading>& one : readings_) {
        if (const std::shared_ptr<KeptReading> reading = one.lock())
            reading->fail(Error(ErrorCode::device, "was closed before all of its volumes arrived", "kept volumes"));
    }
}

void KeptTime::update(const Bring& bring) {
    now_ = path_.kept();
    std::erase_if(readings_, [](const auto& one) { return one.expired(); });
    for (const std::weak_ptr<KeptReading>& one : readings_) {
        if (const std::shared_ptr<KeptReading> reading = one.lock()) serve(*reading, bring);
    }
}

void KeptTime::serve(KeptReading& reading, const Bring& bring) {
    const std::optional<std::uint64_t> serial = reading.wanted();
    if (!serial) return;
    try {
        if (std::optional<ComingVolume> coming = path_.begin_reading_kept(reading.hold(), *serial))
            reading.bring(bring(std::move(*coming)));
    } catch (const Error& error) {
        reading.fail(error);
        if (error.code() == ErrorCode::device) throw;
    }
}

double KeptTime::seconds() const {
    if (volumes().empty()) return 0;
    return volumes().back().stamp.time_s - volumes().front().stamp.time_s;
}

std::int64_t KeptTime::step() const {
    const std::int64_t last = std::ssize(volumes()) - 1;
    if (!now_.shown) return last;
    const auto found = std::ranges::find(volumes(), *now_.shown, &KeptVolume::serial);
    return found == volumes().end() ? last : found - volumes().begin();
}

double KeptTime::ago_s() const {
    if (volumes().empty()) return 0;
    return volumes().back().stamp.time_s - volumes()[static_cast<std::size_t>(step())].stamp.time_s;
}

void KeptTime::pause() {
    go_to(step());
}

void KeptTime::resume() {
    path_.resume();
    now_ = path_.kept();
}

// The list may have changed since the last update. If the requested volume is gone, the next one is shown.
void KeptTime::go_to(std::int64_t step) {
    if (volumes().empty()) return;
    const std::int64_t last = std::ssize(volumes()) - 1;
    const std::uint64_t meant = volumes()[static_cast<std::size_t>(std::clamp<std::int64_t>(step, 0, last))].serial;
    const std::shared_ptr<const KeptHold> hold = path_.hold_kept();
    now_ = path_.kept();
    const auto next = std::ranges::lower_bound(volumes(), meant, {}, &KeptVolume::serial);
    if (next != volumes().end()) path_.pause_at(next->serial);
    now_ = path_.kept();
}

void KeptTime::step_by(std::int64_t steps) {
    go_to(step() + steps);
}

std::shared_ptr<KeptReading> KeptTime::read(double seconds, std::map<std::string, std::string> provenance,
                                            std::uint64_t plan) {
    std::shared_ptr<const KeptHold> hold = path_.hold_kept();
    if (!hold) return nullptr;
    now_ = path_.kept();
    if (now_.volumes.empty()) return nullptr;
    const auto reading = std::make_shared<KeptReading>(
        KeptSeries{last_of(now_.volumes, seconds), now_.grid, std::move(provenance), plan}, std::move(hold));
    readings_.push_back(reading);
    return reading;
}

}  // namespace echolux
