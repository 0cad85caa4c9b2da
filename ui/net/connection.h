// Connections as seen by the thread that answers: a connected client, which is a page with a WebSocket or a program
// that writes lines, and the queue of messages from all of them.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace echolux {

using SharedBytes = std::shared_ptr<const std::vector<std::byte>>;  // shared by all recipients without copies

// ---- A connected client: a page with a WebSocket, or a program that writes lines. All functions are thread-safe and
// return immediately. Messages sent after the end of the connection are dropped.

class Connection {
  public:
    virtual ~Connection() = default;

    virtual std::uint64_t id() const = 0;         // never reused
    virtual bool may_steer() const = 0;           // true if its token allows control; otherwise it may only watch
    virtual bool is_page() const = 0;             // true for a WebSocket, false for lines
    virtual const std::string& peer() const = 0;  // "127.0.0.1:51234"

    virtual void send_text(std::string text) = 0;
    // For line connections: the line {"binary": SIZE}, then SIZE bytes.
    virtual void send_binary(SharedBytes bytes) = 0;
    // Sends both in this order, without other messages in between.
    virtual void send_both(std::string text, SharedBytes bytes) = 0;

    virtual std::size_t waiting_bytes() const = 0;  // not yet received by the client
    virtual void close(const std::string& reason) = 0;
    virtual bool is_open() const = 0;
};

using ConnectionPtr = std::shared_ptr<Connection>;

// ---- Queue of messages from all connections for the one thread that answers, which is the thread of the window. Its
// size is bounded because each connection stops reading until enough of its messages have been released.

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

    // Thread-safe.
    void put(Incoming arrival) {
        const std::lock_guard lock(mutex_);
        arrivals_.push_back(std::move(arrival));
        changed_.notify_one();
        if (wake_) std::exchange(wake_, nullptr)();
    }

    // Returns all messages. Waits at most `max_s` seconds for the first one.
    std::vector<Incoming> take(double max_s) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, std::chrono::duration<double>(std::clamp(max_s, 0.0, 1e6)),
                          [this] { return !arrivals_.empty(); });
        return std::exchange(arrivals_, {});
    }

    // For a thread that waits elsewhere: calls `arrived` once with the next message, on any thread, or immediately if
    // there is one.
    void set_wake(std::function<void()> arrived) {
        const std::lock_guard lock(mutex_);
        if (!arrivals_.empty()) return arrived();
        wake_ = std::move(arrived);
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Incoming> arrivals_;
    std::function<void()> wake_;
};

}  // namespace echolux
