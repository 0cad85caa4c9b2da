// How a number lies along the control that it is dragged on: evenly, by decades where its range spans several, or
// evenly around zero and by decades far from it. What is dragged to is a round number.
#pragma once

#include "compute/plan/describe.h"

namespace echolux {

// The part of a field's range that a control covers.
struct Reach {
    double low = 0;
    double high = 1;

    bool operator==(const Reach&) const = default;
};

class NumberScale {
  public:
    enum class Kind { even, decades, signed_decades };

    // `reach` with low < high; decades want low > 0.
    NumberScale(Kind kind, Reach reach, bool is_whole);

    double place_of(double value) const;  // 0: at reach().low, 1: at reach().high; beyond them beyond
    double resolution_at(double value) const;

    // Kept inside, and rounded as a person would, to a part `fineness` of the resolution.
    double value_at(double place, double fineness = 1) const;

    Kind kind() const { return kind_; }
    const Reach& reach() const { return reach_; }

  private:
    double bent(double value) const;
    double straight(double bent) const;

    Kind kind_;
    Reach reach_;
    bool is_whole_;
};

// For a number with this range: by decades where it spans more than two of them.
NumberScale scale_for(Reach reach, bool is_whole);

// `reach` cut to the range of the field, and widened so that `value` is on it.
Reach fitting(const FieldText& field, Reach reach, double value);

}  // namespace echolux
