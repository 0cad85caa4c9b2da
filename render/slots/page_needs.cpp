#include "render/slots/page_needs.h"

#include <algorithm>
#include <unordered_set>

namespace echolux {

void PageNeeds::ask(std::size_t pane) {
    const auto found = needs_.find(pane);
    if (found == needs_.end()) return;
    std::erase_if(needs_, [last = found->second.asked](const auto& other) { return other.second.asked < last; });
    found->second.asked = ++asked_;
}

void PageNeeds::set(std::size_t pane, std::vector<std::int64_t> pages) {
    Need& need = needs_[pane];
    need.pages = std::move(pages);
    need.asked = ++asked_;
    need.max_held = 0;
}

std::vector<std::int64_t> PageNeeds::together(std::span<const std::int64_t> others) const {
    std::vector<std::span<const std::int64_t>> lists;
    for (const auto& [pane, need] : needs_) lists.emplace_back(need.pages);
    std::ranges::stable_sort(lists, {}, &std::span<const std::int64_t>::size);
    lists.push_back(others);
    std::vector<std::int64_t> all;
    std::unordered_set<std::int64_t> taken;
    for (const std::span<const std::int64_t> list : lists) {
        std::ranges::copy_if(list, std::back_inserter(all),
                             [&](std::int64_t page) { return taken.insert(page).second; });
    }
    return all;
}

std::uint64_t PageNeeds::note_held(std::size_t pane, std::int64_t pages) {
    Need& need = needs_[pane];
    if (pages > need.max_held) {
        need.max_held = pages;
        ++need.gains;
    }
    return need.gains;
}

}  // namespace echolux
