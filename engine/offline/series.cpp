#include "engine/offline/series.h"

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "compute/error.h"
#include "engine/scan/time_points.h"

namespace echolux {

StepsAhead::StepsAhead(std::int64_t steps, std::int64_t budget_bytes, Make make,
                       std::optional<std::pair<std::int64_t, Step>> first, CanMake can_make, std::int64_t step_bytes)
    : steps_(steps), budget_bytes_(budget_bytes), make_(std::move(make)),
      can_make_(std::move(can_make)), round_{0, steps}, step_bytes_(step_bytes) {
    if (first) {
        bytes_ = first->second.bytes;
        step_bytes_ = std::max(step_bytes_, bytes_);
        wanted_ = first->first;
        made_.insert(std::move(*first));
    }
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

StepsAhead::~StepsAhead() = default;

void StepsAhead::want(std::int64_t step, int direction, Interval round) {
    const std::scoped_lock lock(mutex_);
    wanted_ = std::clamp<std::int64_t>(step, 0, steps_ - 1);
    direction_ = direction < 0 ? -1 : 1;
    round_ = {std::max<std::int64_t>(round.begin, 0), std::min(round.end, steps_)};
    if (wanted_ < round_.begin || wanted_ >= round_.end) round_ = {0, steps_};
    changed_.notify_all();
}

std::optional<std::shared_ptr<const void>> StepsAhead::find(std::int64_t step) const {
    const std::scoped_lock lock(mutex_);
    const auto found = made_.find(step);
    if (found == made_.end()) return {};
    return found->second.what;
}

std::vector<Interval> StepsAhead::ready() const {
    const std::scoped_lock lock(mutex_);
    std::vector<Interval> ready;
    for (const auto& [number, step] : made_) {
        if (!step.what) continue;
        if (ready.empty() || ready.back().end != number) ready.push_back({number, number});
        ready.back().end = number + 1;
    }
    return ready;
}

std::int64_t StepsAhead::bytes() const {
    const std::scoped_lock lock(mutex_);
    return bytes_;
}

void StepsAhead::release_later(std::shared_ptr<const void> what) {
    const std::scoped_lock lock(mutex_);
    discarded_.push_back(std::move(what));
    changed_.notify_all();
}

std::vector<std::string> StepsAhead::take_problems() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(problems_, {});
}

void StepsAhead::work(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        std::unique_lock lock(mutex_);
        std::optional<std::int64_t> step;
        changed_.wait(lock, stop, [&] { return (step = next()).has_value() || !discarded_.empty(); });
        if (step) make_room(*step);
        Discarded discarded = std::exchange(discarded_, {});
        lock.unlock();
        discarded.clear();
        if (step && !stop.stop_requested()) make(*step);
    }
}

// Returns how many steps after the wanted one this step is due. Steps outside the loop come last.
std::int64_t StepsAhead::steps_ahead(std::int64_t step) const {
    if (step < round_.begin || step >= round_.end) return steps_;
    const std::int64_t length = round_.end - round_.begin;
    return ((step - wanted_) * direction_ + length) % length;
}

// Returns the first step that is missing, can be made, and fits in addition to those due earlier.
std::optional<std::int64_t> StepsAhead::next() const {
    const std::int64_t length = round_.end - round_.begin;
    std::int64_t earlier_bytes = 0;
    for (std::int64_t ahead = 0; ahead < length; ++ahead) {
        if (ahead > 0 && earlier_bytes + step_bytes_ > budget_bytes_) return {};
        const std::int64_t from_begin = (wanted_ - round_.begin + direction_ * ahead + length) % length;
        const std::int64_t step = round_.begin + from_begin;
        const auto found = made_.find(step);
        if (found != made_.end())
            earlier_bytes += found->second.bytes;
        else if (!can_make_ || can_make_(step))
            return step;
    }
    return {};
}

