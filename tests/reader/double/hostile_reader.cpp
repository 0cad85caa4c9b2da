// A reader process whose codec does harm on purpose; the requested part of the file selects the harm. It runs in the
// same sandbox as the real reader and is started by the same code.
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <sstream>
#include <vector>

#include "compute/indexing.h"
#include "engine/reader/serve.h"

namespace {

using namespace echolux;

// Harmless voxels whose values encode time point and slice.
class Stack final : public ImageReader {
  public:
    explicit Stack(std::map<std::string, std::string> texts = {}) {
        header_.size = {8, 4, 100};
        header_.type = VoxelType::u8;
        header_.time_points = 3;
        header_.texts = std::move(texts);
    }

    const ImageHeader& header() const override { return header_; }
    bool reads_boxes() const override { return true; }
    std::int64_t slices_together() const override { return 7; }

    std::vector<std::byte> read(std::int64_t time_point, Interval slices) override {
        std::vector<std::byte> voxels;
        for (std::int64_t z = slices.begin; z < slices.end; ++z) {
            voxels.insert(voxels.end(), 32, static_cast<std::byte>(time_point * 80 + z));
        }
        return voxels;
    }

    std::vector<std::byte> read_box(std::int64_t time_point, std::size_t, const ImageBox& box) override {
        const auto count = index((box.columns.end - box.columns.begin) * (box.rows.end - box.rows.begin) *
                                 (box.slices.end - box.slices.begin));
        return std::vector<std::byte>(count, static_cast<std::byte>(time_point * 80 + box.slices.begin));
    }

  private:
    ImageHeader header_;
};

// Crashes at the second time point.
class LateHarm final : public ImageReader {
  public:
    const ImageHeader& header() const override { return stack_.header(); }
    std::vector<std::byte> read(std::int64_t time_point, Interval slices) override {
        if (time_point == 1) std::abort();
        return stack_.read(time_point, slices);
    }

  private:
    Stack stack_;
};

class WrongSizes final : public ImageReader {
  public:
    const ImageHeader& header() const override { return stack_.header(); }
    std::vector<std::byte> read(std::int64_t, Interval) override { return std::vector<std::byte>(3); }

  private:
    Stack stack_;
};

// Exits at the second time point. Its levels are numbers in the input: x y z, type and time points per level.
class Fickle final : public ImageReader {
  public:
    Fickle() {
        std::string text(1000, '\0');
        text.resize(index(std::max<ssize_t>(0, pread(reader_file, text.data(), text.size(), 0))));
        std::istringstream numbers(text);
        ImageHeader level;
        int type = 0;
        while (numbers >> level.size[0] >> level.size[1] >> level.size[2] >> type >> level.time_points) {
            level.type = static_cast<VoxelType>(type);
            levels_.push_back(level);
        }
    }

    const ImageHeader& header() const override { return levels_.front(); }
    std::vector<ImageHeader> levels() const override { return levels_; }
    std::vector<std::byte> read(std::int64_t time_point, Interval slices) override {
        if (time_point == 1) _exit(0);
        return std::vector<std::byte>(index((slices.end - slices.begin) * header().slice_bytes()));
    }

  private:
    std::vector<ImageHeader> levels_;
};

std::string place;  // path of the file to attack

int deepen(int depth) {
    volatile char wide[4096];
    wide[depth % 4096] = static_cast<char>(depth);
    return depth < 0 ? 0 : deepen(depth + 1) + wide[0];
}

[[noreturn]] void wait_for_ever() {
    for (;;) pause();
}

using Harms = std::map<std::string, std::function<void()>>;

Harms to_files() {
    return {
        {"write a file", [] { open(place.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600); }},
        {"write by open()", [] { syscall(SYS_openat, AT_FDCWD, place.c_str(), O_RDWR); }},
        {"write into the input", [] { [[maybe_unused]] auto n = pwrite(reader_file, "x", 1, 0); }},
        {"write to another descriptor", [] { [[maybe_unused]] auto n = write(reader_file, "x", 1); }},
        {"remove a file", [] { unlink(place.c_str()); }},
        {"rename a file", [] { rename(place.c_str(), (place + "2").c_str()); }},
        {"truncate a file", [] { [[maybe_unused]] auto n = truncate(place.c_str(), 0); }},
        {"make a folder", [] { mkdirat(AT_FDCWD, place.c_str(), 0700); }},
    };
}

// Attacks on the network and other processes.
Harms to_others() {
    return {
        {"connect", [] { socket(AF_INET, SOCK_STREAM, 0); }},
        {"connect locally", [] { socket(AF_UNIX, SOCK_STREAM, 0); }},
        {"send to an address",
         [] {
             sockaddr_in to{};
             sendto(reader_socket, "x", 1, 0, reinterpret_cast<sockaddr*>(&to), sizeof to);
         }},
        {"start a program", [] { execl("/bin/sh", "sh", "-c", "true", nullptr); }},
        {"start a process", [] { fork(); }},
        {"kill its parent", [] { kill(getppid(), SIGKILL); }},
        {"watch its parent", [] { ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr); }},
        {"start a program with signals blocked",
         [] {
             sigset_t all_signals;
             sigfillset(&all_signals);
             sigprocmask(SIG_SETMASK, &all_signals, nullptr);
             execl("/bin/sh", "sh", "-c", "true", nullptr);
         }},
    };
}

