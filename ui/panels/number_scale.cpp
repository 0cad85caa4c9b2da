#include "ui/panels/number_scale.h"
#include "compute/plan/describe.h"

#include <algorithm>
#include <cmath>

namespace echolux {
namespace {

constexpr double decades_from = 150;  // ratio of the limits from which the scale is logarithmic
constexpr double even_part = 1e-3;    // linear part around zero, relative to the range
constexpr double steps = 100;         // distinguishable positions along a control

// Rounds down to 1, 2 or 5 times a power of ten: 0.2, 0.5, 1, 2, 5 ...
double round_step(double size) {
    const double power = std::pow(10, std::floor(std::log10(size)));
    const double digit = size / power;
    return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

double farthest(const ValueRange& range) {
    return std::max(std::abs(range.low), std::abs(range.high));
}

}  // namespace

NumberScale::NumberScale(Kind kind, ValueRange range, bool is_whole)
    : kind_(kind), range_(range), is_whole_(is_whole) {}

// Maps a value to the axis on which the control is linear.
double NumberScale::bent(double value) const {
    switch (kind_) {
        case Kind::even: return value;
        case Kind::decades: return std::log(std::max(value, range_.low * 1e-3));
        case Kind::signed_decades: return std::asinh(value / (even_part * farthest(range_)));
    }
    return value;
}

double NumberScale::straight(double bent) const {
    switch (kind_) {
        case Kind::even: return bent;
        case Kind::decades: return std::exp(bent);
        case Kind::signed_decades: return std::sinh(bent) * even_part * farthest(range_);
    }
    return bent;
}

double NumberScale::place_of(double value) const {
    return (bent(value) - bent(range_.low)) / (bent(range_.high) - bent(range_.low));
}

// At most 1 % of the value on logarithmic scales.
double NumberScale::resolution_at(double value) const {
    if (is_whole_) return 1;
    const double all = range_.high - range_.low;
    if (kind_ == Kind::even) return round_step(all / steps);
    const double size = kind_ == Kind::decades ? range_.low : even_part * farthest(range_);
    return round_step(std::max(std::abs(value), size) / 100);
}

double NumberScale::value_at(double place, double fineness) const {
    const double value = straight(std::lerp(bent(range_.low), bent(range_.high), std::clamp(place, 0.0, 1.0)));
    const double step = is_whole_ ? 1 : fineness * resolution_at(value);
    return std::clamp(std::round(value / step) * step, range_.low, range_.high);
}

NumberScale scale_for(ValueRange range, bool is_whole) {
    using Kind = NumberScale::Kind;
    if (range.low > 0 && range.high / range.low >= decades_from) return {Kind::decades, range, is_whole};
    const bool has_zero = range.low <= 0 && range.high >= 0;
    return {has_zero && farthest(range) >= 1000 ? Kind::signed_decades : Kind::even, range, is_whole};
}

ValueRange fitting(const FieldText& field, ValueRange range, double value) {
    range = {std::max(range.low, field.low), std::min(range.high, field.high)};
    range = {std::min(range.low, value), std::max(range.high, value)};
    if (range.low < range.high) return range;
    return {field.low, std::max(field.high, field.low + 1)};
}

}  // namespace echolux
