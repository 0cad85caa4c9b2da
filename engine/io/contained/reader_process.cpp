// Starts, queries and ends reader processes: implements reader_process.h.
#include "engine/io/contained/reader_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "compute/counted.h"
#include "engine/build.h"
#include "engine/io/regular_file.h"

extern char** environ;

namespace echolux {
namespace {

constexpr const char* program_name = "echolux-reader";
constexpr double max_work_s = 900;  // of waiting per process; well below longest_work_s

// `where` is a path or the system's error message.
[[noreturn]] void refuse_start(const std::string& what, const std::string& where) {
    throw Error(
        ErrorCode::device, what, where,
        "it reads files of other programs for Echolux and is installed with it: install Echolux again, or name it in "
        "ECHOLUX_READER");
}

// Passes only variables that the loader and the sanitizers need; others may contain secrets.
std::vector<char*> environment() {
    std::vector<char*> kept;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::string_view name = text.substr(0, text.find('='));
        if (name.starts_with("LD_") || name.ends_with("SAN_OPTIONS") || name == "ASAN_SYMBOLIZER_PATH")
            kept.push_back(*entry);
    }
    kept.push_back(nullptr);
    return kept;
}

// File descriptors of the new process.
struct Actions {
    Actions() { posix_spawn_file_actions_init(&list); }
    ~Actions() { posix_spawn_file_actions_destroy(&list); }
    Actions(const Actions&) = delete;
    Actions& operator=(const Actions&) = delete;

