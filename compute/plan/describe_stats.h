// A single description per statistic: key, unit and meaning. JSON, the interfaces for C and Python, the lines of the
// window and docs/statistics.md are generated from it; no counter is listed twice.
//
// Each struct S of statistics has a specialization of describe_stats<S>() beside it. Parts of a struct are described
// with their own struct, and their keys have a prefix: "arrived.lost_blocks".
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "compute/plan/described.h"

namespace echolux {

// std::monostate: absent, as everything in a part that does not exist. nullptr: exists, without a value.
using StatValue = std::variant<std::monostate, std::nullptr_t, bool, std::int64_t, double, std::string>;

enum class StatKind { flag, integer, number, text };

// Description of a statistic, independent of its struct.
struct StatText {
    std::string key;
    StatKind kind = StatKind::integer;
    std::string_view unit;  // "s", or the objects that are counted; empty for flags, ratios and texts
    std::string_view help;
    std::string_view panel{};  // heading under which the window lists it; empty: not listed
    std::string_view label{};  // its name there
};

template <class S>
struct Stat : StatText {
    std::function<StatValue(const S&)> get;
};

// ---- builders

// One or several statistics of a description.
template <class S>
struct StatGroup {
    std::vector<Stat<S>> stats;

    // Lists it in the window under that heading and name.
    StatGroup in(std::string_view heading, std::string_view name) && {
        stats.front().panel = heading;
        stats.front().label = name;
        return std::move(*this);
    }
};

template <class S>
std::vector<Stat<S>> joined_stats(std::initializer_list<StatGroup<S>> groups) {
    std::vector<Stat<S>> all;
    for (const StatGroup<S>& group : groups) all.insert(all.end(), group.stats.begin(), group.stats.end());
    return all;
}

template <class Result>
constexpr StatKind kind_of_stat() {
    if (std::is_same_v<Result, bool>) return StatKind::flag;
    if (std::is_integral_v<Result>) return StatKind::integer;
    return std::is_floating_point_v<Result> ? StatKind::number : StatKind::text;
}

// `member` is a data member, a function without arguments, or a lambda: of type bool, an integer, double, std::string,
// or StatValue for a text that may be missing.
template <class S, class Member>
StatGroup<S> statistic(std::string_view key, Member member, std::string_view unit, std::string_view help) {
    using Result = std::remove_cvref_t<std::invoke_result_t<Member, const S&>>;
    Stat<S> one{{std::string(key), kind_of_stat<Result>(), unit, help}, {}};
    one.get = [member](const S& s) {
        if constexpr (kind_of_stat<Result>() == StatKind::integer)
            return StatValue(static_cast<std::int64_t>(std::invoke(member, s)));
        else
            return StatValue(std::invoke(member, s));
    };
    return {{std::move(one)}};
}

template <class P>
const P* part_address(const P& part) {
    return &part;
}
template <class P>
const P* part_address(const std::optional<P>& part) {
    return part ? &*part : nullptr;
}

// The statistics of the struct or optional struct in `member`. With an empty prefix they appear as those of S itself.
template <class S, class Member>
StatGroup<S> part(std::string_view prefix, Member S::*member) {
    using P = std::remove_cvref_t<decltype(*part_address(std::declval<const S&>().*member))>;
    StatGroup<S> group;
    for (const Stat<P>& of_part : describe_stats<P>()) {
        Stat<S> one{of_part, [member, get = of_part.get](const S& s) {
                        const P* part = part_address(s.*member);
                        return part == nullptr ? StatValue() : get(*part);
                    }};
        if (!prefix.empty()) one.key = std::string(prefix) + "." + one.key;
        group.stats.push_back(std::move(one));
    }
    return group;
}

}  // namespace echolux
