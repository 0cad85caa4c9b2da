// Checks, parses and prints single values of described fields. Messages state the expected and the actual value, so
// that callers only need to add the file name and line.
#include "compute/plan/describe.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"

namespace echolux {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

std::string spelled_number(double number) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return {digits.data(), end};
}

// Returns whether the input looks like a number. If so, its range is reported even if it is practically unlimited.
bool is_number(const std::string& got) {
    return !got.empty() && got.find_first_not_of("+-.0123456789eE") == std::string::npos;
}

// 1000000 instead of 1e+06 for integers, if that is readable.
std::string spelled_limit(double limit, bool is_whole) {
    constexpr double longest = 1e7;  // up to seven digits
    return is_whole && std::abs(limit) < longest ? std::to_string(std::llround(limit)) : spelled_number(limit);
}

// Describes the valid range, unless it is practically unlimited.
std::string range_of(const FieldText& field, const Value& like, const std::string& got) {
    constexpr double as_good_as_none = 1e12;
    if (field.high >= as_good_as_none && !is_number(got)) return "";
    const bool has_unit = !field.unit.empty() && field.high < as_good_as_none;
    const bool is_whole = std::holds_alternative<std::int64_t>(like);
    return " from " + spelled_limit(field.low, is_whole) + " to " + spelled_limit(field.high, is_whole) +
           (has_unit ? " " + std::string(field.unit) : "");
}

bool is_special(const FieldText& field, std::string_view text) {
    return field.control.special_value && (text == "auto" || text == field.control.special_text);
}

std::string expectation(const FieldText& field, const Value& like, const std::string& got) {
    const std::string word = field.control.special_value ? ", or " + std::string(field.control.special_text) : "";
    const std::string range = range_of(field, like, got);
    const auto texts = [&](const std::string&) {
        std::string list;
        for (const std::string_view choice : field.choices) list += (list.empty() ? "" : ", ") + std::string(choice);
        return list.empty() ? "a text in quotes" : "one of " + list;
    };
    return std::visit(
        Overloaded{
            [](bool) { return std::string("true or false"); },
            [&](std::int64_t) { return "a whole number" + range + word; },
            [&](double) { return field.control.only_positive ? "a positive number" : "a number" + range + word; },
            [&](const std::vector<double>&) { return "a list of numbers" + range; }, texts},
        like);
}

[[noreturn]] void reject(const FieldText& field, const Value& like, const std::string& got, std::string_view where) {
    const std::string near = nearest_name(got, field.choices);
    throw Error(ErrorCode::bad_setting,
                "expected " + expectation(field, like, got) + ", got " + (got.empty() ? "nothing" : got),
                std::string(where), near.empty() ? "" : "did you mean \"" + near + "\"?");
}

// Converts a real without fraction to an integer, an integer to a real, or a number to a list. Returns nothing if the
// types are incompatible.
std::optional<Value> converted(const Value& like, const Value& value) {
    if (like.index() == value.index()) return value;
    const auto* whole = std::get_if<std::int64_t>(&value);
    const auto* real = std::get_if<double>(&value);
    if (whole == nullptr && real == nullptr) return std::nullopt;
    const double number = whole != nullptr ? static_cast<double>(*whole) : *real;
    if (std::holds_alternative<double>(like)) return number;
    if (std::holds_alternative<std::vector<double>>(like)) return std::vector<double>{number};
    constexpr double exact = 9007199254740992.0;  // 2^53: not every larger integer is representable as a double
    if (std::holds_alternative<std::int64_t>(like) && std::abs(number) <= exact && number == std::trunc(number)) {
        return static_cast<std::int64_t>(number);
    }
    return std::nullopt;
}

bool allowed(const FieldText& field, const Value& value) {
    // False for NaN.
    const auto in_range = [&](double number) {
        return number >= field.low && number <= field.high && (number > 0 || !field.control.only_positive);
    };
    return std::visit(Overloaded{[](bool) { return true; },
                                 [&](std::int64_t number) { return in_range(static_cast<double>(number)); },
                                 [&](double number) { return in_range(number); },
                                 [&](const std::string& name) {
                                     return field.choices.empty() || std::ranges::count(field.choices, name) > 0;
                                 },
                                 [&](const std::vector<double>& list) { return std::ranges::all_of(list, in_range); }},
                      value);
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

template <class T>
std::optional<T> number_in(std::string_view text) {
    T number{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

std::optional<Value> list_in(std::string_view text) {
    if (text.starts_with('[') && text.ends_with(']')) text = trimmed(text.substr(1, text.size() - 2));
    std::vector<double> list;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        const auto number = number_in<double>(trimmed(text.substr(0, comma)));
        if (!number) return std::nullopt;
        list.push_back(*number);
        text = comma == std::string_view::npos ? "" : trimmed(text.substr(comma + 1));
    }
    return list;
}

std::optional<Value> value_in(const Value& like, std::string_view text) {
    if (std::holds_alternative<bool>(like)) {
        if (text == "true" || text == "false") return text == "true";
        return std::nullopt;
    }
    if (std::holds_alternative<std::vector<double>>(like)) return list_in(text);
    if (const auto whole = number_in<std::int64_t>(text)) return *whole;
    if (const auto real = number_in<double>(text)) return *real;
    return std::nullopt;
}

std::string quoted(const std::string& text) {
    constexpr std::string_view hex = "0123456789ABCDEF";
    std::string quoted = "\"";
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            quoted += {'\\', c};
        } else if (code < 0x20 || code == 0x7f) {
            quoted += {'\\', 'u', '0', '0', hex[code >> 4], hex[code & 15]};
        } else {
            quoted += c;
        }
    }
    return quoted + "\"";
}