    posix_spawn_file_actions_t list{};
};

// Reports a failed system call during startup; `errno` has the reason.
[[noreturn]] void refuse_means(const std::string& what, const std::string& file) {
    const int problem = errno;
    check_open_files(problem, file);
    refuse_start(fmt::format("{}: {}", what, std::strerror(problem)), file);
}

// Duplicates a descriptor to a number above those of the new process, so that dup2 does not overwrite it.
Descriptor moved_up(int number, const std::string& file) {
    Descriptor copy(fcntl(number, F_DUPFD_CLOEXEC, reader_file + 1));
    if (!copy) refuse_means("cannot be handed to a reader process", file);
    return copy;
}

// Returns a read-only descriptor of the same file. A duplicate would share the access mode, so a writable file is
// reopened.
Descriptor for_reading_alone(int number, const std::string& file) {
    if ((fcntl(number, F_GETFL) & O_ACCMODE) == O_RDONLY) return moved_up(number, file);
    const Descriptor opened(open(fmt::format("/proc/self/fd/{}", number).c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened) refuse_means("cannot be opened for reading alone", file);
    return moved_up(opened.number(), file);
}

// Returns the path of the library or program that contains this code, as known to the kernel. argv[0] and loader names
// are under the control of the starting process, and may be relative to another folder. Returns "" if unknown.
std::filesystem::path own_file() {
    const auto here = reinterpret_cast<std::uintptr_t>(&own_file);
    std::ifstream maps = regular_stream("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        std::uintptr_t begin = 0, end = 0;
        int path = 0;  // after the addresses: permissions, offset, device, inode
        if (std::sscanf(line.c_str(), "%zx-%zx %*s %*s %*s %*s %n", &begin, &end, &path) != 2) continue;
        if (begin <= here && here < end) return line.substr(static_cast<std::size_t>(path));
    }
    return {};
}

// Describes an exit status: "crashed (Aborted)".
std::string words_of(int status) {
    if (!WIFSIGNALED(status)) return "ended without a word";
    switch (WTERMSIG(status)) {
        case SIGSYS: return "was stopped: it tried what a reader may not";
        case SIGALRM: return "did not come to an end";
        case SIGXCPU: return "did not come to an end";
        case SIGKILL: return "was killed";
        default: return fmt::format("crashed ({})", strsignal(WTERMSIG(status)));
    }
}

}  // namespace

std::filesystem::path reader_program() {
    if (const char* named = std::getenv("ECHOLUX_READER"); named != nullptr && *named != '\0') return named;
    return reader_program_for(own_file());
}

std::filesystem::path reader_program_for(const std::filesystem::path& file) {
    const std::filesystem::path folder = file.parent_path();
    if (!folder.is_absolute()) refuse_start("where this program lies cannot be told", "set ECHOLUX_READER");
    std::error_code problem;
    for (const char* place : {"", "../bin", "../../bin"}) {  // for lib and lib/x86_64-linux-gnu
        const std::filesystem::path program = (folder / place / program_name).lexically_normal();
        if (std::filesystem::is_regular_file(program, problem)) return program;
    }
    refuse_start(fmt::format("the program {} is missing", program_name), folder.string());
}

ReaderProcess::ReaderProcess(const OpenOrder& order, const Descriptor& file) : order_(order), file_(file.number()) {
    start();
    ask(order_.frame());
}

ReaderProcess::~ReaderProcess() {
    end();
    if (memory_ != nullptr) munmap(memory_, static_cast<std::size_t>(memory_bytes_));
}

// Creates socket and shared memory and starts the program. The memory is sealed against shrinking, since accessing it
// beyond its end would crash this process.
void ReaderProcess::start() {
    const std::filesystem::path program = reader_program();
    int ends[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        refuse_means("no socket for a reader process", order_.path);
    Descriptor theirs(ends[1]);
    socket_ = Descriptor(ends[0]);
    memory_file_ = Descriptor(memfd_create("echolux-voxels", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!memory_file_ || fcntl(memory_file_.number(), F_ADD_SEALS, F_SEAL_SHRINK) != 0)
        refuse_means("no memory to share with a reader process", order_.path);
    const Descriptor socket = moved_up(theirs.number(), order_.path);
    const Descriptor memory = moved_up(memory_file_.number(), order_.path);
    const Descriptor file = for_reading_alone(file_, order_.path);
    Actions actions;
    posix_spawn_file_actions_addopen(&actions.list, 0, "/dev/null", O_RDONLY, 0);
    for (const int output : {1, 2}) posix_spawn_file_actions_addopen(&actions.list, output, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions.list, socket.number(), reader_socket);
    posix_spawn_file_actions_adddup2(&actions.list, memory.number(), reader_memory);
    posix_spawn_file_actions_adddup2(&actions.list, file.number(), reader_file);
    std::string name = program.string(), protocol = std::to_string(reader_protocol), version = echolux::version;
    std::array<char*, 4> arguments{name.data(), version.data(), protocol.data(), nullptr};
    pid_t process = -1;
    const int problem =
        posix_spawn(&process, name.c_str(), &actions.list, nullptr, arguments.data(), environment().data());
    check_open_files(problem, order_.path);
    if (problem != 0) refuse_start(fmt::format("cannot be started: {}", std::strerror(problem)), name);
    process_ = process;
}

bool ReaderProcess::can_go_on() const {
    return process_ >= 0 && worked_s_ < max_work_s;
}

void ReaderProcess::open_again(const OpenOrder& order) {
    order_ = order;
    ask(order_.frame());
}

void ReaderProcess::ask(const Frame& frame) {
    if (!send_frame(socket_.number(), frame)) fail(0, false);
}

// Any other frame than the expected one, an error or a violation report counts as a crash.
std::string ReaderProcess::answer(Says expected, double longest_s) {
    const auto until =
        WireClock::now() + std::chrono::duration_cast<WireClock::duration>(std::chrono::duration<double>(longest_s));
    const auto begun = WireClock::now();
    std::optional<std::string> bytes = receive_frame(socket_.number(), until);
    worked_s_ += std::chrono::duration<double>(WireClock::now() - begun).count();
    if (!bytes) fail(longest_s, WireClock::now() >= until);
    try {
        FrameReader frame(*bytes);
        if (frame.what() == expected) return std::move(*bytes);
        if (frame.what() == Says::error) throw error_of(frame);
        if (frame.what() == Says::stopped) {
            const std::int64_t call = frame.number();
            end();
            throw Error(ErrorCode::bad_file,
                        fmt::format("reading was stopped: the reader process made a forbidden system call ({})", call),
                        order_.path, "do not trust this file; get it again from where it was made");
        }
    } catch (const BadFrame&) {
    }
    fail(longest_s, false);
}

// Ends the process and reports the reason from its exit status.
void ReaderProcess::fail(double longest_s, bool is_late) {
    std::string what = fmt::format("did not come to an end within {:.0f} s", longest_s);
    if (!is_late) {
        socket_.close();  // a process that sent invalid data sees the closed socket and exits
        int status = 0;
        pid_t ended = 0;
        const auto until = WireClock::now() + std::chrono::seconds(2);
        while ((ended = waitpid(process_, &status, WNOHANG)) == 0 && WireClock::now() < until) usleep(1000);
        what = ended == process_ ? words_of(status) : "ended without a word";
        if (ended == process_) process_ = -1;
    }
    end();
    throw Error(ErrorCode::bad_file, "is damaged, or made to do harm: the process that read it " + what, order_.path,
                "copy the file again");
}

void ReaderProcess::end() {
    if (process_ < 0) return;
    kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
    process_ = -1;
}

// Grows the shared memory if needed. The mapping is read-only in this process.
std::span<const std::byte> ReaderProcess::memory(std::int64_t bytes) {
    if (bytes > memory_bytes_) {
        const auto wanted = static_cast<std::size_t>(bytes);
        void* place = MAP_FAILED;
        if (ftruncate(memory_file_.number(), bytes) == 0) {
            place = mmap(nullptr, wanted, PROT_READ, MAP_SHARED, memory_file_.number(), 0);
        }
        if (place == MAP_FAILED) {
            throw Error(
                ErrorCode::out_of_memory,
                fmt::format("there is no memory for {} to share with a reader process", counted(bytes, "bytes")),
                order_.path);
        }
        if (memory_ != nullptr) munmap(memory_, static_cast<std::size_t>(memory_bytes_));
        memory_ = static_cast<std::byte*>(place);
        memory_bytes_ = bytes;
    }
    return {memory_, static_cast<std::size_t>(memory_bytes_)};
}

}  // namespace echolux
