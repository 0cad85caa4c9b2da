#include "engine/scan/striping.h"

#include <algorithm>

namespace echolux {

Striping::Piece Striping::piece_at(std::int64_t place, std::int64_t end) const {
    if (parts_ == 1) return {0, place, end - place};
    const std::int64_t stripe = place / stripe_, within = place % stripe_;
    return {static_cast<std::size_t>(stripe % parts_), stripe / parts_ * stripe_ + within,
            std::min(end - place, stripe_ - within)};
}

std::int64_t Striping::bytes_of(std::size_t part, std::int64_t end) const {
    if (parts_ == 1) return end;
    const std::int64_t row = stripe_ * parts_, before = stripe_ * static_cast<std::int64_t>(part);
    return end / row * stripe_ + std::clamp<std::int64_t>(end % row - before, 0, stripe_);
}

std::int64_t Striping::end_with(std::size_t part, std::int64_t part_bytes) const {
    if (parts_ == 1) return part_bytes;
    const std::int64_t stripe = part_bytes / stripe_ * parts_ + static_cast<std::int64_t>(part);
    return stripe * stripe_ + part_bytes % stripe_;
}

std::vector<std::string> stripe_names(std::string_view text) {
    std::vector<std::string> names;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(';'), text.size());
        names.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return names;
}

std::string text_of_stripes(const std::vector<std::filesystem::path>& names) {
    std::string text;
    for (const std::filesystem::path& name : names) text += (text.empty() ? "" : ";") + name.string();
    return text;
}

}  // namespace echolux
