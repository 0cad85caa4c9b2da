#include "ui/cli/parse_text.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "compute/error.h"

namespace echolux {
namespace {

// Returns nullopt unless the whole text is a number.
template <class T>
std::optional<T> number(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// Parses two numbers around `separator`. With `may_be_open`, an empty half is 0. `example` completes the remedy of the
// error.
template <class T>
std::pair<T, T> pair_of(const std::string& text, char separator, bool may_be_open, const char* option,
                        const char* example) {
    const std::size_t middle = text.find(separator);
    if (middle != std::string::npos) {
        const auto part = [&](std::string_view half) {
            return half.empty() && may_be_open ? std::optional<T>(T{}) : number<T>(half);
        };
        const auto first = part(std::string_view(text).substr(0, middle));
        const auto second = part(std::string_view(text).substr(middle + 1));
        if (first && second) return {*first, *second};
    }
    throw UsageError("'" + text + "' is not valid", option, std::string("write ") + example);
}

template <class T>
void require_order(const std::pair<T, T>& ends, const std::string& text, const char* option) {
    if (ends.first < ends.second) return;
    throw UsageError("'" + text + "' ends before it begins", option, "give the lower end first");
}

}  // namespace

std::int64_t parsed_number(const std::string& text, const char* option, const char* expected) {
    if (const auto value = number<std::int64_t>(text)) return *value;
    throw UsageError("'" + text + "' is not valid", option, std::string("give ") + expected);
}

std::pair<std::int64_t, std::int64_t> parsed_interval(const std::string& text, const char* option) {
    const auto interval = pair_of<std::int64_t>(text, ':', true, option, "A:B, the first and the one after the last");
    if (interval.second != 0) require_order(interval, text, option);
    return interval;
}

std::pair<double, double> parsed_range(const std::string& text, const char* option) {
    const auto range = pair_of<double>(text, ':', false, option, "LOW:HIGH");
    require_order(range, text, option);
    return range;
}

std::pair<std::int64_t, std::int64_t> parsed_size(const std::string& text, const char* option) {
    return pair_of<std::int64_t>(text, 'x', false, option, "WIDTHxHEIGHT, e.g. 1280x960");
}

std::pair<std::int64_t, std::int64_t> parsed_pixel(const std::string& text, const char* option, const char* expected) {
    return pair_of<std::int64_t>(text, ',', false, option, expected);
}

const char* word_for(Backend processor) {
    return processor == Backend::cuda ? "cuda" : "cpu";
}

const char* name_of(Backend processor) {
    return processor == Backend::cuda ? "GPU" : "CPU";
}

Backend parsed_backend(const std::string& name) {
    if (name == "cpu") return Backend::cpu;
    return name == "cuda" ? Backend::cuda : Backend::automatic;
}

}  // namespace echolux
