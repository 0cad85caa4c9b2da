#include "render/key_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"

namespace echolux {
namespace {

using Keys = std::vector<std::pair<double, Value>>;

// Returns the numbers of a value; a scalar is a list of one element. Empty for other types.
std::vector<double> parts_of(const Value& value) {
    if (const auto* number = std::get_if<double>(&value)) return {*number};
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return {static_cast<double>(*whole)};
    if (const auto* list = std::get_if<std::vector<double>>(&value)) return *list;
    return {};
}

Value value_like(const Value& like, std::vector<double> parts) {
    if (std::holds_alternative<double>(like)) return parts.front();
    if (std::holds_alternative<std::int64_t>(like)) return static_cast<std::int64_t>(std::llround(parts.front()));
    return parts;
}

// Returns true for numbers and lists of the same length without automatic (extreme) values.
bool can_be_smooth(const Keys& keys) {
    const std::size_t count = parts_of(keys.front().second).size();
    return count > 0 && std::ranges::all_of(keys, [&](const auto& key) {
               const std::vector<double> parts = parts_of(key.second);
               return parts.size() == count && std::ranges::all_of(parts, [](double part) {
                          return part > lowest_value && part < highest_value;
                      });
           });
}

// Returns the slope at a key: the weighted harmonic mean of the slopes of both adjacent segments, or 0 at a local
// extremum.
double slope_at(double before, double after, double length_before, double length_after) {
    if (before * after <= 0) return 0;
    const double share = (length_before + 2 * length_after) / (3 * (length_before + length_after));
    return before * after / (share * after + (1 - share) * before);
}

struct Segment {
    double begin, end;    // times
    double from, to;      // values
    double leave, reach;  // slopes at both ends
};

double hermite(const Segment& s, double time) {
    const double length = s.end - s.begin;
    const double t = (time - s.begin) / length;
    const double u = 1 - t;
    return s.from + (s.to - s.from) * (3 - 2 * t) * t * t + s.leave * length * t * u * u - s.reach * length * t * t * u;
}

// Returns the slope at key i of list element p; 0 at the first and last key.
double slope_of(const Keys& keys, const std::vector<Ease>& eases, std::size_t i, std::size_t p) {
    if (i == 0 || i + 1 == keys.size() || eases[i] == Ease::rest) return 0;
    const auto part = [&](std::size_t key) { return parts_of(keys[key].second)[p]; };
    const double length_before = keys[i].first - keys[i - 1].first;
    const double length_after = keys[i + 1].first - keys[i].first;
    return slope_at((part(i) - part(i - 1)) / length_before, (part(i + 1) - part(i)) / length_after, length_before,
                    length_after);
}

}  // namespace

Track::Track(Keys keys, std::vector<Ease> eases)
    : keys_(std::move(keys)), eases_(std::move(eases)), is_smooth_(can_be_smooth(keys_)) {
    eases_.resize(keys_.size());
}

Value Track::at(double time_s) const {
    const auto after = std::ranges::upper_bound(keys_, time_s, {}, &std::pair<double, Value>::first);
    if (after == keys_.begin()) return keys_.front().second;
    const auto before = after - 1;
    if (after == keys_.end() || !is_smooth_ || before->first == time_s) return before->second;
    const auto i = index(before - keys_.begin());
    if (eases_[i] == Ease::hold) return before->second;
    const std::vector<double> from = parts_of(before->second);
    const std::vector<double> to = parts_of(after->second);
    std::vector<double> parts;
    for (std::size_t p = 0; p < from.size(); ++p) {
        const double even = (to[p] - from[p]) / (after->first - before->first);
        const bool is_even = eases_[i] == Ease::linear;
        parts.push_back(is_even ? from[p] + even * (time_s - before->first)
                                : hermite({before->first, after->first, from[p], to[p], slope_of(keys_, eases_, i, p),
                                           slope_of(keys_, eases_, i + 1, p)},
                                          time_s));
    }
    return value_like(before->second, std::move(parts));
}

void KeyFrames::add(double time_s, const std::map<std::string, Value>& values, const std::string& where, Ease ease) {
    if (!times_s_.empty() && time_s <= times_s_.back()) {
        throw Error(ErrorCode::bad_setting, fmt::format("{:g} s does not come after {:g} s", time_s, times_s_.back()),
                    where, "sort the keys by time");
    }
    times_s_.push_back(time_s);
    for (const auto& [name, value] : values) {
        keys_[name].values.emplace_back(time_s, value);
        keys_[name].eases.push_back(ease);
    }
}

View KeyFrames::at(View view, double time_s) const {
    for (const Field<View>& field : describe<View>()) {
        const auto track = keys_.find(std::string(field.name));
        if (track == keys_.end()) continue;
        field.set(view, Track(track->second.values, track->second.eases).at(time_s));
    }
    return view;
}

}  // namespace echolux
