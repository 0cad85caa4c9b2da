#include "ui/cli/terminal_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string_view>

#include "compute/error.h"
#include "engine/progress_words.h"
#include "ui/cli/option_words.h"
#include "ui/cli/telling.h"

namespace echolux {
namespace {

volatile std::sig_atomic_t interrupted = 0;  // how often
volatile std::sig_atomic_t listeners = 0;

void end_where_nobody_listens() {
    if (listeners == 0) _exit(exit_interrupted);
}

// The second Ctrl-C still ends in order, without unfinished files; the third ends the program at once.
void say_it_is_ending() {
    constexpr std::string_view words =
        "\necholux: stopping; no file will be left incomplete. Press Ctrl-C again to stop at once, which may leave "
        "files unfinished-*\n";
    std::signal(SIGINT, SIG_DFL);
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, words.data(), words.size());
}

}  // namespace

void catch_interrupts() {
    std::signal(SIGINT, [](int) {
        end_where_nobody_listens();
        interrupted = interrupted + 1;
        if (interrupted == 2) say_it_is_ending();
    });
    std::signal(SIGPIPE, SIG_IGN);  // the reader of a pipe has gone: printing fails, and temporary files are removed
    std::signal(SIGXFSZ, SIG_IGN);  // a file may not grow any more: writing fails and is told, as on a full disk
    const auto ends_in_order = [](int) {
        end_where_nobody_listens();
        if (interrupted == 0) interrupted = 1;
    };
    std::signal(SIGTERM, ends_in_order);
    if (std::signal(SIGHUP, ends_in_order) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // as nohup wants it
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
    if (!terminal_ && !silent_) fmt::print(stderr, "{}\n", amount.empty() ? task_ : task_ + ": " + amount);
}

void TerminalProgress::advance(std::int64_t count) {
    if (listening_.is_interrupted()) {
        if (terminal_ && !silent_) fmt::print(stderr, "\n");
        throw Error(ErrorCode::cancelled, "cancelled, no file was left incomplete", task_);
    }
    done_ += count;
    const auto interval = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5000);
    if (Clock::now() - printed_ < interval) return;
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
        fmt::print(stderr, "{}: {}\n", task_, state());
        return;
    }
    constexpr int width = 24;
    const auto filled = static_cast<int>(width * std::min(done_, total_) / std::max<std::int64_t>(1, total_));
    fmt::print(stderr, "\r{} [{}{}] {}\033[K{}", task_, std::string(static_cast<std::size_t>(filled), '#'),
               std::string(static_cast<std::size_t>(width - std::min(filled, width)), '.'), state(), last ? "\n" : "");
    std::fflush(stderr);
}

std::string TerminalProgress::state() const {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    return words_of({.done = done_, .total = total_, .unit = unit_, .seconds = seconds});
}

}  // namespace echolux
