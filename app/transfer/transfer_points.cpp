#include "app/transfer/transfer_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/counted.h"
#include "compute/error.h"

namespace echolux {
namespace {

constexpr double least_of_roughness = 0.05;  // same limit as view.roughness

void check_columns(const PointList& list, double most, double least = 0) {
    for (std::size_t i = 0; i < list.numbers.size(); ++i) {
        const double number = list.numbers[i];
        if (i % list.row == 0 || (number >= least && number <= most)) continue;
        throw Error(ErrorCode::bad_setting,
                    fmt::format("{:g} is not between {:g} and {:g}, at the value {:g}", number, least, most,
                                list.value(i / list.row)),
                    list.where, "correct the number");
    }
}

}  // namespace

double PointList::at(double where_to, std::size_t column) const {
    std::size_t after = 0;
    while (after < size() && value(after) < where_to) ++after;
    const auto of = [&](std::size_t point) { return numbers[point * row + column]; };
    if (after == size()) return of(after - 1);
    if (after == 0 || value(after) == where_to) return of(after);
    const double part = (where_to - value(after - 1)) / (value(after) - value(after - 1));
    return std::lerp(of(after - 1), of(after), part);
}

void check_rows(const PointList& list, std::size_t least) {
    if (list.numbers.size() % list.row != 0) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("has {}, not a multiple of {}", counted(list.numbers.size(), "numbers"), list.row),
                    list.where, "each point has a value, then what holds there");
    }
    if (list.size() < least) {
        throw Error(ErrorCode::bad_setting, fmt::format("has {} of at least {}", list.size(), counted(least, "points")),
                    list.where, "add what is missing");
    }
    if (!std::ranges::all_of(list.numbers, [](double number) { return std::abs(number) <= highest_value; })) {
        throw Error(ErrorCode::bad_setting, "has a number that is not finite or beyond 1e12", list.where,
                    "correct the number");
    }
    for (std::size_t i = 1; i < list.size(); ++i) {
        if (list.value(i - 1) < list.value(i)) continue;
        throw Error(ErrorCode::bad_setting,
                    fmt::format("the value {:g} comes after {:g}", list.value(i), list.value(i - 1)), list.where,
                    "write the points in ascending order, each value once");
    }
}

std::vector<TransferNode> joined(const PointList& colours, const PointList& extinctions, const PointList& roughness) {
    const bool is_rough = !roughness.numbers.empty();
    check_rows(colours, 2);
    check_rows(extinctions, 2);
    check_columns(colours, 1);
    check_columns(extinctions, 1e6);
    if (is_rough) check_rows(roughness, 2);
    if (is_rough) check_columns(roughness, 1, least_of_roughness);
    std::vector<double> values;
    for (std::size_t i = 0; i < colours.size(); ++i) values.push_back(colours.value(i));
    for (std::size_t i = 0; i < extinctions.size(); ++i) values.push_back(extinctions.value(i));
    for (std::size_t i = 0; is_rough && i < roughness.size(); ++i) values.push_back(roughness.value(i));
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    std::vector<TransferNode> nodes;
    for (const double value : values) {
        nodes.push_back(
            {value, colours.at(value, 1), colours.at(value, 2), colours.at(value, 3), extinctions.at(value, 1)});
        if (is_rough) nodes.back().roughness = roughness.at(value, 1);
    }
    return nodes;
}

}  // namespace echolux
