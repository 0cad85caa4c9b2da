// What connections ask for waits here for the one thread that answers, which is the window's. Bounded by what each
// connection may have waiting: reading resumes once all copies of a message are released.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
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

    // All that is there; waits for something at most so long.
    std::vector<Incoming> take(double max_s);

    // For a thread that waits elsewhere: called once, on any thread, with the next arrival; at once where one is there.
    void tell(std::function<void()> arrived);

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Incoming> arrivals_;
    std::function<void()> tell_;
};

}  // namespace echolux
