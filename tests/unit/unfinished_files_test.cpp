// A program that ends at once leaves no unfinished results.
#include "engine/io/atomic_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "temporary_folder.h"

namespace echolux {
namespace {

TEST(UnfinishedFiles, AreRemovedWhenProgramEnds) {
    const TemporaryFolder folder;
    const auto end_in_the_midst = [&] {
        const AtomicFile file(folder / "a.nrrd");
        const AtomicFolder store(folder / "b.zarr", [](const auto&) { return true; });
        std::ofstream(store.temporary() / "0") << "a chunk";
        AtomicFile finished(folder / "c.nrrd");
        finished.commit();
        end_without_unfinished_files(5);
    };
    EXPECT_EXIT(end_in_the_midst(), ::testing::ExitedWithCode(5), "");
    EXPECT_EQ(folder.entries(), 1u);
    EXPECT_TRUE(std::filesystem::exists(folder / "c.nrrd"));
}

// Holds even if the program has changed its working folder since.
TEST(UnfinishedFiles, AreFoundByAbsoluteNames) {
    const TemporaryFolder folder;
    const auto end_elsewhere = [&] {
        std::filesystem::current_path(folder.path());
        const AtomicFile file("a.nrrd");
        std::filesystem::current_path("/");
        end_without_unfinished_files(5);
    };
    EXPECT_EXIT(end_elsewhere(), ::testing::ExitedWithCode(5), "");
    EXPECT_EQ(folder.entries(), 0u);
}

}  // namespace
}  // namespace echolux
