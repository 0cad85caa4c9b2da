// Pages of a large volume that all panes of a window need together. If each pane filled the pool on its own, panes
// would evict each other's pages in every frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace echolux {

class PageNeeds {
  public:
    // Marks the pane as requested. Forgets the panes that were not requested since its previous request: they are no
    // longer shown.
    void ask(std::size_t pane);

    // Returns true if the needs of the pane are known.
    bool has(std::size_t pane) const { return needs_.contains(pane); }

    // Sets the pages that the new picture of a requested pane needs, nearest to the eye first.
    void set(std::size_t pane, std::vector<std::int64_t> pages);
    const std::vector<std::int64_t>& of(std::size_t pane) const { return needs_.at(pane).pages; }

    // Returns each page once, in order of priority: panes with few pages, such as sections, come first, `others` last.
    std::vector<std::int64_t> together(std::span<const std::int64_t> others = {}) const;

    // Records the number of pages in the pool that the pane needs. Returns a counter that increases when the number
    // exceeds that of the pane's picture: only then is a new picture worthwhile.
    std::uint64_t note_held(std::size_t pane, std::int64_t pages);

  private:
    struct Need {
        std::vector<std::int64_t> pages;
        std::uint64_t asked = 0;    // number of the last request, counted over all panes
        std::int64_t max_held = 0;  // largest number of held pages since the picture was made
        std::uint64_t gains = 0;
    };

    std::map<std::size_t, Need> needs_;
    std::uint64_t asked_ = 0;
};

}  // namespace echolux
