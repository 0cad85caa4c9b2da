// How a number lies along the control that it is dragged on: evenly, by decades where its range spans several, or
// evenly around zero and by decades far from it. What is dragged to is a round number.
#pragma once

#include "compute/plan/describe.h"

namespace echolux {

class NumberScale {
  public:
    enum class Kind { even, decades, signed_decades };

    // `range` with low < high; decades want low > 0.
    NumberScale(Kind kind, ValueRange range, bool is_whole);

    double place_of(double value) const;  // 0: at range().low, 1: at range().high; beyond them beyond
    double resolution_at(double value) const;

    // Kept inside, and rounded to a round number, to a part `fineness` of the resolution.
    double value_at(double place, double fineness = 1) const;

    Kind kind() const { return kind_; }
    const ValueRange& range() const { return range_; }

  private:
    double bent(double value) const;
    double straight(double bent) const;

    Kind kind_;
    ValueRange range_;
    bool is_whole_;
};

// For a number with this range: by decades where it spans more than two of them.
NumberScale scale_for(ValueRange range, bool is_whole);

// `range` cut to the range of the field, and widened so that `value` is on it.
ValueRange fitting(const FieldText& field, ValueRange range, double value);

}  // namespace echolux
