// Reader processes whose codec does harm on purpose (double/hostile_reader.cpp): files and this process stay intact,
// and one line reports the attempt.
#include "engine/io/contained/reader_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string_view>

#include "compute/error.h"
#include "compute/indexing.h"
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

TEST_P(Forbidden, StopsProcessAndReportsCall) {
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

// Sanitizers catch crashes and exit without the signal.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

class Failing : public Contained, public testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(Failing, IsOneErrorInTime) {
    const auto begin = std::chrono::steady_clock::now();
    const auto caught = error_of([&] { opened(GetParam().first); });
    EXPECT_EQ(caught.code, ErrorCode::bad_file) << caught.line;
    EXPECT_THAT(caught.line, HasSubstr(file().string()));
    EXPECT_THAT(caught.line, HasSubstr(is_sanitized ? "damaged" : GetParam().second));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));  // the limit is 2 s
    expect_unharmed();
}

INSTANTIATE_TEST_SUITE_P(
    , Failing,
    testing::Values(std::pair("crash", "crashed"), std::pair("overflow its stack", "crashed"),
                    std::pair("divide by nothing", "crashed"), std::pair("end", "exited without a response"),
                    std::pair("hang", "within 2 s"), std::pair("hang without its alarm", "within 2 s"),
                    std::pair("take all memory", "more than 128 MiB"), std::pair("say nonsense", "damaged"),
                    std::pair("say a header of nonsense", "damaged"),
                    std::pair("announce more than there is", "damaged"), std::pair("announce and stop", "within 2 s")));

TEST_F(Contained, HidesOtherFiles) {
    const std::map<std::string, std::string> found = opened("look around")->header().texts;
    for (const char* way : {"open", "stat", "stat of nothing", "newfstatat", "statx", "limits"})
        EXPECT_EQ(found.at(way), "Operation not permitted") << way;
    EXPECT_EQ(found.at("input"), "done") << "what is open may be asked for";
    EXPECT_EQ(found.at("bytes of the input"), "5");
    EXPECT_EQ(found.at("nothing"), "Bad file descriptor");
}

// The input is a sealed file in memory, as for packed frames, which this program itself may write.
TEST_F(Contained, FileInMemoryIsReadOnly) {
    const Descriptor memory = file_in_memory();
    put(memory, std::string_view("input"));
    const OpenOrder order{.kind = "double",
                          .path = "packed",
                          .part = "map the input",
                          .numbers = {},
                          .max_bytes = 128 << 20,
                          .longest_s = 20};
    ReaderProcess process(order, memory);
    process.answer(Response::header, 20);
    char first = 0;
    ASSERT_EQ(pread(memory.number(), &first, 1, 0), 1);
    EXPECT_EQ(first, 'i');
}

// A compromised process ends when the kernel's time limit is reached, even if it disabled its own alarm.
TEST_F(Contained, KernelLimitsProcessorTime) {
    const auto reader = opened("");
    std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
    pid_t process = 0;
    if (!(children >> process)) GTEST_SKIP() << "this kernel lists no children";
    rlimit limit{};
    ASSERT_EQ(prlimit(process, RLIMIT_CPU, nullptr, &limit), 0);
    EXPECT_GE(limit.rlim_max, 3600);
    EXPECT_LE(limit.rlim_max, 3700);
}

// Lowers the limit step by step, so that every opening call fails once.
TEST_F(Contained, ReportsTooManyOpenFiles) {
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    rlim_t next = 0;
    {
        const Descriptor last(open("/dev/null", O_RDONLY));
        next = static_cast<rlim_t>(last.number());
    }
    const ContainedFile input = what("");
    bool is_opened = false;
    for (rlim_t more = 0; more < 40 && !is_opened; ++more) {
        SCOPED_TRACE(more);
        const rlimit few{next + more, before.rlim_max};
        setrlimit(RLIMIT_NOFILE, &few);
        const auto caught = error_of([&] {
            const auto reader = open_contained(input);
            is_opened = true;
        });
        setrlimit(RLIMIT_NOFILE, &before);
        if (is_opened) {
            EXPECT_GT(more, 3) << "else this tests nothing";
            break;
        }
        EXPECT_EQ(caught.code, ErrorCode::device);
        EXPECT_THAT(caught.line, HasSubstr(file().string()));
        EXPECT_THAT(caught.line, HasSubstr("too many files are open (close some, or allow more with ulimit -n)"));
    }
    EXPECT_TRUE(is_opened);
}

// Memory is allocated for the header that was received first. A compromised process could make its successor report
// another header with the same number of bytes.
class Fickle : public Contained, public testing::WithParamInterface<const char*> {};

