// Progress on standard error: a bar with rate and remaining time on a terminal, a plain line every few seconds in a
// log. Ctrl-C cancels the work.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "engine/progress.h"

namespace echolux {

// Exit code after Ctrl-C, SIGTERM or the end of the terminal (SIGHUP).
constexpr int exit_interrupted = 130;

// Installs signal handlers and starts the thread that exits. From then on an interrupt cancels the running work;
// without a Listening object the program ends at once. A second Ctrl-C prints a message. A third ends the program
// immediately and removes unfinished files.
void catch_interrupts();

// While an instance exists, its owner handles interrupts by polling is_interrupted().
class Listening {
  public:
    Listening();
    ~Listening();
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;

    bool is_interrupted() const;
};

// Prints progress. advance() throws Error{cancelled} after an interrupt.
class TerminalProgress : public Progress {
  public:
    TerminalProgress();

    void begin(const std::string& task, std::int64_t total, const std::string& unit) override;
    void advance(std::int64_t count) override;
    void end() override;

  private:
    using Clock = std::chrono::steady_clock;

    void print(bool last);
    std::string state() const;

    Listening listening_;
    bool silent_;
    bool terminal_;
    std::string task_;
    std::string unit_;
    std::int64_t total_ = 0;
    std::int64_t done_ = 0;
    Clock::time_point start_;
    Clock::time_point printed_;
};

}  // namespace echolux
