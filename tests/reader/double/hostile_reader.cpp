// A reader process whose codec does harm on purpose: the part of the file that is asked for says which. In the cage of
// the real one, and started by the same hands.
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>

#include "engine/reader/serve.h"

namespace {

using namespace echolux;

// Harmless voxels: each knows its time point and slice.
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
        const auto count =
            static_cast<std::size_t>((box.columns.end - box.columns.begin) * (box.rows.end - box.rows.begin) *
                                     (box.slices.end - box.slices.begin));
        return std::vector<std::byte>(count, static_cast<std::byte>(time_point * 80 + box.slices.begin));
    }

  private:
    ImageHeader header_;
};

// Bad from the second slice on.
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

std::string place;  // of a file that harm could be done to

void say(std::initializer_list<std::uint64_t> words) {
    for (const std::uint64_t word : words) {
        [[maybe_unused]] const ssize_t written = write(reader_socket, &word, sizeof word);
    }
}

int deepen(int depth) {
    volatile char wide[4096];
    wide[depth % 4096] = static_cast<char>(depth);
    return depth < 0 ? 0 : deepen(depth + 1) + wide[0];
}

[[noreturn]] void wait_for_ever() {
    for (;;) pause();
}

const std::map<std::string, std::function<void()>>& harms() {
    static const std::map<std::string, std::function<void()>> all{
        {"write a file", [] { open(place.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600); }},
        {"write by open()", [] { syscall(SYS_openat, AT_FDCWD, place.c_str(), O_RDWR); }},
        {"write into the input", [] { [[maybe_unused]] auto n = pwrite(reader_file, "x", 1, 0); }},
        {"write to another descriptor", [] { [[maybe_unused]] auto n = write(reader_file, "x", 1); }},
        {"remove a file", [] { unlink(place.c_str()); }},
        {"rename a file", [] { rename(place.c_str(), (place + "2").c_str()); }},
        {"truncate a file", [] { [[maybe_unused]] auto n = truncate(place.c_str(), 0); }},
        {"make a folder", [] { mkdirat(AT_FDCWD, place.c_str(), 0700); }},
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
        {"make code",
         [] { mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }},
        {"make code of data",
         [] {
             void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
             mprotect(page, 4096, PROT_READ | PROT_EXEC);
         }},
        {"start a program with signals blocked",
         [] {
             sigset_t all_signals;
             sigfillset(&all_signals);
             sigprocmask(SIG_SETMASK, &all_signals, nullptr);
             execl("/bin/sh", "sh", "-c", "true", nullptr);
         }},
        {"crash", [] { std::abort(); }},
        {"overflow its stack", [] { deepen(0); }},
        {"divide by nothing", [] { raise(SIGFPE); }},
        {"end", [] { _exit(0); }},
        {"hang", wait_for_ever},
        {"take all memory",
         [] {
             for (int i = 0; i < 128; ++i) std::memset(new char[1 << 24], 1, 1 << 24);  // 2 GiB
         }},
        {"say nonsense",
         [] {
             say({5, 0x7878787878787878});
             wait_for_ever();
         }},
        {"say a header of nonsense",
         [] {
             say({9, 0x6868686868686868, 0x6868686868686868});
             wait_for_ever();
         }},
        {"announce more than there is",
         [] {
             say({~0ULL});
             wait_for_ever();
         }},
        {"announce and stop",
         [] {
             say({64});
             wait_for_ever();
         }},
    };
    return all;
}

// Opening to read is refused without ado, as libraries look for files of their own.
std::unique_ptr<ImageReader> tells_what_it_could_read() {
    const int other = open("/etc/passwd", O_RDONLY);
    const std::string found = other < 0 ? std::strerror(errno) : "opened";
    return std::make_unique<Stack>(std::map<std::string, std::string>{{"passwd", found}});
}

std::unique_ptr<ImageReader> opened(const OpenOrder& order) {
    place = order.path + ".harmed";
    if (order.part == "look around") return tells_what_it_could_read();
    if (order.part == "crash later") return std::make_unique<LateHarm>();
    if (order.part == "give too little") return std::make_unique<WrongSizes>();
    const auto harm = harms().find(order.part);
    if (harm != harms().end()) harm->second();
    return std::make_unique<Stack>();
}

}  // namespace

int main() {
    std::_Exit(serve_reader(opened));
}
