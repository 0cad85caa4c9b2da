// Queue of messages from all connections for the one thread that answers, which is the thread of the window. Its size
// is bounded because each connection stops reading until enough of its messages have been released.
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

// A message, or the start or end of a connection.
struct Incoming {
    enum class Kind { opened, text, binary, closed };

    Kind kind = Kind::text;
    ConnectionPtr from;
    std::string bytes;
    std::chrono::steady_clock::time_point at;
    std::shared_ptr<void> waiting;  // releasing all copies marks the message as answered
};

class Inbox {
  public:
    using Clock = std::chrono::steady_clock;

    void put(Incoming arrival);  // thread-safe

    // Returns all messages. Waits at most `max_s` seconds for the first one.
    std::vector<Incoming> take(double max_s);

    // For a thread that waits elsewhere: calls `arrived` once with the next message, on any thread, or immediately if
    // there is one.
    void tell(std::function<void()> arrived);

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Incoming> arrivals_;
    std::function<void()> tell_;
};

}  // namespace echolux
