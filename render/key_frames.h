// A view that moves: values of described fields at moments, and smooth curves between them.
//
// Numbers, and lists element by element, follow a monotone cubic (F. N. Fritsch, J. Butland, SIAM J. Sci. Stat. Comput.
// 5(2), 1984): through every key, never beyond two neighbouring ones, with a continuous rate of change, at rest before
// the first key and after the last. A key may be eased otherwise: see Ease. Angles are numbers, so that two turns are
// 720 degrees. What has nothing in between (choices, flags, texts, lists of different lengths, ranges that are left
// open) changes at its key.
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

// How a value goes on from a key: smoothly; evenly to the next one; not before the next one; or smoothly from rest, so
// that it stops at the key.
enum class Ease { smooth, linear, hold, rest };
inline constexpr std::array<std::string_view, 4> ease_names{"smooth", "linear", "hold", "rest"};

// One field's values over time.
class Track {
  public:
    // `values` are of one type; times ascend. Not empty. Keys without an ease are smooth.
    explicit Track(std::vector<std::pair<double, Value>> keys, std::vector<Ease> eases = {});

    Value at(double time_s) const;

  private:
    std::vector<std::pair<double, Value>> keys_;
    std::vector<Ease> eases_;  // one a key
    bool is_smooth_ = false;
};

class KeyFrames {
  public:
    // Values that were checked, by the names of the view's fields. Throws Error{bad_setting} for a time that does not
    // come after those before it.
    void add(double time_s, const std::map<std::string, Value>& values, const std::string& where = "time_s",
             Ease ease = Ease::smooth);

    // Fields that no key names stay those of `view`.
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
