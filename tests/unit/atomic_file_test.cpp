// Results appear complete or not at all.
#include "engine/io/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <fstream>

#include "engine/io/output_rule.h"
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

// ---- names and places of outputs ------------------------------------------------------------------------------------

bool is_own(const std::filesystem::path&) {
    return true;
}
bool is_foreign(const std::filesystem::path&) {
    return false;
}

TEST(OutputRule, AcceptsNewFiles) {
    const TemporaryFolder folder;
    EXPECT_NO_THROW(check_outputs({{folder / "a.csv"}, {folder / "b.csv"}, {""}}, {folder / "c.csv", ""}, false));
    EXPECT_EQ(folder.entries(), 0u);
}

TEST(OutputRule, ReplacesOnlyFilesOfProgram) {
    const TemporaryFolder folder;
    const auto path = folder.write("a.csv", "1");
    EXPECT_NO_THROW(check_outputs({{path, is_own}}, {}, false));
    for (const Output& output : {Output{path, is_foreign}, Output{path}}) {
        const Caught refused = error_of([&] { check_outputs({output}, {}, false); });
        EXPECT_EQ(refused.code, ErrorCode::output);
        EXPECT_THAT(refused.line, HasSubstr("a.csv: already exists"));
        EXPECT_NO_THROW(check_outputs({output}, {}, true));
    }
}

// A table named like a picture would be opened as one.
TEST(OutputRule, RequiresMatchingExtensions) {
    const TemporaryFolder folder;
    const auto refused = [&](const char* name) {
        return error_of([&] { check_outputs({{folder / name, is_own, {".csv", ".txt"}}}, {}, true); }).line;
    };
    EXPECT_THAT(refused("a.png"), HasSubstr("a.png: does not end in .csv, .txt (name it *.csv)"));
    EXPECT_THAT(refused("a"), HasSubstr("does not end in"));
    EXPECT_EQ(refused("a.csv") + refused("A.TXT"), "");
}

TEST(OutputRule, NeverReplacesInputs) {
    const TemporaryFolder folder;
    const auto path = folder.write("in.csv", "1");
    std::filesystem::create_symlink(path, folder / "symbolic.csv");
    std::filesystem::create_hard_link(path, folder / "hard.csv");
    std::filesystem::create_directory(folder / "sub");
    for (const auto& name : {path, folder / "symbolic.csv", folder / "hard.csv", folder / "sub/../in.csv"}) {
        for (const bool overwrites : {false, true}) {
            const Caught refused = error_of([&] { check_outputs({{name, is_own}}, {path}, overwrites); });
            EXPECT_THAT(refused.line, HasSubstr("would overwrite an input")) << name;
        }
    }
}

TEST(OutputRule, ProtectsFilesInInputFolder) {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder / "series");
    const auto part = folder.write("series/t0.nrrd", "1");
    EXPECT_THAT(error_of([&] {
                    check_outputs({{part, is_own}}, {folder / "series/"}, true);
                }).line,
                HasSubstr("would overwrite an input"));
    EXPECT_NO_THROW(check_outputs({{folder / "series/new.nrrd"}}, {folder / "series"}, false));
    // Replacing the folder would replace the input in it.
    EXPECT_THAT(error_of([&] {
                    check_outputs({{folder / "series", is_own}}, {part}, true);
                }).line,
                HasSubstr("would overwrite an input"));
}

TEST(OutputRule, RejectsSameNameTwice) {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder / "sub");
    const auto twice = error_of([&] {
        check_outputs({{folder / "k.csv", is_own}, {folder / "sub/../k.csv", is_own}}, {}, true);
    });
    EXPECT_THAT(twice.line, HasSubstr("is the name of two outputs"));
}

TEST(OutputRule, CreatesOnlyOneFolder) {
    const TemporaryFolder folder;
    EXPECT_NO_THROW(check_outputs({{folder / "new/a.csv"}}, {}, false));
    EXPECT_THAT(error_of([&] { check_outputs({{folder / "not/there/a.csv"}}, {}, true); }).line,
                HasSubstr("there is no folder"));
    EXPECT_EQ(folder.entries(), 0u);
}

TEST(OwnFiles, TextsAreFoundNearBothEnds) {
    const TemporaryFolder folder;
    const std::string filling(1 << 20, '.');
    const auto path = folder.write("movie.mkv", "head" + filling + "MOVIE.PROGRAM" + filling.substr(0, 1000));
    EXPECT_TRUE(holds_near_an_end(path, "movie.program"));
    EXPECT_TRUE(holds_near_an_end(path, "head"));
    EXPECT_FALSE(holds_near_an_end(path, "other"));
    EXPECT_FALSE(holds_near_an_end(folder / "gone", "head"));
    EXPECT_TRUE(begins_with(path, "head"));
    EXPECT_FALSE(begins_with(path, "ead"));
    EXPECT_FALSE(begins_with(folder.write("short", "he"), "head"));
    for (const auto own : {is_own_volume, is_own_picture, is_own_movie})
        EXPECT_FALSE(own(folder.write("x.nrrd", "NRRD")));
}

}  // namespace
}  // namespace echolux
