// Which page lies in which slot of the pool. Pages that no picture has needed for longest leave first.
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
        std::vector<std::int64_t> leaving;  // pages that are not there any more
        std::vector<Placement> coming;      // to be filled and then held, in the order of `needed`
    };

    // Makes room for the pages that a picture needs, as many of them, from the first on, as there are slots.
    Plan plan(std::span<const std::int64_t> needed);

    // The slot holds the page from now on.
    void hold(const Placement& placement);

    bool holds(std::int64_t page) const { return slot_of_.contains(page); }
    std::int64_t capacity() const { return static_cast<std::int64_t>(slots_.size()); }

  private:
    struct Slot {
        std::int64_t page = -1;  // none
        std::int64_t used = 0;   // by which picture, last
    };

    std::vector<Slot> slots_;
    std::unordered_map<std::int64_t, std::int64_t> slot_of_;
    std::int64_t picture_ = 0;
};

}  // namespace echolux
