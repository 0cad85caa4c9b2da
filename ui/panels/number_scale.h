// Maps a number to a position along its control: linear, logarithmic for ranges over several decades, or linear around
// zero and logarithmic far from it. Dragging yields round numbers.
#pragma once

#include "compute/plan/describe.h"

namespace echolux {

class NumberScale {
  public:
    enum class Kind { even, decades, signed_decades };

    // `range` must have low < high, and low > 0 for decades.
    NumberScale(Kind kind, ValueRange range, bool is_whole);

    double place_of(double value) const;       // 0 at range().low, 1 at range().high; may be outside 0 to 1
    double resolution_at(double value) const;  // step of a drag at this value

    // Returns the value at a position, clamped to the range and rounded to `fineness` times the resolution.
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

// Selects the scale for a range: logarithmic if it spans more than two decades.
NumberScale scale_for(ValueRange range, bool is_whole);

// Clips `range` to the limits of the field, then widens it to include `value`.
ValueRange fitting(const FieldText& field, ValueRange range, double value);

}  // namespace echolux
