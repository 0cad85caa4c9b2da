#include "engine/igtl/link.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <string_view>
#include <utility>

namespace echolux::igtl {
namespace {

using namespace std::chrono_literals;

constexpr const char* link_place = "OpenIGTLink";
constexpr auto meets_every = 20ms;
constexpr auto again_after = 500ms;   // interval of connection attempts
constexpr std::size_t max_peers = 4;  // each may hold an outdated volume in memory
constexpr std::string_view listen_prefix = "listen:";

// Device names that the receiver displays.
constexpr const char* volume_name = "Echolux";
constexpr const char* b_scan_name = "Echolux_BScan";
constexpr const char* pose_name = "Echolux_pose";
constexpr const char* note_name = "Echolux_note";

SharedBytes shared(Bytes bytes) {
    return std::make_shared<const Bytes>(std::move(bytes));
}

}  // namespace

LinkWanted parsed_link(const std::string& text, const std::string& where) {
    LinkWanted wanted;
    const bool listens_there = text.starts_with(listen_prefix);
    wanted.listens = listens_there || text.find(':') == std::string::npos;
    wanted.address = parsed_address(listens_there ? text.substr(listen_prefix.size()) : text, where);
    return wanted;
}

Link::Link(const LinkWanted& wanted, Hear hear) : wanted_(wanted), hear_(std::move(hear)) {
    if (wanted.listens) listener_.emplace(wanted.address, link_place);
    packing_ = std::jthread([this](const std::stop_token& stop) { pack(stop); });
    meeting_ = std::jthread([this](const std::stop_token& stop) { meet(stop); });
}

Link::~Link() {
    meeting_ = {};
    packing_.request_stop();
    {
        const std::scoped_lock lock(mutex_);
        changed_.notify_all();
    }
    packing_ = {};
    for (const auto& peer : peers_) peer->end();
}

std::string Link::place() const {
    return NetAddress{wanted_.address.host, port()}.text();
}

bool Link::is_hungry() const {
    const std::scoped_lock lock(mutex_);
    return !offered_ && !is_packing_ && std::ranges::any_of(peers_, [](const auto& peer) { return peer->is_hungry(); });
}

void Link::offer(OfferedVolume volume) {
    check_image(volume.grid);
    const std::scoped_lock lock(mutex_);
    told_.clear();
    if (offered_) ++counts_.left_out;
    offered_unix_s_ = volume.time_s ? times_.of(*volume.time_s, unix_now()) : unix_now();
    offered_ = std::move(volume);
    changed_.notify_all();
}

void Link::tell(const Error& problem) {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(told_, problem.line()) == problem.line()) return;
    for (const auto& peer : peers_)
        peer->send(status({volume_name, unix_now()}, StatusCode::unknown_error, problem.line()));
}

void Link::look_at(std::int64_t b_scan) {
    if (b_scan == b_scan_) return;
    const std::scoped_lock lock(mutex_);
    b_scan_ = b_scan;
    is_elsewhere_ = true;
    changed_.notify_all();
}

std::uint64_t Link::audience() const {
    const std::scoped_lock lock(mutex_);
    return audience_;
}

LinkStats Link::stats() const {
    const std::scoped_lock lock(mutex_);
    const auto connected = std::ranges::count_if(peers_, [](const auto& peer) { return peer->is_open(); });
    return {connected, counts_.volumes, counts_.left_out, counts_.bytes, counts_.requests, counts_.refused};
}

// ---- packing thread -------------------------------------------------------------------------------------------------

void Link::pack(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const auto has_work = [&] {
        return stop.stop_requested() || offered_ || is_elsewhere_ || forgets_ || (last_ && !newcomers_.empty());
    };
    while (changed_.wait(lock, has_work), !stop.stop_requested()) {
        const std::optional<OfferedVolume> next = std::exchange(offered_, std::nullopt);
        const double unix_s = offered_unix_s_;
        is_packing_ = next.has_value();
        if (std::exchange(forgets_, false)) last_.reset();
        lock.unlock();
        const bool is_new = next && take_offered(*next, unix_s);
        lock.lock();
        is_packing_ = false;
        const bool is_elsewhere = std::exchange(is_elsewhere_, false);
        if (!last_) continue;
        const std::vector<std::shared_ptr<Peer>> newcomers = std::exchange(newcomers_, {}), all = peers_;
        lock.unlock();
        try {
            send_last(is_new ? all : newcomers);
            if (is_elsewhere && !is_new) send_last_b_scan(all);
        } catch (const std::exception&) {  // out of memory: later volumes may succeed
            ++counts_.left_out;
        }
        lock.lock();
    }
}

