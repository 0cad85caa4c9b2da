#include "app/viewer/timeline.h"

#include <algorithm>
#include <utility>

namespace echolux {

namespace {

constexpr double unknown_step_s = 0.1;                 // ten volumes per second if a file states no times
constexpr double min_step_s = 1e-6, max_step_s = 1e6;  // accepted time steps
constexpr double max_passed = 1e15;                    // maximum number of steps between two updates
constexpr double slowest = 0.05, fastest = 50;         // speed of playback relative to the recording
constexpr std::size_t lately = 32;                     // number of shown steps used for the rate

std::int64_t round_modulo(std::int64_t value, std::int64_t by) {
    return (value % by + by) % by;
}

}  // namespace

Timeline::Timeline(std::int64_t steps, double step_s)
    : steps_(std::max<std::int64_t>(steps, 1)), has_times_(step_s >= min_step_s && step_s <= max_step_s),
      step_s_(has_times_ ? step_s : unknown_step_s), last_(steps_ - 1) {}

std::int64_t Timeline::waiting() const {
    return std::min(turn_ - seen_, last_ - first_ + 1);
}

std::int64_t Timeline::step_ago(std::int64_t turns) const {
    if (step_ < first_ || step_ > last_) return std::max<std::int64_t>(step_ - turns, 0);
    return first_ + round_modulo(step_ - turns - first_, last_ - first_ + 1);
}

double Timeline::shown_per_s() const {
    if (!plays_ || shown_at_s_.size() < 2) return 0;
    const double seconds = shown_at_s_.back() - shown_at_s_.front();
    return seconds > 0 ? static_cast<double>(shown_at_s_.size() - 1) / seconds : 0;
}

void Timeline::set_ends(std::int64_t first, std::int64_t last) {
    const auto inside = [this](std::int64_t step) { return std::clamp<std::int64_t>(step, 0, steps_ - 1); };
    first_ = inside(std::min(first, last));
    last_ = inside(std::max(first, last));
    restart();
}

void Timeline::set_speed(double speed, double now_s) {
    if (!(speed > 0)) return;
    const double before = std::exchange(speed_, std::clamp(speed, slowest, fastest));
    if (due_s_) due_s_ = now_s + (*due_s_ - now_s) * before / speed_;
}

void Timeline::play(double now_s) {
    if (first_ == last_) return;
    if (step_ < first_ || step_ >= last_) step_ = first_;
    plays_ = true;
    left_out_ = 0;
    shown_at_s_.clear();
    restart();
    due_s_ = now_s + interval_s();
}

void Timeline::go_to(std::int64_t step) {
    step_ = std::clamp<std::int64_t>(step, 0, steps_ - 1);
    restart();
}

void Timeline::step_by(std::int64_t steps) {
    pause();
    const bool wraps = loops_ && step_ >= first_ && step_ <= last_;
    go_to(wraps ? first_ + round_modulo(step_ + steps - first_, last_ - first_ + 1) : step_ + steps);
}

// Steps before this moment are not counted as skipped: the user jumped in time.
void Timeline::restart() {
    due_s_.reset();
    seen_ = turn_ - (shown_ == step_ ? 0 : 1);
}

void Timeline::advance(double now_s) {
    if (!plays_) return;
    if (!due_s_) due_s_ = now_s + interval_s();
    if (now_s < *due_s_) return;
    const auto passed = static_cast<std::int64_t>(std::min((now_s - *due_s_) / interval_s(), max_passed)) + 1;
    *due_s_ += static_cast<double>(passed) * interval_s();
    const std::int64_t from = std::min(step_, last_);
    const bool ends = !loops_ && from + passed >= last_;
    turn_ += ends ? last_ - from : passed;
    step_ = ends                     ? last_
            : from + passed <= last_ ? from + passed
                                     : first_ + (from + passed - first_) % (last_ - first_ + 1);
    plays_ = !ends;
}

// Number of turns since it was that step's turn.
std::int64_t Timeline::turns_since(std::int64_t step) const {
    const bool wraps = loops_ && step > step_ && step >= first_ && step <= last_;
    return step_ - step + (wraps ? last_ - first_ + 1 : 0);
}

// Pictures arrive in order, so steps between the turns of two pictures were never shown.
void Timeline::note_shown(std::int64_t step, double now_s) {
    shown_ = step;
    const std::int64_t turn = turn_ - turns_since(step);
    if (turn > turn_ || turn <= seen_) return;
    left_out_ += turn - seen_ - 1;
    seen_ = turn;
    shown_at_s_.push_back(now_s);
    if (shown_at_s_.size() > lately) shown_at_s_.pop_front();
}

}  // namespace echolux
