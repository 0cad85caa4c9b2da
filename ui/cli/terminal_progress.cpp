#include "ui/cli/terminal_progress.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <thread>

#include "compute/error.h"
#include "engine/io/unfinished_files.h"
#include "engine/progress.h"
#include "ui/cli/option_words.h"
#include "ui/cli/telling.h"

namespace echolux {
namespace {

volatile std::sig_atomic_t interrupted = 0;  // number of interrupts
// number of Listening objects
volatile std::sig_atomic_t listeners = 0;
int end_at_once = -1;  // write end of a pipe; one byte in it makes the waiting thread end the program

// Removing files is not safe in a signal handler, so the thread that waits at the pipe does it.
void end_without_delay() {
    if (end_at_once < 0 || write(end_at_once, "", 1) != 1) _exit(exit_interrupted);
}

// Called in a signal handler, so it uses write() only.
void say_it_is_ending() {
    constexpr std::string_view words =
        "\necholux: stopping; no file will be left incomplete. Press Ctrl-C again to stop at once: a recording then "
        "ends "
        "with what is on the disk\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, words.data(), words.size());
}

// The first Ctrl-C cancels the work, the second prints a hint, the third ends the program.
void hear_interrupt(int) {
    interrupted = interrupted + 1;
    if (interrupted == 2 && listeners > 0) say_it_is_ending();
    if (interrupted > 2 || listeners == 0) end_without_delay();
}

// Starts the thread that removes unfinished files and exits.
void prepare_to_end_at_once() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    end_at_once = ends[1];
    std::thread([from = ends[0]] {
        char byte = 0;
        while (read(from, &byte, 1) != 1) {
            if (errno != EINTR) return;
        }
        end_without_unfinished_files(exit_interrupted);
    }).detach();
}

}  // namespace

void catch_interrupts() {
    prepare_to_end_at_once();
    std::signal(SIGINT, hear_interrupt);
    std::signal(SIGPIPE, SIG_IGN);  // printing to a closed pipe then fails, and temporary files are removed
    std::signal(SIGXFSZ, SIG_IGN);  // writing beyond a file size limit then fails like a full disk
    const auto ends_in_order = [](int) {
        if (interrupted == 0) interrupted = 1;
        if (listeners == 0) end_without_delay();
    };
    std::signal(SIGTERM, ends_in_order);
    if (std::signal(SIGHUP, ends_in_order) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // nohup ignores SIGHUP: keep that
}

Listening::Listening() {
    listeners = listeners + 1;
}

Listening::~Listening() {
    listeners = listeners - 1;
}

bool Listening::is_interrupted() const {
    return interrupted != 0;
}

TerminalProgress::TerminalProgress() : silent_(telling().is_silent()), terminal_(isatty(STDERR_FILENO) != 0) {}

void TerminalProgress::begin(const std::string& task, std::int64_t total, const std::string& unit) {
    task_ = in_plain_names(task);
    unit_ = unit;
    total_ = total;
    done_ = 0;
    start_ = printed_ = Clock::now();
    const std::string amount = amount_words(total, unit);
    if (!terminal_ && !silent_) print_progress((amount.empty() ? task_ : task_ + ": " + amount) + "\n");
}

void TerminalProgress::advance(std::int64_t count) {
    if (listening_.is_interrupted()) {
        if (terminal_ && !silent_) print_progress("\n");
        throw Error(ErrorCode::cancelled, "cancelled, no file was left incomplete", task_);
    }
    done_ += count;
    const auto interval = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5000);
    if (Clock::now() - printed_ < interval) return;
    if (!terminal_ && total_ > 0 && done_ >= total_) return;  // end() prints the last line
    printed_ = Clock::now();
    print(false);
}

void TerminalProgress::end() {
    if (total_ <= 0) total_ = std::max<std::int64_t>(1, done_);
    done_ = total_;
    print(true);
}

void TerminalProgress::print(bool last) {
    if (silent_) return;
    if (!terminal_) {
        print_progress(fmt::format("{}: {}\n", task_, state()));
        return;
    }
    constexpr int width = 24;
    const auto filled = static_cast<int>(width * std::min(done_, total_) / std::max<std::int64_t>(1, total_));
    print_progress(fmt::format("\r{} [{}{}] {}\033[K{}", task_, std::string(static_cast<std::size_t>(filled), '#'),
                               std::string(static_cast<std::size_t>(width - std::min(filled, width)), '.'), state(),
                               last ? "\n" : ""));
}

std::string TerminalProgress::state() const {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    return words_of({.done = done_, .total = total_, .unit = unit_, .seconds = seconds});
}

}  // namespace echolux
