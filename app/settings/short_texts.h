// Values of arguments that are short texts, such as "3:17" and "-5:45".
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace echolux {

// Returns nullopt unless the whole text is a number.
template <class T>
std::optional<T> number_in(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// Returns two numbers around `separator`. With `may_be_open`, an empty half is 0.
template <class T>
std::optional<std::pair<T, T>> pair_in(std::string_view text, char separator, bool may_be_open = false) {
    const std::size_t middle = text.find(separator);
    if (middle == std::string_view::npos) return std::nullopt;
    const auto part = [&](std::string_view half) {
        return half.empty() && may_be_open ? std::optional<T>(T{}) : number_in<T>(half);
    };
    const auto first = part(text.substr(0, middle)), second = part(text.substr(middle + 1));
    if (!first || !second) return std::nullopt;
    return std::pair(*first, *second);
}

// Parse the value of the argument `key`. They throw Error{bad_setting}.
std::int64_t number_argument(std::string_view text, std::string_view key, const std::string& expected);
// "A:B". A missing A is 0; a missing B is 0 and means the end.
std::pair<std::int64_t, std::int64_t> interval_argument(std::string_view text, std::string_view key);
// "320,200". `form` completes the remedy.
std::pair<std::int64_t, std::int64_t> pixel_argument(std::string_view text, std::string_view key,
                                                     const std::string& form);
// "LOW:HIGH"
std::pair<double, double> range_argument(std::string_view text, std::string_view key);

}  // namespace echolux
