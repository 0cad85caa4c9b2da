// Progress for people: a bar with rate and time left on a terminal, a plain line now and then in a log. Ctrl-C cancels.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/progress.h"

namespace echolux {

// From now on Ctrl-C asks the running work to stop; a second Ctrl-C ends the program at once.
void catch_interrupts();

// One line each on standard error.
void print_warnings(const std::vector<std::string>& warnings);

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

    bool terminal_;
    std::string task_;
    std::string unit_;
    std::int64_t total_ = 0;
    std::int64_t done_ = 0;
    Clock::time_point start_;
    Clock::time_point printed_;
};

}  // namespace echolux
