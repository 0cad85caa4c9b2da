// Long work tells how far it is and asks whether to go on. Front ends derive from Progress: a bar on a terminal, plain
// lines in a log, a panel in a window.
#pragma once

#include <cstdint>
#include <string>

namespace echolux {

class Progress {
  public:
    virtual ~Progress() = default;

    // A piece of work starts: "simulate", 512, "A-scans".
    virtual void begin(const std::string& task, std::int64_t total, const std::string& unit) = 0;

    // `count` more units are done. Throws Error{cancelled} when the user wants to stop.
    virtual void advance(std::int64_t count) = 0;

    virtual void end() = 0;
};

// Says nothing and never cancels.
class SilentProgress : public Progress {
  public:
    void begin(const std::string&, std::int64_t, const std::string&) override {}
    void advance(std::int64_t) override {}
    void end() override {}
};

}  // namespace echolux
