// What reader processes come to whose codec does harm on purpose (double/hostile_reader.cpp): nothing happens to files
// and to this process, and one line says what was tried.
#include "engine/io/contained/contained_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include "compute/error.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using testing::HasSubstr;

class Contained : public testing::Test {
  protected:
    void SetUp() override {
        setenv("ECHOLUX_READER", ECHOLUX_HOSTILE_READER, 1);
        std::ofstream(file()) << "input";
        std::ofstream(harmed()) << "untouched";
    }
    void TearDown() override {
        unsetenv("ECHOLUX_READER");
        EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a process is left";
    }

    std::filesystem::path file() const { return folder_ / "input.bin"; }
    std::filesystem::path harmed() const { return folder_ / "input.bin.harmed"; }

    ContainedFile what(const std::string& part) const {
        return {.kind = "double", .path = file(), .part = part, .max_bytes = 128 << 20, .longest_s = 2};
    }

    std::unique_ptr<ImageReader> opened(const std::string& part) const { return open_contained(what(part)); }

    void expect_unharmed() const {
        const auto text = [](const std::filesystem::path& path) {
            std::ifstream stream(path);
            return std::string(std::istreambuf_iterator<char>(stream), {});
        };
        EXPECT_EQ(text(file()), "input");
        EXPECT_EQ(text(harmed()), "untouched");
        EXPECT_EQ(folder_.entries(), 2) << "a new file";
    }

    TemporaryFolder folder_;
};

class Forbidden : public Contained, public testing::WithParamInterface<const char*> {};

TEST_P(Forbidden, IsStoppedAndSeenToBe) {
    const auto caught = error_of([&] { opened(GetParam()); });
    EXPECT_EQ(caught.code, ErrorCode::bad_file);
    EXPECT_THAT(caught.line, HasSubstr(file().string()));
    EXPECT_THAT(caught.line, HasSubstr("was stopped"));
    expect_unharmed();
}

INSTANTIATE_TEST_SUITE_P(, Forbidden,
                         testing::Values("write a file", "write by open()", "write into the input",
                                         "write to another descriptor", "remove a file", "rename a file",
                                         "truncate a file", "make a folder", "connect", "connect locally",
                                         "send to an address", "start a program", "start a process", "kill its parent",
                                         "watch its parent", "make code", "make code of data",
                                         "start a program with signals blocked"));

// Sanitizers take crashes for themselves, and end without the signal.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

class Failing : public Contained, public testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(Failing, IsOneErrorWithinTheTimeThatItMayTake) {
    const auto begin = std::chrono::steady_clock::now();
    const auto caught = error_of([&] { opened(GetParam().first); });
    EXPECT_EQ(caught.code, ErrorCode::bad_file) << caught.line;
    EXPECT_THAT(caught.line, HasSubstr(file().string()));
    EXPECT_THAT(caught.line, HasSubstr(is_sanitized ? "damaged" : GetParam().second));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));  // 2 s, and a busy machine
    expect_unharmed();
}

INSTANTIATE_TEST_SUITE_P(
    , Failing,
    testing::Values(std::pair("crash", "crashed"), std::pair("overflow its stack", "crashed"),
                    std::pair("divide by nothing", "crashed"), std::pair("end", "ended without a word"),
                    std::pair("hang", "within 2 s"), std::pair("take all memory", "more than 128 MiB"),
                    std::pair("say nonsense", "damaged"), std::pair("say a header of nonsense", "damaged"),
                    std::pair("announce more than there is", "damaged"), std::pair("announce and stop", "within 2 s")));

TEST_F(Contained, OtherFilesCannotBeRead) {
    EXPECT_EQ(opened("look around")->header().texts.at("passwd"), "Operation not permitted");
}

TEST_F(Contained, SlicesComeInAnyOrderWithWhatTheyHold) {
    const auto reader = opened("");
    EXPECT_EQ(reader->slices_together(), 7);
    const auto expect = [&](std::int64_t time, std::int64_t begin, std::int64_t end) {
        const std::vector<std::byte> voxels = reader->read(time, {begin, end});
        ASSERT_EQ(std::ssize(voxels), 32 * (end - begin));
        for (std::int64_t z = begin; z < end; ++z) {
            EXPECT_EQ(voxels[static_cast<std::size_t>(32 * (z - begin))], static_cast<std::byte>(time * 80 + z));
            EXPECT_EQ(voxels[static_cast<std::size_t>(32 * (z - begin) + 31)], static_cast<std::byte>(time * 80 + z));
        }
    };
    for (const std::int64_t step : {1, 7, 30, 100}) {  // in order: the next ones are under way
        for (std::int64_t time = 0; time < 3; ++time) {
            for (std::int64_t z = 0; z < 100; z += step) expect(time, z, std::min<std::int64_t>(100, z + step));
        }
    }
    for (const auto& [time, begin, end] : std::vector<std::array<std::int64_t, 3>>{{0, 0, 7},
                                                                                   {2, 50, 99},
                                                                                   {0, 7, 14},
                                                                                   {1, 0, 100},
                                                                                   {0, 14, 15},
                                                                                   {0, 15, 90},
                                                                                   {0, 90, 91},
                                                                                   {1, 0, 1},
                                                                                   {1, 1, 50}})
        expect(time, begin, end);
    const std::vector<std::byte> box = reader->read_box(2, 0, {{1, 4}, {0, 2}, {9, 10}});
    EXPECT_EQ(box, std::vector<std::byte>(6, static_cast<std::byte>(169)));
    expect(0, 91, 100);
}

TEST_F(Contained, AfterATimePointThatCrashesOthersAreRead) {
    const auto reader = opened("crash later");
    EXPECT_EQ(reader->read(0, {0, 50}).size(), 1600);
    EXPECT_EQ(reader->read(0, {50, 100}).size(), 1600);  // the next time point is under way, and crashes there
    EXPECT_THAT(error_of([&] { reader->read(1, {0, 50}); }).line, HasSubstr(is_sanitized ? "damaged" : "crashed"));
    EXPECT_EQ(reader->read(2, {0, 100}).size(), 3200);
    EXPECT_EQ(reader->read(0, {99, 100}).front(), static_cast<std::byte>(99));
}

TEST_F(Contained, TooFewVoxelsAreAnError) {
    EXPECT_THAT(error_of([&] { opened("give too little")->read(0, {0, 2}); }).line, HasSubstr("3 bytes of 64"));
}

TEST_F(Contained, WithoutTheProgramThereIsAnError) {
    setenv("ECHOLUX_READER", "/nonexistent/echolux-reader", 1);
    const auto caught = error_of([&] { opened(""); });
    EXPECT_EQ(caught.code, ErrorCode::device);
    EXPECT_THAT(caught.line, HasSubstr("cannot be started"));
    setenv("ECHOLUX_READER", "/bin/false", 1);
    EXPECT_THAT(error_of([&] { opened(""); }).line, HasSubstr("ended without a word"));
}

TEST_F(Contained, WhatIsNoRegularFileIsNotOpened) {
    ContainedFile other = what("");
    for (const std::filesystem::path& path :
         {folder_.path(), std::filesystem::path("/dev/zero"), folder_ / "missing"}) {
        other.path = path;
        EXPECT_THAT(error_of([&] { open_contained(other); }).line, HasSubstr("does not exist or is not a file"));
    }
    other.path = folder_ / "fifo";
    ASSERT_EQ(mkfifo(other.path.c_str(), 0600), 0);
    EXPECT_THAT(error_of([&] { open_contained(other); }).line, HasSubstr("is not a file"));
}

}  // namespace
}  // namespace echolux
