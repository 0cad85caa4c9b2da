// Animated views: values of described fields at key times, with smooth interpolation.
//
// Numbers and the elements of lists follow a monotone cubic (F. N. Fritsch, J. Butland, SIAM J. Sci. Stat. Comput.
// 5(2), 1984). It passes through every key, never leaves the interval between two neighbouring keys, has a continuous
// rate of change, and is at rest before the first and after the last key. Keys may use another interpolation, see Ease.
// Angles are numbers, so two turns are 720 degrees. Values without intermediate states change at their key: choices,
// flags, texts, lists of different lengths, automatic ranges.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/plan/describe.h"
#include "render/view/view.h"

namespace echolux {

// Interpolation from a key to the next one: smooth; linear; hold: constant until the next key; rest: smooth with zero
// speed at the key.
enum class Ease { smooth, linear, hold, rest };
inline constexpr std::array<std::string_view, 4> ease_names{"smooth", "linear", "hold", "rest"};

// Values of one field over time.
class Track {
  public:
    // `keys` must not be empty, with ascending times and values of the same type. Keys without an ease are smooth.
    explicit Track(std::vector<std::pair<double, Value>> keys, std::vector<Ease> eases = {});

    // Returns the value at a time; constant before the first and after the last key.
    Value at(double time_s) const;

  private:
    std::vector<std::pair<double, Value>> keys_;
    std::vector<Ease> eases_;  // one per key
    bool is_smooth_ = false;
};

class KeyFrames {
  public:
    // Adds checked values by the names of the view's fields. Throws Error{bad_setting} unless the time is later than
    // all before.
    void add(double time_s, const std::map<std::string, Value>& values, const std::string& where = "time_s",
             Ease ease = Ease::smooth);

    // Returns `view` with the animated fields at a time. Fields without keys are unchanged.
    View at(View view, double time_s) const;

    double first_s() const { return times_s_.empty() ? 0 : times_s_.front(); }
    double last_s() const { return times_s_.empty() ? 0 : times_s_.back(); }

  private:
    std::vector<double> times_s_;
    struct Keys {
        std::vector<std::pair<double, Value>> values;
        std::vector<Ease> eases;
    };
    std::map<std::string, Keys> keys_;
};

}  // namespace echolux
