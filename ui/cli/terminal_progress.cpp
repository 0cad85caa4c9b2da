#include "ui/cli/terminal_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <string_view>

#include "compute/error.h"
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
        "\necholux: is ending, nothing will be left half written; once more, and files unfinished-* may be left\n";
    std::signal(SIGINT, SIG_DFL);
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, words.data(), words.size());
}

std::string duration(double seconds) {
    if (seconds < 10) return fmt::format("{:.1f} s", seconds);
    if (seconds < 100) return fmt::format("{:.0f} s", seconds);
    return fmt::format("{:.0f} min {:02.0f} s", std::floor(seconds / 60), std::fmod(seconds, 60));
}

std::string rate(double per_second) {
    if (per_second >= 1e6) return fmt::format("{:.2f} M", per_second / 1e6);
    if (per_second >= 1e4) return fmt::format("{:.0f} k", per_second / 1e3);
    return fmt::format("{:.0f}", per_second);
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
    task_ = task;
    unit_ = unit;
    total_ = std::max<std::int64_t>(1, total);
    done_ = 0;
    start_ = printed_ = Clock::now();
    if (!terminal_ && !silent_)
        fmt::print(stderr, "{}\n", unit.empty() ? task_ : fmt::format("{}: {} {}", task_, total, unit_));
}

void TerminalProgress::advance(std::int64_t count) {
    if (listening_.is_interrupted()) {
        if (terminal_ && !silent_) fmt::print(stderr, "\n");
        throw Error(ErrorCode::cancelled, "cancelled, nothing was left half written", task_);
    }
    done_ += count;
    const auto interval = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5000);
    if (Clock::now() - printed_ < interval) return;
    printed_ = Clock::now();
    print(false);
}

void TerminalProgress::end() {
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
    const auto filled = static_cast<int>(width * done_ / total_);
    fmt::print(stderr, "\r{} [{}{}] {}\033[K{}", task_, std::string(static_cast<std::size_t>(filled), '#'),
               std::string(static_cast<std::size_t>(width - std::min(filled, width)), '.'), state(), last ? "\n" : "");
    std::fflush(stderr);
}

std::string TerminalProgress::state() const {
    const double seconds = std::max(1e-9, std::chrono::duration<double>(Clock::now() - start_).count());
    const double per_second = static_cast<double>(done_) / seconds;
    constexpr double too_short_for_a_rate = 0.2;
    constexpr std::int64_t few = 20;  // things of different size, of which no rate and no time left can be told
    const bool is_done = done_ >= total_;
    if (is_done && (seconds < too_short_for_a_rate || total_ < few))
        return fmt::format("done in {}", duration(seconds));
    if (total_ < few) return fmt::format("{} of {} {}, {}", done_, total_, unit_, duration(seconds));
    if (is_done) return fmt::format("done in {}, {} {}/s", duration(seconds), rate(per_second), unit_);
    const double left = done_ > 0 ? static_cast<double>(total_ - done_) / per_second : 0;
    return fmt::format("{:.0f} %, {} {}/s, {} left", 100.0 * static_cast<double>(done_) / static_cast<double>(total_),
                       rate(per_second), unit_, duration(left));
}

}  // namespace echolux
