// A link to 3D Slicer and its like: finished volumes and their B-scans go out to all that are connected, at the rate
// that each of them takes; what they ask for comes in. Whoever has the volumes asks first whether one is wanted, so
// that none is read back from a GPU for nothing.
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
    bool listens = true;  // else it connects, and again when the other side was away
    NetAddress address{"127.0.0.1", default_port};
    bool may_steer = false;  // whoever is connected: the protocol knows no passwords
};

// "PORT": programs of this machine connect; "listen:ADDRESS:PORT": of others too; "HOST:PORT": to a program that
// listens there. Throws Error{bad_setting} naming `where`.
LinkWanted parsed_link(const std::string& text, const std::string& where);

// A volume to be sent.
struct OfferedVolume {
    VolumeGrid grid;
    std::string orientation = {};              // as pose_of() takes it
    std::optional<std::int64_t> number = {};   // of the source
    std::optional<double> time_s = {};         // since the source's start; nothing: now
    std::function<SharedBytes()> voxels = {};  // waits for them, on the link's thread; of `grid`, depth fastest
};

class Link {
  public:
    // Somebody asked for something, on a thread that may not be held up. Answers go to `from`.
    using Hear =
        std::function<void(const std::shared_ptr<Peer>& from, const Request& request, std::shared_ptr<void> waiting)>;

    // Throws Error{device}: it cannot listen there.
    Link(const LinkWanted& wanted, Hear hear);
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    // "127.0.0.1:18944": where it listens, or connects to.
    std::string place() const;
    std::uint16_t port() const { return listener_ ? listener_->port() : wanted_.address.port; }
    const LinkWanted& wanted() const { return wanted_; }

    // ---- any thread

    // Somebody is connected who would be sent a volume at once, and none is under way to them.
    bool is_hungry() const;

    // Takes the place of one that is not packed yet. Who connects later, beside others, is sent the last one. Throws as
    // check_image().
    void offer(OfferedVolume volume);

    // Why nothing comes: a STATUS to all who are connected. Once, until something else is said.
    void tell(const Error& problem);

    // The B-scan that is sent by itself besides; negative: the one in the middle.
    void look_at(std::int64_t b_scan);

    // Another number whenever somebody is connected after nobody was: who comes then has not been sent anything.
    std::uint64_t audience() const;

    LinkStats stats() const;

  private:
    // What is kept of the last volume, for those who come later and for another B-scan.
    struct Packed {
        VolumeGrid grid;
        std::string note;
        double unix_s;  // when it was acquired
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
    std::optional<Packed> last_;  // of the thread that packs

    mutable std::mutex mutex_;  // of what follows
    std::condition_variable changed_;
    std::string told_;
    UnixTimes times_;
    double offered_unix_s_ = 0;
    std::optional<OfferedVolume> offered_;
    bool is_packing_ = false, forgets_ = false;
    std::uint64_t audience_ = 0;
    std::atomic<std::int64_t> b_scan_ = -1;
    bool is_elsewhere_ = false;  // another B-scan is looked at than was sent
    std::vector<std::shared_ptr<Peer>> peers_;
    std::vector<std::shared_ptr<Peer>> newcomers_;  // of them, that have not been sent the last volume
    std::uint64_t next_id_ = 1;

    std::jthread packing_, meeting_;  // go first
};

}  // namespace echolux::igtl
