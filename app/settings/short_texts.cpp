#include "app/settings/short_texts.h"

#include "compute/error.h"

namespace echolux {
namespace {

[[noreturn]] void refuse(std::string_view text, const char* problem, std::string_view key, const std::string& remedy) {
    throw Error(ErrorCode::bad_setting, "'" + std::string(text) + "' " + problem, std::string(key), remedy);
}

template <class T>
void require_order(const std::pair<T, T>& ends, std::string_view text, std::string_view key) {
    if (!(ends.first < ends.second)) refuse(text, "is empty or reversed", key, "give the lower end first");
}

}  // namespace

std::int64_t number_argument(std::string_view text, std::string_view key, const std::string& expected) {
    const auto value = number_in<std::int64_t>(text);
    if (!value) refuse(text, "is not valid", key, "give " + expected);
    return *value;
}

std::pair<std::int64_t, std::int64_t> interval_argument(std::string_view text, std::string_view key) {
    const auto interval = pair_in<std::int64_t>(text, ':', true);
    if (!interval) refuse(text, "is not valid", key, "write A:B for A to B-1");
    if (interval->second != 0) require_order(*interval, text, key);
    return *interval;
}

std::pair<std::int64_t, std::int64_t> pixel_argument(std::string_view text, std::string_view key,
                                                     const std::string& form) {
    const auto pixel = pair_in<std::int64_t>(text, ',');
    if (!pixel) refuse(text, "is not valid", key, "write " + form);
    return *pixel;
}

std::pair<double, double> range_argument(std::string_view text, std::string_view key) {
    const auto range = pair_in<double>(text, ':');
    if (!range) refuse(text, "is not valid", key, "write LOW:HIGH");
    require_order(*range, text, key);
    return *range;
}

}  // namespace echolux