// Attacks on its own memory, time and lifetime.
Harms to_itself() {
    return {
        {"make code",
         [] { mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }},
        {"make code of data",
         [] {
             void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
             mprotect(page, 4096, PROT_READ | PROT_EXEC);
         }},
        {"crash", [] { std::abort(); }},
        {"overflow its stack", [] { deepen(0); }},
        {"divide by nothing", [] { raise(SIGFPE); }},
        {"end", [] { _exit(0); }},
        {"hang", wait_for_ever},
        {"hang without its alarm",
         [] {
             alarm(0);
             wait_for_ever();
         }},
        {"take all memory",
         [] {
             for (int i = 0; i < 128; ++i) std::memset(new char[1 << 24], 1, 1 << 24);  // 2 GiB
         }},
    };
}

// Sends wrong words and then nothing more.
Harms in_words() {
    const auto says = [](std::initializer_list<std::uint64_t> words) {
        return [words = std::vector<std::uint64_t>(words)] {
            [[maybe_unused]] const ssize_t written = write(reader_socket, words.data(), 8 * words.size());
            wait_for_ever();
        };
    };
    return {
        {"say nonsense", says({5, 0x7878787878787878})},
        {"say a header of nonsense", says({9, 0x6868686868686868, 0x6868686868686868})},
        {"announce more than there is", says({~0ULL})},
        {"announce and stop", says({64})},
    };
}

Harms all_harms() {
    Harms all = to_files();
    all.merge(to_others());
    all.merge(to_itself());
    all.merge(in_words());
    return all;
}

std::string outcome(bool is_done) {
    return is_done ? "done" : std::strerror(errno);
}

// Opening for reading fails without killing the process, because libraries look for their own files. So does stat().
std::unique_ptr<ImageReader> tells_what_it_could_find() {
    struct stat found {};
    std::map<std::string, std::string> texts;
    texts["open"] = outcome(open("/etc/passwd", O_RDONLY) >= 0);
    texts["stat"] = outcome(stat("/etc/passwd", &found) == 0);
    texts["stat of nothing"] = outcome(stat("/nonexistent", &found) == 0);
    texts["newfstatat"] = outcome(syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd", &found, AT_EMPTY_PATH) == 0);
    texts["statx"] = outcome(syscall(SYS_statx, AT_FDCWD, "/etc/passwd", 0, 0, &found) == 0);
    texts["limits"] = outcome(setrlimit(RLIMIT_CPU, std::array{rlimit{RLIM_INFINITY, RLIM_INFINITY}}.data()) == 0);
    texts["input"] = outcome(fstat(reader_file, &found) == 0);
    texts["bytes of the input"] = std::to_string(found.st_size);
    texts["nothing"] = outcome(fstat(1000, &found) == 0);
    return std::make_unique<Stack>(std::move(texts));
}

// Tries to write to the input through a memory map.
std::unique_ptr<ImageReader> tells_whether_it_can_write() {
    void* shared = mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, reader_file, 0);
    if (shared != MAP_FAILED) *static_cast<char*>(shared) = 'X';
    return std::make_unique<Stack>(std::map<std::string, std::string>{{"map", outcome(shared != MAP_FAILED)}});
}

std::unique_ptr<ImageReader> opened(const OpenOrder& order) {
    place = order.path + ".harmed";
    if (order.part == "look around") return tells_what_it_could_find();
    if (order.part == "map the input") return tells_whether_it_can_write();
    if (order.part == "change its mind") return std::make_unique<Fickle>();
    if (order.part == "crash later") return std::make_unique<LateHarm>();
    if (order.part == "give too little") return std::make_unique<WrongSizes>();
    const Harms harms = all_harms();
    const auto harm = harms.find(order.part);
    if (harm != harms.end()) harm->second();
    return std::make_unique<Stack>();
}

}  // namespace

int main() {
    std::_Exit(serve_reader(opened));
}