TEST_P(Fickle, IsRejectedIfSuccessorDiffers) {
    const auto says = [&](const std::string& levels) { std::ofstream(file()) << levels; };
    const std::string first = "8 4 100 0 3 4 2 50 0 3";
    says(first);
    const auto reader = opened("change its mind");
    ASSERT_EQ(reader->levels().size(), 2);
    EXPECT_EQ(reader->read(0, {0, 50}).size(), 1600);
    EXPECT_THAT(error_of([&] { reader->read(1, {0, 50}); }).line, HasSubstr("exited without a response"));
    EXPECT_EQ(reader->read(0, {0, 50}).size(), 1600) << "the same again";
    EXPECT_THAT(error_of([&] { reader->read(1, {0, 50}); }).line, HasSubstr("exited without a response"));
    says(GetParam());
    EXPECT_THAT(error_of([&] { reader->read(0, {0, 50}); }).line, HasSubstr("has changed since it was opened"));
}

INSTANTIATE_TEST_SUITE_P(, Fickle,
                         testing::Values("4 8 100 0 3 4 2 50 0 3", "8 2 100 1 3 4 2 50 1 3", "8 4 300 0 1 4 2 50 0 3",
                                         "8 4 100 0 3 4 2 5000 0 3", "8 4 100 0 3"));

TEST_F(Contained, RejectsLevelsOfDifferentTypes) {
    std::ofstream(file()) << "8 4 100 0 3 4 2 50 5 3";
    EXPECT_THAT(error_of([&] { opened("change its mind"); }).line, HasSubstr("returned an invalid response"));
}

// Otherwise starting in a folder of someone else would run a program from there.
TEST_F(Contained, NeverStartsProgramOfCurrentFolder) {
    unsetenv("ECHOLUX_READER");
    std::filesystem::copy_file("/bin/true", folder_ / "echolux-reader");
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(folder_.path());
    for (const char* file : {"", "program", "./library.so", "lib/library.so"}) {
        const auto caught = error_of([&] { reader_program_for(file); });
        EXPECT_EQ(caught.code, ErrorCode::device) << file;
        EXPECT_THAT(caught.line, HasSubstr("cannot determine the path of this program"));
    }
    EXPECT_EQ(reader_program_for(folder_ / "program"), folder_ / "echolux-reader");
    const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    EXPECT_EQ(reader_program(), own / "echolux-reader");
    std::filesystem::current_path(before);
}

TEST_F(Contained, ReadsSlicesInAnyOrderWithContent) {
    const auto reader = opened("");
    EXPECT_EQ(reader->slices_together(), 7);
    const auto expect = [&](std::int64_t time, std::int64_t begin, std::int64_t end) {
        const std::vector<std::byte> voxels = reader->read(time, {begin, end});
        ASSERT_EQ(std::ssize(voxels), 32 * (end - begin));
        for (std::int64_t z = begin; z < end; ++z) {
            EXPECT_EQ(voxels[index(32 * (z - begin))], static_cast<std::byte>(time * 80 + z));
            EXPECT_EQ(voxels[index(32 * (z - begin) + 31)], static_cast<std::byte>(time * 80 + z));
        }
    };
    for (const std::int64_t step : {1, 7, 30, 100}) {  // in order: the next slices are prefetched
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

TEST_F(Contained, ReadsOtherTimePointsAfterCrash) {
    const auto reader = opened("crash later");
    EXPECT_EQ(reader->read(0, {0, 50}).size(), 1600);
    EXPECT_EQ(reader->read(0, {50, 100}).size(), 1600);  // the next time point is prefetched and crashes
    EXPECT_THAT(error_of([&] { reader->read(1, {0, 50}); }).line, HasSubstr(is_sanitized ? "damaged" : "crashed"));
    EXPECT_EQ(reader->read(2, {0, 100}).size(), 3200);
    EXPECT_EQ(reader->read(0, {99, 100}).front(), static_cast<std::byte>(99));
}

TEST_F(Contained, RejectsTooFewVoxels) {
    EXPECT_THAT(error_of([&] { opened("give too little")->read(0, {0, 2}); }).line, HasSubstr("3 bytes of 64"));
}

TEST_F(Contained, MissingProgramIsError) {
    setenv("ECHOLUX_READER", "/nonexistent/echolux-reader", 1);
    const auto caught = error_of([&] { opened(""); });
    EXPECT_EQ(caught.code, ErrorCode::device);
    EXPECT_THAT(caught.line, HasSubstr("cannot be started"));
    setenv("ECHOLUX_READER", "/bin/false", 1);
    EXPECT_THAT(error_of([&] { opened(""); }).line, HasSubstr("exited without a response"));
}

TEST_F(Contained, OpensOnlyRegularFiles) {
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