std::string with_point(const std::string& digits) {  // TOML distinguishes reals by a point or exponent
    return digits.find_first_of(".en") == std::string::npos ? digits + ".0" : digits;
}

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Returns the edit distance of a and b: insertions, deletions, substitutions and swaps of neighbours (optimal string
// alignment).
std::size_t edits(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
            const bool swapped =
                i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        std::swap(before, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

// Converts the number types of NumPy and C to our names: "uint16" and "uint16_t" become u16.
std::string as_we_name_it(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, char>, 3> types{{{"uint", 'u'}, {"int", 'i'}, {"float", 'f'}}};
    if (name.ends_with("_t")) name.remove_suffix(2);
    for (const auto& [type, letter] : types) {
        if (name.starts_with(type)) return letter + std::string(name.substr(type.size()));
    }
    return {};
}

// Returns the longest candidate that is a prefix of the name or has it as a prefix ("hann" for "hanning"). For longer
// words the last letter may differ ("simulation" for "simulate").
std::string_view longest_common_start(std::string_view name, std::span<const std::string_view> candidates) {
    constexpr std::size_t least = 4, min_stem = 6;
    std::string_view found;
    for (const std::string_view candidate : candidates) {
        const std::size_t shorter = std::min(name.size(), candidate.size());
        const auto common = index(std::ranges::mismatch(name, candidate).in1 - name.begin());
        const bool is_start = common == shorter ? shorter >= least : common + 1 == shorter && common >= min_stem;
        if (is_start && candidate.size() > found.size()) found = candidate;
    }
    return found;
}

}  // namespace

Value checked(const FieldText& field, const Value& like, const Value& value, std::string_view where) {
    const auto* text = std::get_if<std::string>(&value);
    const bool is_word = text != nullptr && is_special(field, *text);
    const std::optional<Value> fitting = converted(like, is_word ? Value(*field.control.special_value) : value);
    if (!fitting || !allowed(field, *fitting)) {
        reject(field, like, text != nullptr && !field.choices.empty() ? *text : spelled(value), where);
    }
    return *fitting;
}

Value parsed(const FieldText& field, const Value& like, std::string_view text, std::string_view where) {
    if (std::holds_alternative<std::string>(like)) return checked(field, like, std::string(text), where);
    if (is_special(field, trimmed(text))) return checked(field, like, std::string(trimmed(text)), where);
    const std::optional<Value> value = value_in(like, trimmed(text));
    if (!value) reject(field, like, std::string(text), where);
    return checked(field, like, *value, where);
}

std::string spelled(const Value& value) {
    const auto list = [](const std::vector<double>& numbers) {
        std::string text = "[";
        for (const double number : numbers) text += (text.size() > 1 ? ", " : "") + with_point(spelled_number(number));
        return text + "]";
    };
    return std::visit(Overloaded{[](bool on) { return std::string(on ? "true" : "false"); },
                                 [](std::int64_t number) { return std::to_string(number); },
                                 [](double number) { return with_point(spelled_number(number)); },
                                 [](const std::string& text) { return quoted(text); }, list},
                      value);
}

std::string nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
    constexpr std::size_t longest = 64;  // longer than all our names: not a typo
    if (name.size() > longest) return {};
    if (const std::string ours = as_we_name_it(name); std::ranges::count(candidates, std::string_view(ours)) > 0)
        return ours;
    std::string_view nearest;
    std::size_t fewest = std::max<std::size_t>(1, name.size() / 3) + 1;
    for (const std::string_view candidate : candidates) {
        const std::size_t count = edits(name, candidate);
        if (count < fewest) {
            fewest = count;
            nearest = candidate;
        }
    }
    if (fewest <= 1) return std::string(nearest);
    const std::string_view start = longest_common_start(name, candidates);
    return std::string(start.empty() ? nearest : start);
}

}  // namespace echolux