// Releases steps that are due after `step`, the farthest first.
void StepsAhead::make_room(std::int64_t step) {
    const std::int64_t ahead = steps_ahead(step);
    while (bytes_ + step_bytes_ > budget_bytes_) {
        auto farthest = made_.end();
        for (auto it = made_.begin(); it != made_.end(); ++it) {
            if (!it->second.what || steps_ahead(it->first) <= ahead) continue;
            if (farthest == made_.end() || steps_ahead(it->first) > steps_ahead(farthest->first)) farthest = it;
        }
        if (farthest == made_.end()) return;
        bytes_ -= farthest->second.bytes;
        discarded_.push_back(std::move(farthest->second.what));
        made_.erase(farthest);
    }
}

void StepsAhead::make(std::int64_t step) {
    Step made;
    std::string problem;
    try {
        made = make_(step);
    } catch (const Error& error) {
        problem = error.line();
    } catch (const std::exception& error) {
        problem = error.what();
    }
    const std::scoped_lock lock(mutex_);
    bytes_ += made.bytes;
    step_bytes_ = std::max(step_bytes_, made.bytes);
    const bool is_there = made.what != nullptr;
    made_[step] = std::move(made);
    if (!is_there && reported_.insert(problem).second)
        problems_.push_back(fmt::format("time point {}: {}", step + 1, problem));
}

struct Series::Parts {
    Parts(const std::filesystem::path& path, const SeriesBudget& budget) : points(path) {
        if (points.reads_boxes() && points.grid().bytes() > budget.bytes) return;
        Volume first_volume = first_that_can_be_read();
        ahead = std::make_unique<ReadAhead>(points.count(), budget.bytes, std::pair(first, std::move(first_volume)),
                                            [this](std::int64_t step) { return points.read(step); });
    }

    Volume first_that_can_be_read() {
        std::exception_ptr problem;
        for (; first < points.count(); ++first) {
            try {
                return points.read(first);
            } catch (const Error& error) {
                if (error.code() != ErrorCode::bad_file) throw;
                if (!problem) problem = std::current_exception();
            }
        }
        std::rethrow_exception(problem);
    }

    const TimePoints points;
    std::int64_t first = 0;
    std::unique_ptr<ReadAhead> ahead;  // null if volumes are read in boxes
};

Series::Series(const std::filesystem::path& path, const SeriesBudget& budget)
    : parts_(std::make_unique<Parts>(path, budget)) {}

Series::~Series() = default;

std::int64_t Series::steps() const {
    return parts_->points.count();
}

double Series::step_s() const {
    return parts_->points.step_s();
}

std::string Series::name() const {
    return parts_->points.name();
}

std::int64_t Series::first_ready() const {
    return parts_->first;
}

void Series::want(std::int64_t step, int direction, std::int64_t first, std::int64_t last) {
    if (parts_->ahead) parts_->ahead->want(step, direction, {first, last + 1});
}

std::optional<std::shared_ptr<const Volume>> Series::volume(std::int64_t step) const {
    return parts_->ahead ? parts_->ahead->volume(step) : std::nullopt;
}

std::shared_ptr<const Volume> Series::read(std::int64_t step) const {
    const auto there = volume(step);
    return there && *there ? *there : std::make_shared<const Volume>(parts_->points.read(step));
}

std::vector<Interval> Series::ready() const {
    return parts_->ahead ? parts_->ahead->ready() : std::vector<Interval>{};
}

std::vector<std::string> Series::take_problems() {
    return parts_->ahead ? parts_->ahead->take_problems() : std::vector<std::string>{};
}

bool Series::is_in_boxes() const {
    return parts_->ahead == nullptr;
}

std::vector<VolumeGrid> Series::levels(std::int64_t step) const {
    return parts_->points.levels(step);
}

std::vector<std::byte> Series::read_box(std::int64_t step, std::size_t level, const VolumeBox& box) const {
    return parts_->points.read_box(step, level, box);
}

}  // namespace echolux
