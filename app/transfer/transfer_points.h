// Common part of transfer function files: combines colours and extinctions given at separate values.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "render/view/curve.h"

namespace echolux {

// Rows of `row` numbers: a value, followed by the data at that value.
struct PointList {
    std::span<const double> numbers;
    std::size_t row = 0;
    std::string where;  // file and key

    std::size_t size() const { return numbers.size() / row; }
    double value(std::size_t point) const { return numbers[point * row]; }

    // Returns column `column` at a value: linear between points, constant beyond them.
    double at(double value, std::size_t column) const;
};

// Combines `colours` (value, red, green, blue), `extinctions` (value, extinction) and the optional `roughness` (value,
// roughness). Throws Error{bad_setting} for incomplete rows, fewer than two rows, values that are not finite or not
// ascending, colours outside 0 .. 1, extinctions below 0, and roughness outside 0.05 .. 1.
std::vector<TransferNode> joined(const PointList& colours, const PointList& extinctions,
                                 const PointList& roughness = {});

// Throws Error{bad_setting} unless there are at least `least` complete rows of finite numbers at ascending values.
void check_rows(const PointList& list, std::size_t least);

}  // namespace echolux
