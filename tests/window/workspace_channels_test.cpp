// Channels in the window: added, undone, and removed with a volume that they do not fit.
#include "workspace_fixture.h"

namespace echolux::test {
namespace {

using testing::HasSubstr;

class WorkspaceChannels : public WorkspaceTest {};

TEST_F(WorkspaceChannels, AreAddedAndUndone) {
    open_volume();
    const std::string file = volume_file("other.nii").string();
    ASSERT_TRUE(work().change("view.channel_2_file", file)) << troubles();
    ASSERT_NE(work().view().channels[0].volume, nullptr);
    const auto read = work().view().channels[0].volume;
    ASSERT_TRUE(work().change("view.channel_2_curve", std::string("angiogram")));
    EXPECT_EQ(work().view().channels[0].volume, read) << "it was read again";
    settle();
    EXPECT_EQ(standing("view"), "");
    work().undo();
    work().undo();
    EXPECT_EQ(work().view().channels[0].volume, nullptr);
    work().redo();
    EXPECT_NE(work().view().channels[0].volume, nullptr);
}

TEST_F(WorkspaceChannels, UnreadableFileChangesNoChannel) {
    open_volume();
    EXPECT_FALSE(work().change("view.channel_2_file", std::string("missing.nii")));
    EXPECT_THAT(standing("view"), HasSubstr("missing.nii"));
    EXPECT_EQ(work().view().channels[0].file, "");
    ASSERT_TRUE(work().change("view.channel_2_file", volume_file("other.nii").string()));
    EXPECT_FALSE(work().change("view.channel_2_curve", std::string("nonsense")));
    EXPECT_EQ(work().view().channels[0].curve, "automatic");
}

}  // namespace
}  // namespace echolux::test
