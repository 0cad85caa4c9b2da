// What files of transfer functions have in common: colours and extinctions at values of their own, put together.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "render/view/curve.h"

namespace echolux {

// Numbers in rows: a value, then what holds there. `row` of them a point.
struct PointList {
    std::span<const double> numbers;
    std::size_t row = 0;
    std::string where;  // file and key

    std::size_t size() const { return numbers.size() / row; }
    double value(std::size_t point) const { return numbers[point * row]; }

    // Column `column` at a value: linear between points, constant beyond them.
    double at(double value, std::size_t column) const;
};

// `colours` are (value, red, green, blue), `extinctions` (value, extinction), `roughness`, which may be empty, (value,
// roughness). Throws Error{bad_setting} for rows that are not whole, fewer than two, not finite, not ascending, colours
// beyond 0 .. 1, extinctions below 0 or roughness beyond 0.05 .. 1.
std::vector<TransferNode> joined(const PointList& colours, const PointList& extinctions,
                                 const PointList& roughness = {});

// Throws Error{bad_setting} unless there are at least `least` whole rows of finite numbers at ascending values.
void check_rows(const PointList& list, std::size_t least);

}  // namespace echolux
