// Which pages of a large volume the pictures need together that a window shows side by side. Each by itself would fill
// the pool with its own and drive out the others', which would come back with the next frame, for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace echolux {

class PageNeeds {
  public:
    // The pane is asked for. Those that were not since this one was last are not shown any more, and forgotten.
    void ask(std::size_t pane);

    // Whether it is known what the pane needs.
    bool has(std::size_t pane) const { return needs_.contains(pane); }

    // What the new picture of a pane that was asked for needs, nearest to the eye first.
    void set(std::size_t pane, std::vector<std::int64_t> pages);
    const std::vector<std::int64_t>& of(std::size_t pane) const { return needs_.at(pane).pages; }

    // Each page once, in the order in which room is found for them: panes that need few pages, which sections are, come
    // first, `others` last.
    std::vector<std::int64_t> together(std::span<const std::int64_t> others = {}) const;

    // The pane holds so many of its pages now. Returns a number that changes whenever there are more of them than its
    // picture has had so far: only then it is worth while to make it again.
    std::uint64_t note_held(std::size_t pane, std::int64_t pages);

  private:
    struct Need {
        std::vector<std::int64_t> pages;
        std::uint64_t asked = 0;
        std::int64_t max_held = 0;
        std::uint64_t gains = 0;
    };

    std::map<std::size_t, Need> needs_;
    std::uint64_t asked_ = 0;
};

}  // namespace echolux
