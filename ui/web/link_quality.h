// How many pictures may be in flight to a viewer, and how good they are, by how long each takes until the viewer
// acknowledges it. What exceeds the shortest time seen lately is spent in queues: of the pictures under way so many
// wait there, and one or two are enough to keep the link busy (as TCP Vegas holds its window, L. S. Brakmo and
// L. L. Peterson, 1995). Where they wait long, multiplicative decrease (D.-M. Chiu and R. Jain, 1989). The caller
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
    int level() const { return level_; }

    void sent(std::uint32_t picture, double now_s) { under_way_.push_back({picture, now_s}); }

    // All up to this one.
    void shown(std::uint32_t picture, double now_s) {
        double took_s = -1;
        while (!under_way_.empty() && static_cast<std::int32_t>(picture - under_way_.front().picture) >= 0) {
            took_s = now_s - under_way_.front().at_s;
            under_way_.pop_front();
        }
        if (took_s >= 0) learn(took_s, now_s);
    }

    void forget() { under_way_.clear(); }

  private:
    struct Sent {
        std::uint32_t picture;
        double at_s;
    };

    static constexpr double forgets_s = 10;     // the shortest
    static constexpr double few = 1, many = 2;  // pictures that wait somewhere
    static constexpr double queues_s = 0.12;    // beyond the shortest
    static constexpr double worse_after_s = 0.5, better_after_s = 4;
    static constexpr int worst_level = 3;

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
