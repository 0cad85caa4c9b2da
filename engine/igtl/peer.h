// One program at the other end of a line of OpenIGTLink, served by a thread of its own. Answers go to it in order; of
// volumes and B-scans it gets the newest whenever it has taken the one before, so that a slow one holds up nobody and
// nothing piles up.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/igtl/message_reader.h"
#include "engine/igtl/messages.h"
#include "engine/net/tcp.h"

namespace echolux::igtl {

using SharedBytes = std::shared_ptr<const Bytes>;
enum class Stream : std::size_t { note, pose, b_scan, volume };  // what there is only the newest of
constexpr std::size_t stream_count = 4;

// Of all that were connected.
struct LinkCounts {
    std::atomic<std::int64_t> volumes = 0;   // that were sent, counted for each program
    std::atomic<std::int64_t> left_out = 0;  // a newer one was there before they could be sent
    std::atomic<std::int64_t> bytes = 0;     //
    std::atomic<std::int64_t> requests = 0;  //
    std::atomic<std::int64_t> refused = 0;   // lines that were cut: no messages, or too many
};

class Peer {
  public:
    // What was asked for; `waiting` is let go of when it is answered. On the peer's thread, which it may not hold up.
    using Hear = std::function<void(const Request& request, std::shared_ptr<void> waiting)>;

    // `counts` outlives it.
    Peer(std::uint64_t id, TcpConnection connection, LinkCounts& counts);
    ~Peer();
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;
    void begin(Hear hear);
    void end();  // waits for its thread; nothing goes to it or comes from it any more

    // ---- any thread

    std::uint64_t id() const { return id_; }
    const std::string& address() const { return connection_.peer(); }
    bool is_open() const { return !is_gone_; }
    void close() { thread_.request_stop(); }

    // All of these leave; who does not take them is given up.
    void send(Bytes message);
    // Takes the place of an earlier one that has not been begun.
    void offer(Stream stream, SharedBytes message);
    // A volume would be begun soon, and none waits.
    bool is_hungry() const;
    std::size_t waiting_bytes() const;  // of what send() was given

  private:
    void work(const std::stop_token& stop, const Hear& hear);
    bool sends_something();
    bool send_on();
    void listen(const Hear& hear);
    void answer_own(const Request& request);
    SharedBytes next();

    std::uint64_t id_;
    TcpConnection connection_;
    LinkCounts& counts_;
    std::atomic<bool> is_gone_ = false;
    std::atomic<bool> begins_ = false;  // with a volume: less than half of it has been taken
    std::shared_ptr<std::atomic<int>> unanswered_ = std::make_shared<std::atomic<int>>(0);

    mutable std::mutex mutex_;  // of what follows
    std::deque<SharedBytes> answers_;
    std::size_t answer_bytes_ = 0;
    std::array<SharedBytes, stream_count> newest_;

    // Of its thread.
    MessageReader reader_;
    SharedBytes sending_;
    std::size_t sent_ = 0;  // of it
    bool sends_volume_ = false;
    std::chrono::steady_clock::time_point took_;  // something, the last time

    std::jthread thread_;  // goes first
};

}  // namespace echolux::igtl
