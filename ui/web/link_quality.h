// Congestion control for pictures sent to a viewer: limits the pictures in flight and selects the quality level from
// the time until each picture is acknowledged.
//
// Delay beyond the shortest recent time is spent in queues. The number of pictures in queues is window * delay / time;
// one or two keep the connection busy, as in TCP Vegas (L. S. Brakmo and L. L. Peterson, 1995). Long delays shrink the
// window multiplicatively (D.-M. Chiu and R. Jain, 1989).
//
// Times are passed by the caller. Not thread-safe.
// passes the time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

namespace echolux {

class LinkQuality {
  public:
    bool may_send() const { return static_cast<double>(under_way_.size() + 1) <= window_; }
    bool is_empty() const { return under_way_.empty(); }
    // Quality level from 0 (best) to worst_level.
    int level() const { return level_; }

    void sent(std::uint32_t picture, double now_s) { under_way_.push_back({picture, now_s}); }

    // Acknowledges all pictures up to this one. The difference is signed because picture numbers wrap around.
    void shown(std::uint32_t picture, double now_s) {
        double took_s = -1;
        while (!under_way_.empty() && static_cast<std::int32_t>(picture - under_way_.front().picture) >= 0) {
            took_s = now_s - under_way_.front().at_s;
            under_way_.pop_front();
        }
        if (took_s >= 0) learn(took_s, now_s);
    }

    // Forgets pictures in flight, which a new stream never acknowledges.
    void forget() { under_way_.clear(); }

  private:
    struct Sent {
        std::uint32_t picture;
        double at_s;
    };

    static constexpr double forgets_s = 10;     // lifetime of the shortest time
    static constexpr double few = 1, many = 2;  // bounds for the number of pictures in queues
    static constexpr double queues_s = 0.12;    // delay that counts as congestion
    static constexpr double worse_after_s = 0.5, better_after_s = 4;
    static constexpr int worst_level = 3;

    // Updates window and level from one acknowledged picture. The level gets worse after 0.5 s of congestion and better
    // after 4 s without.
    void learn(double took_s, double now_s) {
        if (took_s <= shortest_s_ || now_s > shortest_at_s_ + forgets_s) {
            shortest_s_ = took_s;
            shortest_at_s_ = now_s;
        }
        const double late_s = took_s - shortest_s_;
        const double waiting = took_s > 0 ? window_ * late_s / took_s : 0;
        if (late_s > queues_s)
            window_ = std::max(1.0, 0.6 * window_);
        else if (waiting < few)
            window_ = std::min(16.0, window_ + 0.25);
        else if (waiting > many)
            window_ = std::max(2.0, window_ - 0.25);
        if (late_s > queues_s) {
            good_since_s_ = now_s;
            if (now_s > bad_since_s_ + worse_after_s) {
                level_ = std::min(worst_level, level_ + 1);
                bad_since_s_ = now_s;
            }
        } else {
            bad_since_s_ = now_s;
            if (now_s > good_since_s_ + better_after_s) {
                level_ = std::max(0, level_ - 1);
                good_since_s_ = now_s;
            }
        }
    }

    std::deque<Sent> under_way_;
    double window_ = 2;
    double shortest_s_ = 1e9, shortest_at_s_ = -1e9;
    double bad_since_s_ = 0, good_since_s_ = 0;
    int level_ = 0;
};

}  // namespace echolux
