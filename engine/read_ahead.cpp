#include "engine/read_ahead.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compute/error.h"

namespace echolux {
namespace {

std::int64_t bytes_of(const std::shared_ptr<const Volume>& volume) {
    return volume ? static_cast<std::int64_t>(volume->voxels.size()) : 0;
}

}  // namespace

ReadAhead::ReadAhead(std::int64_t steps, std::int64_t budget_bytes, Volume first, Read read)
    : steps_(steps), budget_bytes_(budget_bytes), read_(std::move(read)), round_{0, steps} {
    const auto& kept = volumes_[0] = std::make_shared<const Volume>(std::move(first));
    bytes_ = volume_bytes_ = bytes_of(kept);
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

ReadAhead::~ReadAhead() = default;

void ReadAhead::want(std::int64_t step, int direction, Interval round) {
    const std::scoped_lock lock(mutex_);
    wanted_ = std::clamp<std::int64_t>(step, 0, steps_ - 1);
    direction_ = direction < 0 ? -1 : 1;
    round_ = {std::max<std::int64_t>(round.begin, 0), std::min(round.end, steps_)};
    if (wanted_ < round_.begin || wanted_ >= round_.end) round_ = {0, steps_};
    changed_.notify_all();
}

std::optional<std::shared_ptr<const Volume>> ReadAhead::volume(std::int64_t step) const {
    const std::scoped_lock lock(mutex_);
    const auto found = volumes_.find(step);
    if (found == volumes_.end()) return {};
    return found->second;
}

std::vector<Interval> ReadAhead::ready() const {
    const std::scoped_lock lock(mutex_);
    std::vector<Interval> ready;
    for (const auto& [step, volume] : volumes_) {
        if (!volume) continue;
        if (ready.empty() || ready.back().end != step) ready.push_back({step, step});
        ready.back().end = step + 1;
    }
    return ready;
}

std::int64_t ReadAhead::bytes() const {
    const std::scoped_lock lock(mutex_);
    return bytes_;
}

std::vector<std::string> ReadAhead::take_problems() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(problems_, {});
}

void ReadAhead::work(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        std::unique_lock lock(mutex_);
        std::optional<std::int64_t> step;
        changed_.wait(lock, stop, [&] { return (step = begin_next()).has_value(); });
        lock.unlock();
        if (step && !stop.stop_requested()) read(*step);
    }
}

// How many steps after the wanted one its turn comes; those outside the round come last.
std::int64_t ReadAhead::steps_ahead(std::int64_t step) const {
    if (step < round_.begin || step >= round_.end) return steps_;
    const std::int64_t length = round_.end - round_.begin;
    return ((step - wanted_) * direction_ + length) % length;
}

// The first that is not there and fits beside those whose turn comes earlier; there is room for it then.
std::optional<std::int64_t> ReadAhead::begin_next() {
    const std::int64_t length = round_.end - round_.begin;
    std::int64_t earlier_bytes = 0;
    for (std::int64_t ahead = 0; ahead < length; ++ahead) {
        const std::int64_t from_begin = (wanted_ - round_.begin + direction_ * ahead + length) % length;
        const std::int64_t step = round_.begin + from_begin;
        const auto found = volumes_.find(step);
        if (found == volumes_.end()) {
            if (ahead > 0 && earlier_bytes + volume_bytes_ > budget_bytes_) return {};
            make_room(ahead);
            return step;
        }
        earlier_bytes += bytes_of(found->second);
    }
    return {};
}

// Lets go of what comes after so many steps, the farthest first.
void ReadAhead::make_room(std::int64_t ahead) {
    while (bytes_ + volume_bytes_ > budget_bytes_) {
        auto farthest = volumes_.end();
        for (auto it = volumes_.begin(); it != volumes_.end(); ++it) {
            if (!it->second || steps_ahead(it->first) <= ahead) continue;
            if (farthest == volumes_.end() || steps_ahead(it->first) > steps_ahead(farthest->first)) farthest = it;
        }
        if (farthest == volumes_.end()) return;
        bytes_ -= bytes_of(farthest->second);
        volumes_.erase(farthest);
    }
}

void ReadAhead::read(std::int64_t step) {
    std::shared_ptr<const Volume> volume;
    std::string problem;
    try {
        volume = std::make_shared<const Volume>(read_(step));
    } catch (const Error& error) {
        problem = error.line();
    } catch (const std::exception& error) {
        problem = error.what();
    }
    const std::scoped_lock lock(mutex_);
    volumes_[step] = volume;
    bytes_ += bytes_of(volume);
    volume_bytes_ = std::max(volume_bytes_, bytes_of(volume));
    if (!volume && said_.insert(problem).second)
        problems_.push_back(fmt::format("time point {}: {}", step + 1, problem));
}

}  // namespace echolux
