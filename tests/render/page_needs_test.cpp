// Priority of pages when panes share a pool, and removal of panes.
#include "render/slots/pages.h"

#include <gmock/gmock.h>

namespace echolux::test {
namespace {

using testing::ElementsAre;

TEST(PageNeeds, OrdersShortListsFirstWithoutDuplicates) {
    PageNeeds needs;
    needs.set(0, {9, 8, 7, 6, 5});
    needs.set(1, {7, 3});
    needs.set(2, {1, 9, 2});
    EXPECT_THAT(needs.together(), ElementsAre(7, 3, 1, 9, 2, 8, 6, 5));
    const std::vector<std::int64_t> others{4, 3};
    EXPECT_THAT(needs.together(others), ElementsAre(7, 3, 1, 9, 2, 8, 6, 5, 4));
}

TEST(PageNeeds, ForgetsUnusedPanes) {
    PageNeeds needs;
    for (int frame = 0; frame < 3; ++frame) {
        for (const std::size_t pane : {0U, 1U, 2U}) {
            needs.ask(pane);
            if (!needs.has(pane)) needs.set(pane, {static_cast<std::int64_t>(pane)});
        }
        EXPECT_THAT(needs.together(), ElementsAre(0, 1, 2));
    }
    needs.ask(1);
    EXPECT_FALSE(needs.has(0));
    EXPECT_THAT(needs.together(), ElementsAre(1, 2));
    EXPECT_THAT(needs.of(2), ElementsAre(2));
}

TEST(PageNeeds, RedrawsPictureWhenMorePagesArrive) {
    PageNeeds needs;
    needs.set(0, {1, 2, 3, 4});
    const std::uint64_t first = needs.note_held(0, 2);
    EXPECT_EQ(needs.note_held(0, 1), first);
    EXPECT_EQ(needs.note_held(0, 2), first);
    const std::uint64_t better = needs.note_held(0, 3);
    EXPECT_NE(better, first);
    needs.set(0, {1, 2, 3, 5});  // another picture
    const std::uint64_t other = needs.note_held(0, 1);
    EXPECT_NE(needs.note_held(0, 2), other);
}

}  // namespace
}  // namespace echolux::test
