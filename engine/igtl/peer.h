// A connected OpenIGTLink program, served by its own thread. Answers are sent in order. Of volumes and B-scans, the
// newest is sent when the previous one has been accepted, so that a slow program does not delay others and nothing
// accumulates.
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
enum class Stream : std::size_t { note, pose, b_scan, volume };  // only the newest message of each stream is sent
constexpr std::size_t stream_count = 4;

// Totals of all peers.
struct LinkCounts {
    std::atomic<std::int64_t> volumes = 0;   // volumes sent, counted per program
    std::atomic<std::int64_t> left_out = 0;  // replaced by a newer one before they were sent
    std::atomic<std::int64_t> bytes = 0;     // sent
    std::atomic<std::int64_t> requests = 0;  // received
    std::atomic<std::int64_t> refused = 0;   // closed connections: invalid messages, or too many programs
};

// Owns a connection and the thread that serves it.
class Peer {
  public:
    // Handles a request; `waiting` must be released when it is answered. Called on the peer's thread, so it must not
    // block.
    using Hear = std::function<void(const Request& request, std::shared_ptr<void> waiting)>;

    // `counts` must outlive the peer.
    Peer(std::uint64_t id, TcpConnection connection, LinkCounts& counts);
    ~Peer();
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;
    void begin(Hear hear);
    void end();  // waits for its thread; ends all communication

    // ---- any thread

    std::uint64_t id() const { return id_; }
    const std::string& address() const { return connection_.peer(); }
    bool is_open() const { return !is_gone_; }
    void close() { thread_.request_stop(); }

    // Queues an answer. A peer that does not accept answers is disconnected.
    void send(Bytes message);
    // Replaces an earlier message of the stream that has not begun.
    void offer(Stream stream, SharedBytes message);
    // Returns whether it could soon accept a volume and none is queued.
    bool is_hungry() const;
    std::size_t waiting_bytes() const;  // size of queued answers

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
    std::atomic<bool> begins_ = false;  // less than half of a volume has been sent
    std::shared_ptr<std::atomic<int>> unanswered_ = std::make_shared<std::atomic<int>>(0);

    mutable std::mutex mutex_;  // protects the members below
    std::deque<SharedBytes> answers_;
    std::size_t answer_bytes_ = 0;
    std::array<SharedBytes, stream_count> newest_;

    // Used only by the thread.
    MessageReader reader_;
    SharedBytes sending_;
    std::size_t sent_ = 0;  // bytes of sending_
    bool sends_volume_ = false;
    std::chrono::steady_clock::time_point took_;  // time when it last accepted data

    std::jthread thread_;  // destroyed first
};

}  // namespace echolux::igtl
