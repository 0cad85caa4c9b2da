// Progress for people: a bar with rate and time left on a terminal, a plain line now and then in a log. Ctrl-C cancels.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "engine/progress.h"

namespace echolux {

// Exit code of a program that the user, the system (SIGTERM) or the terminal's end (SIGHUP) has stopped.
constexpr int exit_interrupted = 130;

// From now on an interrupt asks the running work to stop; where there is none that listens, the program ends at once.
// A second Ctrl-C is answered, a third ends the program at once, without unfinished files. Begins a thread.
void catch_interrupts();

// While one lives, interrupts are its owner's to ask for.
class Listening {
  public:
    Listening();
    ~Listening();
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;

    bool is_interrupted() const;
};

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
