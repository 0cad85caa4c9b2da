// A link to 3D Slicer and similar programs. Finished volumes and their B-scans are sent to all connected programs, at
// the rate that each accepts; their requests are passed on. The owner of the volumes first checks is_hungry(), so that
// volumes are not read back from a GPU needlessly.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "compute/error.h"
#include "compute/types.h"
#include "engine/igtl/link_stats.h"
#include "engine/igtl/peer.h"
#include "engine/igtl/volume_note.h"
#include "engine/net/tcp.h"

namespace echolux::igtl {

constexpr std::uint16_t default_port = 18944;

struct LinkWanted {
    bool listens = true;  // otherwise connects, and reconnects when the connection was lost
    NetAddress address{"127.0.0.1", default_port};
    bool may_steer = false;  // allows any connected program to control this one; the protocol has no passwords
};

// Parses "PORT" (listens for programs of this machine), "listen:ADDRESS:PORT" (also for others) or "HOST:PORT"
// (connects to a listening program). Throws Error{bad_setting} naming `where`.
LinkWanted parsed_link(const std::string& text, const std::string& where);

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
    using Hear =
        std::function<void(const std::shared_ptr<Peer>& from, const Request& request, std::shared_ptr<void> waiting)>;

    // Throws Error{device} if it cannot listen at the address.
    Link(const LinkWanted& wanted, Hear hear);
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    // Returns the address where it listens or connects to: "127.0.0.1:18944".
    std::string place() const;
    std::uint16_t port() const { return listener_ ? listener_->port() : wanted_.address.port; }
    const LinkWanted& wanted() const { return wanted_; }

    // ---- any thread

    // Returns whether a connected program could receive a volume immediately and none is on its way.
    bool is_hungry() const;

    // Queues the volume, replacing one that is not packed yet. Programs that connect later, while others are connected,
    // receive the last volume. Throws as check_image().
    void offer(OfferedVolume volume);

    // Sends a STATUS with the reason for missing volumes to all connected programs. Repeated reports are suppressed.
    void tell(const Error& problem);

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
    void let_go();

    LinkWanted wanted_;
    Hear hear_;
    std::optional<TcpListener> listener_;
    LinkCounts counts_;
    std::optional<Packed> last_;  // used only by the packing thread

    mutable std::mutex mutex_;  // protects the members below
    std::condition_variable changed_;
    std::string told_;
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
