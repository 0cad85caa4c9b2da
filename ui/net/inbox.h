// Where what connections ask for waits for the one thread that answers, which is the window's. Bounded by what each
// connection may have waiting: it is read on when an arrival, and all its copies, are gone.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ui/net/connection.h"

namespace echolux {

struct Incoming {
    enum class Kind { opened, text, binary, closed };

    Kind kind = Kind::text;
    ConnectionPtr from;
    std::string bytes;
    std::chrono::steady_clock::time_point at;
    std::shared_ptr<void> waiting;  // counts
};

class Inbox {
  public:
    using Clock = std::chrono::steady_clock;

    void put(Incoming arrival);  // any thread

    // All that is there; waits for something at most so long. Whoever wake()s ends the waiting, with or without
    // something.
    std::vector<Incoming> take(double max_s);
    void wake();

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Incoming> arrivals_;
    bool is_woken_ = false;
};

}  // namespace echolux
