// Interface for progress reports and cancellation of long work. Front ends derive from Progress: a progress bar in a
// terminal, plain lines in a log, a panel in a window. One begin()/end() pair encloses the advance() calls of a task.
#pragma once

#include <cstdint>
#include <string>

namespace echolux {

class Progress {
  public:
    virtual ~Progress() = default;

    // Starts a task, for example "simulate", 512, "A-scans". `total` 0: unknown.
    virtual void begin(const std::string& task, std::int64_t total, const std::string& unit) = 0;

    // Reports that `count` more units are done. Throws Error{cancelled} if the user wants to stop.
    virtual void advance(std::int64_t count) = 0;

    // Ends the task that begin() started.
    virtual void end() = 0;
};

// Ignores all reports and never cancels.
class SilentProgress : public Progress {
  public:
    void begin(const std::string&, std::int64_t, const std::string&) override {}
    void advance(std::int64_t) override {}
    void end() override {}
};

}  // namespace echolux
