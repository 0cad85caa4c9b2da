// Time line: determines which time point of a recording to show, by playing, stepping and looping between two ends. It
// only computes. The caller asks which step is due and reports which one was shown, so that skipped steps can be
// counted.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace echolux {

class Timeline {
  public:
    // `step_s`: recorded interval between steps, 1e-6 to 1e6; other values mean unknown, played at 10 steps per second.
    // There must be at least one step.
    Timeline(std::int64_t steps, double step_s);

    std::int64_t steps() const { return steps_; }
    double step_s() const { return step_s_; }            // never 0
    bool has_times() const { return has_times_; }        // the interval is known
    std::int64_t step() const { return step_; }          // the step to show
    std::int64_t shown() const { return shown_; }        // last shown; -1: none yet
    std::int64_t left_out() const { return left_out_; }  // while playing, since play()
    std::int64_t waiting() const;                        // steps since the last one shown whose turn has come
    std::int64_t step_ago(std::int64_t turns) const;     // step with its turn this long before step()
    double shown_per_s() const;                          // while playing, recently

    // First and last step of playback, both inclusive.
    std::int64_t first() const { return first_; }
    std::int64_t last() const { return last_; }
    void set_ends(std::int64_t first, std::int64_t last);  // sorted and clamped

    bool plays() const { return plays_; }
    bool loops() const { return loops_; }
    double speed() const { return speed_; }  // with 1, as recorded; 0.05 to 50
    void set_loops(bool loops) { loops_ = loops; }
    void set_speed(double speed, double now_s);

    void play(double now_s);
    void pause() { plays_ = false; }
    void go_to(std::int64_t step);     // clamped; playing continues from there
    void step_by(std::int64_t steps);  // pauses; wraps around when looping

    // Updates step().
    void advance(double now_s);

    // Call when a picture of `step` is on the screen.
    void note_shown(std::int64_t step, double now_s);

  private:
    double interval_s() const { return step_s_ / speed_; }
    void restart();
    std::int64_t turns_since(std::int64_t step) const;

    std::int64_t steps_;
    bool has_times_;
    double step_s_;
    std::int64_t step_ = 0;
    std::int64_t shown_ = -1;
    std::int64_t left_out_ = 0;
    std::int64_t first_ = 0;
    std::int64_t last_;
    bool plays_ = false;
    bool loops_ = true;
    double speed_ = 1;
    std::optional<double> due_s_;    // when the next step is due; std::nullopt: at the next advance()
    std::int64_t turn_ = 0;          // counts the steps whose turn it was, including step_
    std::int64_t seen_ = -1;         // turn of the last step shown
    std::deque<double> shown_at_s_;  // recent
};

}  // namespace echolux
