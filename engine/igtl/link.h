// A link to 3D Slicer and similar programs. Finished volumes and their B-scans are sent to all connected programs, at
// the rate that each accepts; their requests are passed on. The owner of the volumes first checks is_hungry(), so that
// volumes are not read back from a GPU needlessly.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "compute/error.h"
#include "compute/plan/described.h"
#include "compute/types.h"
#include "engine/igtl/messages.h"
#include "engine/net/tcp.h"

namespace echolux::igtl {

// Statistics of a link.
struct LinkStats {
    std::int64_t connected = 0;  // current number of programs
    std::int64_t volumes = 0;    // volumes sent, counted per program
    std::int64_t left_out = 0;   // replaced by a newer one before they were sent
    std::int64_t bytes = 0;      // all bytes sent
    std::int64_t requests = 0;   // requests received
    std::int64_t refused = 0;    // connections that were closed: invalid messages, or no room
};

// ---- A connected OpenIGTLink program, served by its own thread. Answers are sent in order. Of volumes and B-scans,
// the newest is sent when the previous one has been accepted, so that a slow program does not delay others and nothing
// accumulates.

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
    using RequestCallback = std::function<void(const Request& request, std::shared_ptr<void> waiting)>;

    // `counts` must outlive the peer.
    Peer(std::uint64_t id, TcpConnection connection, LinkCounts& counts);
    ~Peer();
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;
    void begin(RequestCallback on_request);
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
    void work(const std::stop_token& stop, const RequestCallback& on_request);
    bool sends_something();
    bool send_on();
    void listen(const RequestCallback& on_request);
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

constexpr std::uint16_t default_port = 18944;

struct LinkOptions {
    bool listens = true;  // otherwise connects, and reconnects when the connection was lost
    NetAddress address{"127.0.0.1", default_port};
    bool may_steer = false;  // allows any connected program to control this one; the protocol has no passwords
};

// Parses "PORT" (listens for programs of this machine), "listen:ADDRESS:PORT" (also for others) or "HOST:PORT"
// (connects to a listening program). Throws Error{bad_setting} naming `where`.
LinkOptions parsed_link(const std::string& text, const std::string& where);

// A volume to send.
struct OfferedVolume {
    VolumeGrid grid;
    std::string orientation = {};              // as in pose_of()
    std::optional<std::int64_t> number = {};   // number given by the source
    std::optional<double> time_s = {};         // since the source's start; std::nullopt: now
    std::function<SharedBytes()> voxels = {};  // called on the link's thread, may block; depth fastest
};

// Serves connected programs on its own threads.
class Link {
  public:
    // Handles a request. Called on a peer's thread, so it must not block. Answers go to `from`.
    using RequestCallback =
        std::function<void(const std::shared_ptr<Peer>& from, const Request& request, std::shared_ptr<void> waiting)>;

    // Throws Error{device} if it cannot listen at the address.
    Link(const LinkOptions& wanted, RequestCallback on_request);
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    // Returns the address where it listens or connects to: "127.0.0.1:18944".
    std::string place() const;
    std::uint16_t port() const { return listener_ ? listener_->port() : wanted_.address.port; }
    const LinkOptions& wanted() const { return wanted_; }

    // ---- any thread

    // Returns whether a connected program could receive a volume immediately and none is on its way.
    bool is_hungry() const;

    // Queues the volume, replacing one that is not packed yet. Programs that connect later, while others are connected,
    // receive the last volume. Throws as check_image().
    void offer(OfferedVolume volume);

    // Sends a STATUS with the reason for missing volumes to all connected programs. Repeated reports are suppressed.
    void report(const Error& problem);

    // Selects the B-scan that is also sent separately. Negative: the middle one.
    void look_at(std::int64_t b_scan);

    // Returns a number that changes when a program connects after none was connected; such a program has received
    // nothing.
    std::uint64_t audience() const;

    LinkStats stats() const;

  private:
    // The last volume, kept for later programs and for another B-scan.
    struct Packed {
        VolumeGrid grid;
        std::string note;
        double unix_s;  // acquisition time
        Pose pose;
        SharedBytes image;
    };

    void pack(const std::stop_token& stop);
    bool take_offered(const OfferedVolume& volume, double unix_s);
    void send_last(std::span<const std::shared_ptr<Peer>> to) const;
    void send_last_b_scan(std::span<const std::shared_ptr<Peer>> to) const;
    void meet(const std::stop_token& stop);
    void add(TcpConnection connection);
    void disconnect();

    LinkOptions wanted_;
    RequestCallback on_request_;
    std::optional<TcpListener> listener_;
    LinkCounts counts_;
    std::optional<Packed> last_;  // used only by the packing thread

    mutable std::mutex mutex_;  // protects the members below
    std::condition_variable changed_;
    std::string reported_;
    UnixTimes times_;
    double offered_unix_s_ = 0;
    std::optional<OfferedVolume> offered_;
    bool is_packing_ = false, forgets_ = false;
    std::uint64_t audience_ = 0;
    std::atomic<std::int64_t> b_scan_ = -1;
    bool is_elsewhere_ = false;  // the selected B-scan has changed
    std::vector<std::shared_ptr<Peer>> peers_;
    std::vector<std::shared_ptr<Peer>> newcomers_;  // peers that have not received the last volume
    std::uint64_t next_id_ = 1;

    std::jthread packing_, meeting_;  // destroyed first
};

}  // namespace echolux::igtl

namespace echolux {
template <>
const std::vector<Stat<igtl::LinkStats>>& describe_stats<igtl::LinkStats>();
}  // namespace echolux
