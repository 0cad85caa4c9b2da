#include "engine/io/contained/reader_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/build.h"
#include "engine/io/regular_file.h"

extern char** environ;

namespace echolux {

// ---- descriptors ----------------------------------------------------------------------------------------------------

void Descriptor::close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
}

Descriptor open_regular(const std::filesystem::path& path) {
    // O_NONBLOCK: opening a FIFO without a writer would block.
    Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) check_open_files(errno, path.string());
    struct stat status {};
    const bool is_there = file || (errno != ENOENT && errno != ENOTDIR);
    const bool is_regular = file && fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode);
    if (is_regular) return file;
    if (file || !is_there) {
        throw Error(ErrorCode::bad_file, "does not exist or is not a file", path.string(), "check the name");
    }
    throw Error(ErrorCode::bad_file, "cannot be opened", path.string(), "check its permissions");
}

std::int64_t size_of(const Descriptor& file) {
    struct stat status {};
    return fstat(file.number(), &status) == 0 ? static_cast<std::int64_t>(status.st_size) : 0;
}

Descriptor file_in_memory() {
    Descriptor file(memfd_create("echolux-packed", MFD_CLOEXEC));
    if (file) return file;
    check_open_files(errno, "a file in memory");
    throw Error(ErrorCode::out_of_memory, "there is no memory to hand to a reader process");
}

void put(const Descriptor& file, std::span<const char> bytes) {
    std::int64_t place = 0;
    bool continues = ftruncate(file.number(), 0) == 0;
    while (continues && !bytes.empty()) {
        const ssize_t written = pwrite(file.number(), bytes.data(), bytes.size(), place);
        if (written < 0 && errno == EINTR) continue;
        continues = written > 0;
        if (!continues) break;
        bytes = bytes.subspan(index(written));
        place += written;
    }
    if (!continues)
        throw Error(ErrorCode::out_of_memory, "there is no memory to hand packed voxels to a reader process");
}

// ---- the process ----------------------------------------------------------------------------------------------------

namespace {

constexpr const char* program_name = "echolux-reader";
constexpr double max_work_s = 900;  // of waiting per process; well below longest_work_s

// `where` is a path or the system's error message.
[[noreturn]] void refuse_start(const std::string& what, const std::string& where) {
    throw Error(ErrorCode::device, what, where,
                "it reads files of other programs and is installed with Echolux: reinstall Echolux, or set "
                "ECHOLUX_READER to its path");
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
    if (!opened) refuse_means("cannot be opened read-only", file);
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
        if (begin <= here && here < end) return line.substr(index(path));
    }
    return {};
}

