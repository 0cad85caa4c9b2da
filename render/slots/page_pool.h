// Assignment of pages to the slots of a pool with LRU replacement. Host state only: the caller moves the voxels.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace echolux {

class PagePool {
  public:
    explicit PagePool(std::int64_t slots) : slots_(static_cast<std::size_t>(slots)) {}

    struct Placement {
        std::int64_t page, slot;
    };
    struct Plan {
        std::vector<std::int64_t> leaving;  // pages that have left their slot
        std::vector<Placement> coming;      // pages to fill and then hold(), in the order of `needed`
    };

    // Frees slots for the pages of a picture. If there are not enough slots, the first pages of `needed` take
    // precedence.
    Plan plan(std::span<const std::int64_t> needed);

    // Records that the slot now contains the page.
    void hold(const Placement& placement);

    bool holds(std::int64_t page) const { return slot_of_.contains(page); }
    std::int64_t capacity() const { return static_cast<std::int64_t>(slots_.size()); }

  private:
    struct Slot {
        std::int64_t page = -1;  // -1: empty
        std::int64_t used = 0;   // number of the last picture that used it
    };

    std::vector<Slot> slots_;
    std::unordered_map<std::int64_t, std::int64_t> slot_of_;
    std::int64_t picture_ = 0;
};

}  // namespace echolux
