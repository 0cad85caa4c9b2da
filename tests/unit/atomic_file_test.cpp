// Results appear complete or not at all.
#include "engine/io/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <fstream>

#include "temporary_folder.h"

namespace echolux {
namespace {

using testing::HasSubstr;

TEST(AtomicFile, AppearsOnCommit) {
    const TemporaryFolder folder;
    const auto path = folder / "new/volume.nii.gz";
    {
        AtomicFile file(path);
        EXPECT_EQ(file.temporary().parent_path(), path.parent_path());
        EXPECT_TRUE(file.temporary().string().ends_with(".nii.gz"));
        std::ofstream(file.temporary()) << "voxels";
        EXPECT_FALSE(std::filesystem::exists(path));
        file.commit();
    }
    EXPECT_EQ(std::filesystem::file_size(path), 6u);
}

TEST(AtomicFile, LeavesOldFileWhenWorkFails) {
    const TemporaryFolder folder;
    const auto path = folder.write("volume.nrrd", "old");
    {
        AtomicFile file(path);
        std::ofstream(file.temporary()) << "half";
    }
    EXPECT_EQ(folder.entries(), 1u);
    EXPECT_EQ(std::filesystem::file_size(path), 3u);
}

// For example, a disk that is not mounted or a misspelt name.
TEST(AtomicFile, CreatesOnlyOneFolder) {
    const TemporaryFolder folder;
    EXPECT_THAT(error_of([&] { AtomicFile file(folder / "not/there/a.nrrd"); }).line,
                HasSubstr("there is no folder " + (folder / "not").string()));
    EXPECT_EQ(folder.entries(), 0u);
}

// For work that was interrupted or has not begun.
TEST(AtomicFile, RemovesFolderThatItCreated) {
    const TemporaryFolder folder;
    const std::filesystem::path made = folder / "made";
    check_can_be_written(made / "a.nrrd");
    EXPECT_FALSE(std::filesystem::exists(made));
    { AtomicFile file(made / "a.nrrd"); }
    EXPECT_FALSE(std::filesystem::exists(made));
    {
        AtomicFolder store(made / "a.zarr", [](const auto&) { return true; });
    }
    EXPECT_FALSE(std::filesystem::exists(made));
    {
        AtomicFile first(made / "a.nrrd"), second(made / "b.nrrd");
        second.commit();
    }
    EXPECT_TRUE(std::filesystem::exists(made / "b.nrrd"));
    std::filesystem::remove(made / "b.nrrd");
    { AtomicFile file(made / "a.nrrd"); }
    EXPECT_TRUE(std::filesystem::exists(made)) << "it was there";
}

TEST(AtomicFile, TakesBareNameInCurrentFolder) {
    const TemporaryFolder folder;
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    EXPECT_NO_THROW(check_can_be_written("picture.png"));
    EXPECT_EQ(folder.entries(), 0u);
    std::filesystem::current_path(before);
}

TEST(AtomicFile, RefusesFoldersAndFilesInWay) {
    const TemporaryFolder folder;
    folder.write("file", "");
    const Caught is_folder = error_of([&] { AtomicFile file(folder.path()); });
    EXPECT_THAT(is_folder.line, HasSubstr("is a folder"));
    EXPECT_EQ(is_folder.code, ErrorCode::output);
    EXPECT_EQ(error_of([&] { AtomicFile file(folder / "file/below.png"); }).code, ErrorCode::output);
    EXPECT_EQ(error_of([&] { AtomicFile file("/proc/echolux.png"); }).code, ErrorCode::output);
    EXPECT_EQ(folder.entries(), 1u);
}

// Renaming over a device, pipe or socket would remove it.
TEST(AtomicFile, RejectsDevicesPipesAndSockets) {
    const TemporaryFolder folder;
    const auto pipe = folder / "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    const Caught is_pipe = error_of([&] { AtomicFile file(pipe); });
    EXPECT_THAT(is_pipe.line, HasSubstr("is not a regular file"));
    EXPECT_TRUE(std::filesystem::is_fifo(pipe));
    EXPECT_THAT(error_of([&] { AtomicFile file("/dev/null"); }).line, HasSubstr("is not a regular file"));
}

// ---- files of a program that ends at once ---------------------------------------------------------------------------

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
