// Rules for the names and places of outputs.
#include "engine/io/output_rule.h"

#include "temporary_folder.h"

namespace echolux {
namespace {

using testing::HasSubstr;

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
