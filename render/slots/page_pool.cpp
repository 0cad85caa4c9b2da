#include "render/slots/page_pool.h"

#include <algorithm>
#include <numeric>

namespace echolux {

PagePool::Plan PagePool::plan(std::span<const std::int64_t> needed) {
    ++picture_;
    needed = needed.first(std::min(needed.size(), slots_.size()));
    Plan plan;
    for (const std::int64_t page : needed) {
        const auto found = slot_of_.find(page);
        if (found == slot_of_.end()) {
            plan.coming.push_back({page, -1});
        } else {
            slots_[static_cast<std::size_t>(found->second)].used = picture_;
        }
    }
    // Empty slots first, then those unused for longest. Slots of this picture are last.
    std::vector<std::int64_t> oldest(slots_.size());
    std::iota(oldest.begin(), oldest.end(), 0);
    std::ranges::stable_sort(oldest, {}, [&](std::int64_t i) {
        const Slot& slot = slots_[static_cast<std::size_t>(i)];
        return slot.page < 0 ? -1 : slot.used;
    });
    for (std::size_t i = 0; i < plan.coming.size(); ++i) {
        plan.coming[i].slot = oldest[i];
        Slot& slot = slots_[static_cast<std::size_t>(oldest[i])];
        if (slot.page < 0) continue;
        plan.leaving.push_back(slot.page);
        slot_of_.erase(slot.page);
        slot = {};
    }
    return plan;
}

void PagePool::hold(const Placement& placement) {
    slots_[static_cast<std::size_t>(placement.slot)] = {placement.page, picture_};
    slot_of_[placement.page] = placement.slot;
}

}  // namespace echolux
