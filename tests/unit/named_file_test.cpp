// Limits of untrusted texts and headers: their nesting depth, and the files they may name.
#include "engine/io/file_name.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "engine/io/json_text.h"
#include "engine/io/regular_file.h"
#include "engine/scan/settings.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

std::string repeated(const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
}

TEST(Depth, LimitsNestingOfJson) {
    const auto nested = [](int depth) { return repeated("[", depth) + repeated("]", depth); };
    EXPECT_EQ(parsed_json(nested(64), "x", "").size(), 1u);
    EXPECT_THAT(error_of([&] { parsed_json(nested(65), "x.json", "copy it"); }).line,
                HasSubstr("x.json: is JSON nested more than 64 deep (copy it)"));
    EXPECT_THAT(error_of([&] { parsed_json(nested(1'000'000), "x", ""); }).line, HasSubstr("nested"));
    EXPECT_THAT(error_of([&] { parsed_json(repeated("{\"a\":", 1'000'000), "x", ""); }).line, HasSubstr("nested"));
    EXPECT_THAT(error_of([&] { parsed_json("[1, 2", "x", ""); }).line, HasSubstr("is not JSON"));
    const std::string in_texts =
        R"(["[[[[[\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "\\"])";
    EXPECT_EQ(parsed_json(in_texts, "x", "").size(), 2u) << "brackets within texts do not count";
    EXPECT_EQ(parsed_json(repeated("[[[]]],", 0) + "[" + repeated("[[]],", 500) + "[]]", "x", "").size(), 501u);
}

TEST(Depth, LimitsNestingOfToml) {
    const auto refused = [](const std::string& text) {
        const auto caught = error_of([&] { toml_entries(text, "x.toml"); });
        EXPECT_EQ(caught.code, ErrorCode::bad_file);
        return caught.line.find("x.toml: is nested more than 16 deep") == 0;
    };
    constexpr int many = 300'000;
    EXPECT_TRUE(refused("[a]\nb = " + repeated("[", many)));
    EXPECT_TRUE(refused("[a]\nb = " + repeated("[", 17) + repeated("]", 17)));
    EXPECT_TRUE(refused("[a]\nb = " + repeated("{ a = ", many)));
    EXPECT_TRUE(refused("[a]\n" + repeated("b.", many) + "c = 1\n"));
    EXPECT_TRUE(refused("[" + repeated("b.", many) + "c]\n"));
    EXPECT_TRUE(refused("[a]\n" + repeated("\"b\" . ", many) + "c = 1\n"));
    EXPECT_TRUE(refused("[a]\nb = \"\"\"\n\"\"\"\nc = " + repeated("[", many))) << "behind a text of several lines";
    EXPECT_TRUE(refused("[a]\nb = {c = \"\"\"a quote: \"\"\"\", " + repeated("d.", many) + "e = 1}\n"))
        << "a quote at the end";
    EXPECT_TRUE(refused("[a]\nb = 'it''s' # it's\nc = " + repeated("[", many))) << "behind a comment";
}

TEST(Depth, AcceptsUsualToml) {
    const std::string numbers = "[a]\nb = [" + repeated("1.5, -2.25e-3, ", 5000) + "0.0]\n";
    EXPECT_EQ(toml_entries(numbers, "x").size(), 1u);
    const std::string texts =
        "[a]\nb = \"[[[[[[[[[[[[[[[[[[[[[ a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r \\\" [[\"\n"
        "c = '[[[[[[[[[[[[[[[[[[[[[[[[[[ \\'\n"
        "d = \"\"\"{{{{{{{{{{{{{{{{{{{{{{{{{{{\n \" [[[[[[\"\"\"  # [[[[[[[[[[[[[[[[[[[[ "
        "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s\n";
    EXPECT_EQ(toml_entries(texts, "x").size(), 3u);
}

class NamedFiles : public testing::Test {
  protected:
    NamedFiles() {
        fs::create_directories(folder_ / "data/below");
        fs::create_directories(folder_ / "other");
        folder_.write("data/v.raw", "v");
        folder_.write("data/below/v.raw", "v");
        folder_.write("other/v.raw", "v");
        fs::create_symlink(folder_ / "other/v.raw", folder_ / "data/out.raw");
        fs::create_symlink(folder_ / "data/v.raw", folder_ / "data/in.raw");
        fs::create_symlink(folder_ / "other", folder_ / "data/out");
        fs::create_symlink(folder_ / "data", folder_ / "again");
        unsetenv(data_folders_variable);
    }
    ~NamedFiles() override { unsetenv(data_folders_variable); }

    std::string refusal(const std::string& name, const std::string& header = "data/x.nhdr") const {
        return error_of([&] { named_file(folder_ / header, name); }).line;
    }

    TemporaryFolder folder_;
};

TEST_F(NamedFiles, MayBeBesideOrBelow) {
    for (const char* name : {"v.raw", "./v.raw", "below/v.raw", "below/../v.raw", "in.raw"}) {
        EXPECT_EQ(refusal(name), "") << name;
        EXPECT_EQ(refusal(name, "again/x.nhdr"), "") << "by a link to the folder: " << name;
    }
    EXPECT_EQ(refusal((folder_ / "data/v.raw").string()), "") << "a whole name of a file beside it";
}

TEST_F(NamedFiles, MayNotBeElsewhere) {
    for (const std::string& name :
         {std::string("../other/v.raw"), std::string("below/../../other/v.raw"), std::string("out.raw"),
          std::string("out/v.raw"), std::string("/etc/passwd"), std::string("../../../../../../../etc/passwd"),
          std::string("/proc/self/environ"), std::string("../datafile"), (folder_ / "other/v.raw").string()}) {
        EXPECT_THAT(refusal(name), HasSubstr("refers to a file outside its folder")) << name;
        EXPECT_THAT(refusal(name), HasSubstr("x.nhdr")) << name;
    }
    fs::create_directories(folder_ / "data2");
    folder_.write("data2/v.raw", "v");
    EXPECT_THAT(refusal("../data2/v.raw"), HasSubstr("outside")) << "the same letters are not the same folder";
    EXPECT_THAT(refusal("missing.raw"), HasSubstr("cannot be read"));
    EXPECT_THAT(refusal("below"), HasSubstr("cannot be read"));
}

TEST_F(NamedFiles, MayBeInFoldersAllowedByUser) {
    setenv(data_folders_variable, ("/nowhere:" + (folder_ / "other").string()).c_str(), 1);
    EXPECT_EQ(refusal("../other/v.raw"), "");
    EXPECT_EQ(refusal("out.raw"), "");
    EXPECT_THAT(refusal("/etc/passwd"), HasSubstr("outside"));
    setenv(data_folders_variable, "::", 1);
    EXPECT_THAT(refusal("../other/v.raw"), HasSubstr("outside")) << "an empty name is no folder";
}

TEST(RegularFiles, AreRequired) {
    const TemporaryFolder folder;
    const fs::path fifo = folder / "fifo";
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    for (const fs::path& path : {fifo, folder.path(), fs::path("/dev/zero"), folder / "missing"}) {
        EXPECT_FALSE(regular_stream(path)) << path;
        EXPECT_NE(error_of([&] { open_file(path); }).line, "") << path;
        EXPECT_NE(error_of([&] { whole_file(path, 100, "is too large"); }).line, "") << path;
    }
    EXPECT_EQ(whole_file(folder.write("a", "text"), 4, "is too large"), "text");
    EXPECT_THAT(error_of([&] { whole_file(folder / "a", 3, "is too large", "cut it"); }).line,
                HasSubstr("is too large (cut it)"));
}

TEST(RegularFiles, LimitLengthOfLines) {
    std::istringstream stream("ab\n\nabc\nlast");
    std::string line;
    EXPECT_TRUE(read_line(stream, line, 3, "x") && line == "ab");
    EXPECT_TRUE(read_line(stream, line, 3, "x") && line.empty());
    EXPECT_TRUE(read_line(stream, line, 3, "x") && line == "abc");
    EXPECT_THAT(error_of([&] { read_line(stream, line, 3, "x.csv"); }).line,
                HasSubstr("x.csv: has a line of more than 3"));
}

}  // namespace
}  // namespace echolux
