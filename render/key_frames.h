// A view that moves: values of described fields at moments, and smooth curves between them.
//
// Numbers, and lists element by element, follow a monotone cubic (F. N. Fritsch, J. Butland, SIAM J. Sci. Stat. Comput.
// 5(2), 1984): through every key, never beyond two neighbouring ones, with a continuous rate of change, at rest before
// the first key and after the last. Angles are numbers, so that two turns are 720 degrees. What has nothing in between
// (choices, flags, texts, lists of different lengths, ranges that are left open) changes at its key.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compute/plan/describe.h"
#include "render/view/view.h"

namespace echolux {

// One field's values over time.
class Track {
  public:
    // `values` are of one type; times ascend. Not empty.
    explicit Track(std::vector<std::pair<double, Value>> keys);

    Value at(double time_s) const;

  private:
    std::vector<std::pair<double, Value>> keys_;
    bool is_smooth_ = false;
};

class KeyFrames {
  public:
    // Values that were checked, by the names of the view's fields. Throws Error{bad_setting} for a time that does not
    // come after those before it.
    void add(double time_s, const std::map<std::string, Value>& values, const std::string& where = "time_s");

    // Fields that no key names stay those of `view`.
    View at(View view, double time_s) const;

    double first_s() const { return times_s_.empty() ? 0 : times_s_.front(); }
    double last_s() const { return times_s_.empty() ? 0 : times_s_.back(); }

  private:
    std::vector<double> times_s_;
    std::map<std::string, std::vector<std::pair<double, Value>>> keys_;
};

}  // namespace echolux
