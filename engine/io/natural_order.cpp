#include "engine/io/file_name.h"

#include <algorithm>
#include <cctype>

namespace echolux {
namespace {

bool is_digit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// Returns the leading digits.
std::string_view number_in_front(std::string_view text) {
    const auto end = std::ranges::find_if_not(text, is_digit) - text.begin();
    return text.substr(0, static_cast<std::size_t>(end));
}

std::string_view without_zeros(std::string_view digits) {
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return digits;
}

}  // namespace

bool is_before_naturally(std::string_view a, std::string_view b) {
    while (!a.empty() && !b.empty()) {
        const std::string_view first = number_in_front(a), second = number_in_front(b);
        if (first.empty() || second.empty()) {
            if (a.front() != b.front()) return a.front() < b.front();
            a.remove_prefix(1), b.remove_prefix(1);
            continue;
        }
        const std::string_view m = without_zeros(first), n = without_zeros(second);
        // Without leading zeros, the longer number is larger. This works for any number of digits.
        if (m != n) return m.size() != n.size() ? m.size() < n.size() : m < n;
        a.remove_prefix(first.size()), b.remove_prefix(second.size());
    }
    return a.size() < b.size();
}

}  // namespace echolux