// Describes an exit status: "crashed (Aborted)".
std::string words_of(int status) {
    if (!WIFSIGNALED(status)) return "exited without a response";
    switch (WTERMSIG(status)) {
        case SIGSYS: return "was stopped: it made a forbidden system call";
        case SIGALRM: return "did not finish";
        case SIGXCPU: return "did not finish";
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
    if (!folder.is_absolute()) refuse_start("cannot determine the path of this program", "set ECHOLUX_READER");
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
    if (memory_ != nullptr) munmap(memory_, index(memory_bytes_));
}

// Creates socket and shared memory and starts the program. The memory is sealed against shrinking, since accessing it
// beyond its end would crash this process.
void ReaderProcess::start() {
    const std::filesystem::path program = reader_program();
    int ends[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        refuse_means("cannot create a socket for a reader process", order_.path);
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

bool ReaderProcess::can_continue() const {
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
std::string ReaderProcess::answer(Response expected, double longest_s) {
    const auto until =
        WireClock::now() + std::chrono::duration_cast<WireClock::duration>(std::chrono::duration<double>(longest_s));
    const auto begun = WireClock::now();
    std::optional<std::string> bytes = receive_frame(socket_.number(), until);
    worked_s_ += std::chrono::duration<double>(WireClock::now() - begun).count();
    if (!bytes) fail(longest_s, WireClock::now() >= until);
    try {
        FrameReader frame(*bytes);
        if (frame.what() == expected) return std::move(*bytes);
        if (frame.what() == Response::error) throw error_of(frame);
        if (frame.what() == Response::stopped) {
            const std::int64_t call = frame.number();
            end();
            throw Error(ErrorCode::bad_file,
                        fmt::format("reading was stopped: the reader process made a forbidden system call ({})", call),
                        order_.path, "do not trust this file; obtain it again from its source");
        }
    } catch (const BadFrame&) {
    }
    fail(longest_s, false);
}

// Ends the process and reports the reason from its exit status.
void ReaderProcess::fail(double longest_s, bool is_late) {
    std::string what = fmt::format("did not finish within {:.0f} s", longest_s);
    if (!is_late) {
        socket_.close();  // a process that sent invalid data sees the closed socket and exits
        int status = 0;
        pid_t ended = 0;
        const auto until = WireClock::now() + std::chrono::seconds(2);
        while ((ended = waitpid(process_, &status, WNOHANG)) == 0 && WireClock::now() < until) usleep(1000);
        what = ended == process_ ? words_of(status) : "exited without a response";
        if (ended == process_) process_ = -1;
    }
    end();
    throw Error(ErrorCode::bad_file, "is damaged or malicious: the reader process " + what, order_.path,
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
        const auto wanted = index(bytes);
        void* place = MAP_FAILED;
        if (ftruncate(memory_file_.number(), bytes) == 0) {
            place = mmap(nullptr, wanted, PROT_READ, MAP_SHARED, memory_file_.number(), 0);
        }
        if (place == MAP_FAILED) {
            throw Error(ErrorCode::out_of_memory,
                        fmt::format("there is no memory for {} to share with a reader process", plural(bytes, "bytes")),
                        order_.path);
        }
        if (memory_ != nullptr) munmap(memory_, index(memory_bytes_));
        memory_ = static_cast<std::byte*>(place);
        memory_bytes_ = bytes;
    }
    return {memory_, index(memory_bytes_)};
}

// ---- the reader -----------------------------------------------------------------------------------------------------

namespace {

// Compares the properties that buffer sizes depend on. A restarted process might report different ones, because the
// file may have taken control of it.
bool has_same_voxels(const ImageHeader& a, const ImageHeader& b) {
    return a.size == b.size && a.type == b.type && a.time_points == b.time_points;
}

class ContainedReader final : public ImageReader {
  public:
    ContainedReader(ContainedFile what, Descriptor file)
        : what_(std::move(what)), file_(std::move(file)), file_bytes_(size_of(file_)) {
        open();
    }

    const ImageHeader& header() const override { return levels_.front(); }
    std::vector<ImageHeader> levels() const override { return levels_; }
    std::int64_t slices_together() const override { return slices_together_; }
    bool reads_boxes() const override { return reads_boxes_; }

    std::vector<std::byte> read(std::int64_t time_point, Interval slices) override {
        const ReadRequest wanted{time_point, slices};
        const std::int64_t bytes = (slices.end - slices.begin) * header().slice_bytes();
        if (ahead_ != wanted) {
            drop_ahead();
            ask_for(wanted, 0);
        }
        ahead_.reset();
        await_answer(bytes);
        const std::int64_t place = place_;
        const bool is_in_order =
            slices.begin == 0 || last_ == ReadRequest{time_point, {last_.slices.begin, slices.begin}};
        last_ = wanted;
        if (is_in_order) ask_ahead(after(wanted), place == 0 ? bytes : 0);
        return copied(place, bytes);
    }

    std::vector<std::byte> read_box(std::int64_t time_point, std::size_t level, const ImageBox& box) override {
        drop_ahead();
        if (!reads_boxes_ || level >= levels_.size()) return ImageReader::read_box(time_point, level, box);
        const std::int64_t bytes = (box.columns.end - box.columns.begin) * (box.rows.end - box.rows.begin) *
                                   (box.slices.end - box.slices.begin) * bytes_of(levels_[level].type);
        ask({.time_point = time_point, .level = static_cast<std::int64_t>(level), .box = box, .bytes = bytes}, bytes);
        await_answer(bytes);
        return copied(0, bytes);
    }

  private:
    struct ReadRequest {
        std::int64_t time_point = -1;
        Interval slices{};

        bool operator==(const ReadRequest& other) const {
            return time_point == other.time_point && slices.begin == other.slices.begin &&
                   slices.end == other.slices.end;
        }
    };

    // Timeout of an answer, from the sizes of the file and the voxels.
    double longest_s(std::int64_t bytes) const {
        return static_cast<double>(what_.longest_s) +
               (static_cast<double>(file_bytes_) + static_cast<double>(bytes)) / slowest_reading;
    }

    void open() {
        OpenOrder order{.kind = what_.kind,
                        .path = what_.path.string(),
                        .part = what_.part,
                        .numbers = what_.numbers,
                        .max_bytes = what_.max_bytes,
                        .longest_s = static_cast<std::int64_t>(longest_s(0)) + 1};
        process_ = std::make_unique<ReaderProcess>(order, file_);
        const std::string answer = process_->answer(Response::header, longest_s(0));
        try {
            FrameReader frame(answer);
            reads_boxes_ = frame.number() != 0;
            slices_together_ = std::clamp<std::int64_t>(frame.number(), 1, std::int64_t{1} << 40);
            const std::int64_t count = frame.number();
            constexpr std::int64_t most = 64;
            if (count < 1 || count > most) throw BadFrame();
            levels_.clear();
            for (std::int64_t i = 0; i < count; ++i) levels_.push_back(frame.header());
            const auto is_of_one_type = [&](const ImageHeader& level) { return level.type == header().type; };
            if (!std::ranges::all_of(levels_, is_of_one_type)) throw BadFrame();
        } catch (const BadFrame&) {
            throw Error(ErrorCode::bad_file, "is damaged: the reader process returned an invalid response",
                        what_.path.string(), "copy the file again");
        }
    }

    // Returns the piece after `one`, of the same length, if necessary in the next time point. Returns std::nullopt at
    // the end.
    std::optional<ReadRequest> after(const ReadRequest& one) const {
        const std::int64_t count = one.slices.end - one.slices.begin, all = header().size[2];
        // Larger pieces are not read ahead: their callers do other work between reads.
        constexpr std::int64_t most_ahead = 64 << 20;  // bytes
        if (count * header().slice_bytes() > most_ahead) return std::nullopt;
        if (one.slices.end < all)
            return ReadRequest{one.time_point, {one.slices.end, std::min(one.slices.end + count, all)}};
        if (one.time_point + 1 < header().time_points)
            return ReadRequest{one.time_point + 1, {0, std::min(count, all)}};
        return std::nullopt;
    }

    // Requests the next piece in advance. Errors are reported when that piece is read.
    void ask_ahead(const std::optional<ReadRequest>& next, std::int64_t place) {
        // A new process would lack the voxels that are already in shared memory.
        if (!next || !process_->can_continue()) return;
        const std::int64_t place_of_this = place_;
        try {
            ask_for(*next, place);  // not larger than the current piece
            ahead_ = next;
        } catch (const Error&) {
            place_ = place_of_this;
        }
    }

    void ask_for(const ReadRequest& wanted, std::int64_t place) {
        const std::int64_t bytes = (wanted.slices.end - wanted.slices.begin) * header().slice_bytes();
        ask({.time_point = wanted.time_point,
             .box = {.columns = {}, .rows = {}, .slices = wanted.slices},
             .place = place,
             .bytes = bytes},
            place + bytes);
        place_ = place;
    }

    // Sends a request. Replaces the process if it has ended or is close to its time limit.
    void ask(const ReadOrder& order, std::int64_t memory) {
        if (!process_ || !process_->can_continue()) {
            const std::vector<ImageHeader> before = levels_;
            open();
            if (!std::ranges::equal(levels_, before, has_same_voxels)) {
                throw Error(ErrorCode::bad_file, "has changed since it was opened", what_.path.string(),
                            "open it again");
            }
        }
        process_->memory(memory);
        process_->ask(order.frame());
    }

    void await_answer(std::int64_t bytes) { process_->answer(Response::done, longest_s(bytes)); }

    std::vector<std::byte> copied(std::int64_t place, std::int64_t bytes) {
        const std::span<const std::byte> all = process_->memory(place + bytes);
        const std::byte* begin = all.data() + place;
        return {begin, begin + bytes};
    }

    // Discards a piece that was read in advance. Its errors are ignored until the piece is read again.
    void drop_ahead() {
        if (!ahead_) return;
        const ReadRequest unwanted = *std::exchange(ahead_, std::nullopt);
        try {
            await_answer((unwanted.slices.end - unwanted.slices.begin) * header().slice_bytes());
        } catch (const Error&) {
        }
    }

    ContainedFile what_;
    Descriptor file_;
    std::int64_t file_bytes_;
    std::unique_ptr<ReaderProcess> process_;
    std::vector<ImageHeader> levels_;
    std::int64_t slices_together_ = 1;
    bool reads_boxes_ = false;
    std::optional<ReadRequest> ahead_;  // requested, not yet answered
    ReadRequest last_;
    std::int64_t place_ = 0;  // offset of the last requested voxels in shared memory
};

}  // namespace

std::unique_ptr<ImageReader> open_contained(ContainedFile what, Descriptor file) {
    return std::make_unique<ContainedReader>(std::move(what), std::move(file));
}

std::unique_ptr<ImageReader> open_contained(ContainedFile what) {
    Descriptor file = open_regular(what.path);
    return open_contained(std::move(what), std::move(file));
}

}  // namespace echolux
