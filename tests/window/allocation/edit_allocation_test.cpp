// An event of a camera drag allocates at most ten times on its way through the settings: from the pointer to a step of
// the undo history. Every operator new of the program is counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "app/settings/settings_book.h"
#include "tests/oracle/allocation/counted_new.h"
#include "tests/support/set_fields.h"
#include "ui/window/panes.h"

namespace echolux {
namespace {

constexpr std::int64_t most_per_event = 10;

class CameraDrag : public testing::TestWithParam<Drag> {
  protected:
    CameraDrag() {
        set(view_, "width=640 height=480");
        event();  // makes the tables of the settings
    }

    // As Panes::drag_on() and Workspace::view_edited() do.
    void event() {
        view_ = dragged(std::move(view_), GetParam(), {3, -2}, {40, 30}, {900, 700, 500});
        static_cast<Pose&>(book_.view()) = view_;
        Change change = book_.view_edited();
        change.title = "view";
        history_.add(std::move(change), false);
    }

    std::int64_t allocations_of_event() {
        const std::int64_t before = allocations();
        event();
        return allocations() - before;
    }

    View view_;
    SettingsBook book_;
    UndoHistory history_;
};

TEST_P(CameraDrag, AllocatesLittle) {
    const std::uint64_t revision = book_.revision("view");
    std::int64_t most = 0;
    for (int i = 0; i < 20; ++i) most = std::max(most, allocations_of_event());
    EXPECT_LE(most, most_per_event);
    EXPECT_EQ(book_.revision("view"), revision + 20) << "every event changed the view";
}

TEST_P(CameraDrag, FirstEventAllocatesLittle) {
    history_ = {};
    EXPECT_LE(allocations_of_event(), most_per_event);
    EXPECT_TRUE(history_.can_undo());
}

INSTANTIATE_TEST_SUITE_P(All, CameraDrag, testing::Values(Drag::rotate, Drag::roll, Drag::pan, Drag::zoom));

}  // namespace
}  // namespace echolux