// Keeps the previous volume if this one is unavailable, because its device was lost or memory is exhausted.
bool Link::take_offered(const OfferedVolume& volume, double unix_s) {
    try {
        const SharedBytes voxels = volume.voxels();
        const Pose pose = pose_of(volume.grid, volume.orientation);
        SharedBytes packed = shared(image({volume_name, unix_s}, volume.grid, pose, *voxels));
        const std::string note = note_of(volume.grid, volume.number, volume.time_s);
        last_ = Packed{volume.grid, note, unix_s, pose, std::move(packed)};
        return true;
    } catch (const std::exception&) {
        ++counts_.left_out;
        return false;
    }
}

void Link::send_last_b_scan(std::span<const std::shared_ptr<Peer>> to) const {
    const std::int64_t wanted = b_scan_;
    const SharedBytes b_scan = shared(b_scan_of({b_scan_name, last_->unix_s}, *last_->image, last_->grid, last_->pose,
                                                wanted < 0 ? last_->grid.b_scans / 2 : wanted));
    for (const auto& peer : to) peer->offer(Stream::b_scan, b_scan);
}

// Sends the description before the voxels, so that the receiver can interpret them.
void Link::send_last(std::span<const std::shared_ptr<Peer>> to) const {
    if (to.empty()) return;
    const SharedBytes note = shared(string({note_name, last_->unix_s}, last_->note));
    const SharedBytes pose = shared(transform({pose_name, last_->unix_s}, last_->pose));
    for (const auto& peer : to) {
        peer->offer(Stream::note, note);
        peer->offer(Stream::pose, pose);
    }
    send_last_b_scan(to);
    for (const auto& peer : to) peer->offer(Stream::volume, last_->image);
}

// ---- connecting thread ----------------------------------------------------------------------------------------------

void Link::meet(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        let_go();
        if (listener_) {
            if (std::optional<TcpConnection> came = listener_->accept(meets_every)) add(std::move(*came));
        } else if (stats().connected == 0) {
            try {
                add(connect_to(wanted_.address, again_after, link_place));
            } catch (const Error&) {  // not available yet
                for (auto waited = 0ms; waited < again_after && !stop.stop_requested(); waited += meets_every)
                    std::this_thread::sleep_for(meets_every);
            }
        } else {
            std::this_thread::sleep_for(meets_every);
        }
    }
}

// Without room, the connection is closed by its destructor.
void Link::add(TcpConnection connection) {
    const std::scoped_lock lock(mutex_);
    if (peers_.size() >= max_peers) {
        ++counts_.refused;
        return;
    }
    if (peers_.empty()) ++audience_;
    const auto peer = std::make_shared<Peer>(next_id_++, std::move(connection), counts_);
    peers_.push_back(peer);
    newcomers_.push_back(peer);
    told_.clear();
    peer->begin([this, weak = std::weak_ptr(peer)](const Request& request, std::shared_ptr<void> waiting) {
        if (const std::shared_ptr<Peer> from = weak.lock()) hear_(from, request, std::move(waiting));
    });
    changed_.notify_all();
}

// Ends peers outside of the lock, because their threads may be waiting for it.
void Link::let_go() {
    std::vector<std::shared_ptr<Peer>> gone;
    {
        const std::scoped_lock lock(mutex_);
        const auto is_gone = [](const auto& peer) { return !peer->is_open(); };
        std::ranges::copy_if(peers_, std::back_inserter(gone), is_gone);
        std::erase_if(peers_, is_gone);
        std::erase_if(newcomers_, is_gone);
        forgets_ = forgets_ || (peers_.empty() && !gone.empty());
        if (forgets_) changed_.notify_all();
    }
    for (const auto& peer : gone) peer->end();
}

}  // namespace echolux::igtl
