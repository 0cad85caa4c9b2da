#include "engine/igtl/link.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <string_view>
#include <utility>

#include "compute/error.h"
#include "compute/plan/describe_stats.h"
#include "engine/build.h"
#include "engine/igtl/messages.h"

namespace echolux::igtl {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto socket_poll_interval = 5ms;          // between sending and receiving
constexpr auto takes_within = 20s;                  // disconnected if it accepts no byte for this long
constexpr std::size_t piece_bytes = 1 << 20;        // sent between checks for incoming data
constexpr int max_unanswered = 64;                  // further requests are read later
constexpr std::size_t max_answer_bytes = 64 << 20;  // limit for queued answers

Stamp own_stamp() {
    return {"Echolux", unix_now()};
}

}  // namespace

Peer::Peer(std::uint64_t id, TcpConnection connection, LinkCounts& counts)
    : id_(id), connection_(std::move(connection)), counts_(counts) {}

Peer::~Peer() {
    end();
}

void Peer::begin(RequestCallback on_request) {
    send(status(own_stamp(), StatusCode::ok, std::string("echolux ") + version));
    thread_ = std::jthread(
        [this, on_request = std::move(on_request)](const std::stop_token& stop) { work(stop, on_request); });
}

void Peer::end() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

void Peer::send(Bytes message) {
    const std::scoped_lock lock(mutex_);
    if (is_gone_) return;
    answer_bytes_ += message.size();
    answers_.push_back(std::make_shared<const Bytes>(std::move(message)));
    if (answer_bytes_ > max_answer_bytes) thread_.request_stop();
}

void Peer::offer(Stream stream, SharedBytes message) {
    const std::scoped_lock lock(mutex_);
    if (is_gone_) return;
    SharedBytes& newest = newest_.at(static_cast<std::size_t>(stream));
    if (newest && stream == Stream::volume) ++counts_.left_out;
    newest = std::move(message);
}

bool Peer::is_hungry() const {
    const std::scoped_lock lock(mutex_);
    return !is_gone_ && !begins_ && !newest_.at(static_cast<std::size_t>(Stream::volume));
}

std::size_t Peer::waiting_bytes() const {
    const std::scoped_lock lock(mutex_);
    return answer_bytes_;
}

void Peer::work(const std::stop_token& stop, const RequestCallback& on_request) {
    try {
        took_ = steady_clock::now();
        while (!stop.stop_requested() && send_on()) listen(on_request);
    } catch (const Error& error) {  // invalid data, or disconnected
        if (error.code() == ErrorCode::bad_file) {
            ++counts_.refused;
            const Bytes why = status(own_stamp(), StatusCode::unknown_instruction, error.line());
            if (!sending_) connection_.send(why, socket_poll_interval);
        }
    } catch (const std::exception&) {  // out of memory: other peers continue
    }
    const std::scoped_lock lock(mutex_);
    is_gone_ = true;
    newest_ = {};
    answers_.clear();
}

// Returns the next message to send. Answers have priority.
SharedBytes Peer::next() {
    const std::scoped_lock lock(mutex_);
    if (!answers_.empty()) {
        SharedBytes first = std::move(answers_.front());
        answers_.pop_front();
        return first;
    }
    for (std::size_t i = 0; i < stream_count; ++i) {
        if (!newest_.at(i)) continue;
        sends_volume_ = i == static_cast<std::size_t>(Stream::volume);
        begins_ = sends_volume_;
        return std::exchange(newest_.at(i), nullptr);
    }
    return nullptr;
}

bool Peer::sends_something() {
    if (sending_) return true;
    sends_volume_ = false;
    sending_ = next();
    sent_ = 0;
    if (sending_) took_ = steady_clock::now();
    return sending_ != nullptr;
}

// Sends part of the current message. Returns false if the peer is gone or no longer accepts data.
bool Peer::send_on() {
    if (!sends_something()) return true;
    const std::span<const std::byte> left = std::span(*sending_).subspan(sent_);
    const std::optional<std::size_t> went =
        connection_.send(left.first(std::min(left.size(), piece_bytes)), socket_poll_interval);
    if (!went) return false;
    const auto now = steady_clock::now();
    if (*went > 0) took_ = now;
    sent_ += *went;
    counts_.bytes += static_cast<std::int64_t>(*went);
    begins_ = sends_volume_ && sent_ < sending_->size() / 2;
    if (sent_ < sending_->size()) return now - took_ < takes_within;
    if (sends_volume_) ++counts_.volumes;
    const std::scoped_lock lock(mutex_);
    answer_bytes_ = 0;
    for (const SharedBytes& answer : answers_) answer_bytes_ += answer->size();
    sending_.reset();
    return true;
}

