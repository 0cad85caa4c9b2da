// Counts for messages: "1 B-scan", "2 B-scans". Use it in every message with a count.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace echolux {

// Returns the count with its noun. `things` is the plural: "A-scans", "boundaries".
template <std::integral Count>
std::string plural(Count count, std::string_view things) {
    std::string text = std::to_string(count) + " ";
    if (count != 1) return text.append(things);
    if (things.ends_with("ies")) return text.append(things.substr(0, things.size() - 3)).append("y");
    return text.append(things.substr(0, things.size() - (things.ends_with('s') ? 1 : 0)));
}

}  // namespace echolux
