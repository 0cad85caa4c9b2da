// Shared by the tests of pushed spectra: producers in this process, and processes to start and kill.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "await.h"
#include "engine/acquire/source.h"
#include "plugins/echolux_push.h"
#include "pushed_pattern.h"

namespace echolux::test {

// Unique among tests and runs.
inline std::string own_ring_name() {
    return "test-" + std::to_string(getpid()) + "-" + std::to_string(std::random_device{}());
}

// 8 samples, 4 A-scans, 6 B-scans, blocks of 2.
inline echolux_push_stream small_stream() {
    echolux_push_stream stream{};
    stream.sample_format = ECHOLUX_PUSH_U16;
    stream.samples = 8;
    stream.a_scans = 4;
    stream.b_scans = 6;
    stream.block_b_scans = 2;
    stream.slots = 8;
    stream.line_rate_hz = 1000;
    return stream;
}

class Producer {
  public:
    explicit Producer(const std::string& name, const echolux_push_stream& stream = small_stream()) {
        if (echolux_push_create(&push_, name.c_str(), &stream) != 0) throw std::runtime_error(push_.problem);
    }
    ~Producer() { echolux_push_close(&push_); }
    Producer(const Producer&) = delete;
    Producer& operator=(const Producer&) = delete;

    // Pushes the next block, with the pattern of its number.
    void push(const echolux_push_block* place = nullptr) {
        auto* words = static_cast<std::uint64_t*>(echolux_push_begin(&push_));
        pattern_fill(words, push_.block_bytes / 8, pattern_stamp(1, pushed_++));
        if (echolux_push_publish(&push_, place) != 0) throw std::runtime_error(push_.problem);
    }
    void end() { echolux_push_end(&push_); }

    echolux_push& push_of() { return push_; }
    echolux_push_slot& slot(std::uint64_t sequence) { return *echolux_push_slot_of(&push_, sequence); }

  private:
    echolux_push push_{};
    std::uint64_t pushed_ = 0;
};

inline std::uint64_t stamp_of(const Block& block) {
    std::uint64_t stamp = 0;
    std::memcpy(&stamp, block.data, sizeof stamp);
    return stamp;
}

inline bool is_right(const Block& block) {
    return pattern_is_right(reinterpret_cast<const std::uint64_t*>(block.data),
                            static_cast<std::uint64_t>(block.bytes) / 8) != 0;
}

inline SourceRequest pushed_to(const std::string& source) {
    SourceRequest wanted{.name = source, .settings = {.pool_blocks = 32}, .memory = MemoryKind::host};
    return wanted;
}

inline Block next_block(Source& source) {
    for (TestTimeout timeout; timeout.lasts();) {
        Arrival arrival = source.next(std::chrono::milliseconds(20));
        if (arrival.kind == Arrival::Kind::block) return arrival.block;
        if (arrival.kind == Arrival::Kind::ended) break;
    }
    throw std::runtime_error("no block came");
}

// A child process, killed at the end of the test.
class Child {
  public:
    explicit Child(std::vector<std::string> words) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        process_ = fork();
        if (process_ == 0) {
            dup2(ends[1], STDOUT_FILENO);
            execv(arguments[0], arguments.data());
            _exit(127);
        }
        close(ends[1]);
        told_ = ends[0];
    }
    ~Child() {
        kill();
        close(told_);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    // Waits for the child's next line of output, of five letters.
    void await_ready() const {
        char bytes[6];
        if (read(told_, bytes, sizeof bytes) <= 0) throw std::runtime_error("a process ended before it was ready");
    }
    void kill() {
        if (process_ > 0) ::kill(process_, SIGKILL);
        wait();
    }
    int wait() {
        int status = -1;
        if (process_ > 0) waitpid(process_, &status, 0);
        process_ = 0;
        return status;
    }
    bool is_alive() const { return process_ > 0 && waitpid(process_, nullptr, WNOHANG) == 0; }

  private:
    pid_t process_ = 0;
    int told_ = -1;
};

// A ring with a unique name.
class SharedMemory : public ::testing::Test {
  protected:
    std::unique_ptr<Source> opened() const {
        return open_shared_memory(pushed_to("shm:" + name_), std::chrono::milliseconds(0));
    }

    std::string name_ = own_ring_name();
};

}  // namespace echolux::test