// Receives requests. Waits briefly if there is nothing to send.
void Peer::listen(const RequestCallback& on_request) {
    if (*unanswered_ >= max_unanswered) return std::this_thread::sleep_for(sending_ ? 0ms : socket_poll_interval);
    std::array<std::byte, 65536> bytes;
    const std::optional<std::size_t> came = connection_.receive(bytes, sends_something() ? 0ms : socket_poll_interval);
    if (!came) throw Error(ErrorCode::device, "has disconnected", address());
    for (const Request& request : reader_.read(std::span(bytes).first(*came))) {
        ++counts_.requests;
        if (request.kind == Request::Kind::status || request.kind == Request::Kind::capability) {
            answer_own(request);
            continue;
        }
        ++*unanswered_;
        on_request(request, std::shared_ptr<void>(nullptr, [count = unanswered_](void*) { --*count; }));
    }
}

void Peer::answer_own(const Request& request) {
    const Stamp stamp{request.device, unix_now()};
    send(request.kind == Request::Kind::status ? status(stamp, StatusCode::ok, "") : capability(stamp));
}

using namespace std::chrono_literals;

constexpr const char* link_place = "OpenIGTLink";
constexpr auto accept_interval = 20ms;  // between checks for new peers
constexpr auto again_after = 500ms;     // interval of connection attempts
constexpr std::size_t max_peers = 4;    // each may hold an outdated volume in memory
constexpr std::string_view listen_prefix = "listen:";

// Device names that the receiver displays.
constexpr const char* volume_name = "Echolux";
constexpr const char* b_scan_name = "Echolux_BScan";
constexpr const char* pose_name = "Echolux_pose";
constexpr const char* note_name = "Echolux_note";

static SharedBytes shared(Bytes bytes) {
    return std::make_shared<const Bytes>(std::move(bytes));
}

LinkOptions parsed_link(const std::string& text, const std::string& where) {
    LinkOptions wanted;
    const bool listens_there = text.starts_with(listen_prefix);
    wanted.listens = listens_there || text.find(':') == std::string::npos;
    wanted.address = parsed_address(listens_there ? text.substr(listen_prefix.size()) : text, where);
    return wanted;
}

Link::Link(const LinkOptions& wanted, RequestCallback on_request)
    : wanted_(wanted), on_request_(std::move(on_request)) {
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
    reported_.clear();
    if (offered_) ++counts_.left_out;
    offered_unix_s_ = volume.time_s ? times_.of(*volume.time_s, unix_now()) : unix_now();
    offered_ = std::move(volume);
    changed_.notify_all();
}

void Link::report(const Error& problem) {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(reported_, problem.line()) == problem.line()) return;
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
        disconnect();
        if (listener_) {
            if (std::optional<TcpConnection> came = listener_->accept(accept_interval)) add(std::move(*came));
        } else if (stats().connected == 0) {
            try {
                add(connect_to(wanted_.address, again_after, link_place));
            } catch (const Error&) {  // not available yet
                for (auto waited = 0ms; waited < again_after && !stop.stop_requested(); waited += accept_interval)
                    std::this_thread::sleep_for(accept_interval);
            }
        } else {
            std::this_thread::sleep_for(accept_interval);
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
    reported_.clear();
    peer->begin([this, weak = std::weak_ptr(peer)](const Request& request, std::shared_ptr<void> waiting) {
        if (const std::shared_ptr<Peer> from = weak.lock()) on_request_(from, request, std::move(waiting));
    });
    changed_.notify_all();
}

// Ends peers outside of the lock, because their threads may be waiting for it.
void Link::disconnect() {
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

namespace echolux {

template <>
const std::vector<Stat<igtl::LinkStats>>& describe_stats<igtl::LinkStats>() {
    using S = igtl::LinkStats;
    static const std::vector<Stat<S>> all = joined_stats<S>({
        statistic<S>("volumes", &S::volumes, "volumes", "sent, counted per program"),
        statistic<S>("left_out", &S::left_out, "volumes", "replaced by a newer one before they were sent"),
        statistic<S>("bytes", &S::bytes, "bytes", "sent"),
        statistic<S>("requests", &S::requests, "", "received"),
        statistic<S>("refused", &S::refused, "", "connections closed because of invalid messages or too many clients"),
        statistic<S>("connected", &S::connected, "", "programs connected now"),
    });
    return all;
}

}  // namespace echolux
