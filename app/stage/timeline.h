// Which time point of a recording is to be shown: playing, stepping, looping between two ends. Only thinks: whoever
// shows asks when what is due, and says what was shown, so that what was left out is counted.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace echolux {

class Timeline {
  public:
    // `step_s`: time between two steps as they were recorded, 1e-6 to 1e6; all else: unknown, played as 10 a second. At
    // least one step.
    Timeline(std::int64_t steps, double step_s);

    std::int64_t steps() const { return steps_; }
    double step_s() const { return step_s_; }            // never 0
    bool has_times() const { return has_times_; }        // whether that is known
    std::int64_t step() const { return step_; }          // that ought to be shown
    std::int64_t shown() const { return shown_; }        // that was shown last; -1: none yet
    std::int64_t left_out() const { return left_out_; }  // while playing, since play()
    std::int64_t waiting() const;                        // steps since the one that was shown last whose turn has come
    std::int64_t step_ago(std::int64_t turns) const;     // whose turn it was so many turns before step(), in a round
    double shown_per_s() const;                          // while playing, lately

    // Where playing begins and ends, both inclusive.
    std::int64_t first() const { return first_; }
    std::int64_t last() const { return last_; }
    void set_ends(std::int64_t first, std::int64_t last);  // kept in order and inside

    bool plays() const { return plays_; }
    bool loops() const { return loops_; }
    double speed() const { return speed_; }  // 1: as recorded; 0.05 to 50
    void set_loops(bool loops) { loops_ = loops; }
    void set_speed(double speed, double now_s);

    void play(double now_s);
    void pause() { plays_ = false; }
    void go_to(std::int64_t step);     // kept inside; playing goes on from there
    void step_by(std::int64_t steps);  // pauses; goes round where it loops

    // Brings step() up to date.
    void advance(double now_s);

    // A picture of `step` is on the screen.
    void note_shown(std::int64_t step, double now_s);

  private:
    double interval_s() const { return step_s_ / speed_; }
    void begin_anew();
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
    std::optional<double> due_s_;    // when the step after step_ is; nothing: from the next advance() on
    std::int64_t turn_ = 0;          // counts the steps whose turn it was, step_ included
    std::int64_t seen_ = -1;         // turn of the step that was shown last
    std::deque<double> shown_at_s_;  // lately
};

}  // namespace echolux
