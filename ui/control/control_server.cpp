#include "ui/control/control_server.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "app/viewer/pane_view.h"
#include "app/viewer/view_source.h"
#include "compute/error.h"
#include "engine/io/file_name.h"
#include "ui/control/control.h"
#include "ui/control/message.h"
#include "ui/net/net_server.h"

namespace echolux {
namespace {

ControlOptions options_of(const ControlServerOptions& options) {
    return {std::make_shared<const AllowedFolders>(options.folders), options.window_picture};
}

Secrets secrets_for(const std::filesystem::path& token_file) {
    return token_file.empty() ? Secrets{create_token(), create_token(), ""} : secrets_of(token_file);
}

NetOptions net_options(const ControlServerOptions& options) {
    NetOptions net;
    net.host = options.host;
    net.limits.messages_waiting = 2000;  // allows 1,000 settings per second even with slow rendering
    return net;
}

}  // namespace

struct ControlServer::Parts {
    Parts(Workspace& work, const ControlServerOptions& options)
        : control(work, options_of(options)), wake(options.wake),
          access(std::make_shared<const Access>(secrets_for(options.token_file))),
          server(net_options(options), access, inbox), port(server.serve_lines(options.port)) {}

    Control control;
    std::function<void()> wake;
    std::shared_ptr<const Access> access;
    Inbox inbox;
    NetServer server;
    int port;
    bool is_asked = false;  // requests arrived in the last turn
};

ControlServer::ControlServer(Workspace& work, const ControlServerOptions& options)
    : parts_(std::make_unique<Parts>(work, options)) {}
ControlServer::~ControlServer() = default;

int ControlServer::port() const {
    return parts_->port;
}

const std::string& ControlServer::token() const {
    return parts_->access->secrets().steer;
}

Control& ControlServer::control() {
    return parts_->control;
}

// Handles all messages that have arrived. The network thread reads on once they are taken, so this repeats for up to 3
// ms.
void ControlServer::update() {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds longest(3);
    const Clock::time_point begin = Clock::now();
    std::vector<Incoming> incoming = parts_->inbox.take(0);
    parts_->is_asked = !incoming.empty();
    while (!incoming.empty()) {
        for (const Incoming& one : incoming) {
            if (one.kind == Incoming::Kind::text) parts_->control.handle(one.from, one.bytes, one.waiting);
            if (one.kind == Incoming::Kind::closed) parts_->control.gone(one.from->id());
        }
        incoming.clear();
        if (Clock::now() - begin < longest) incoming = parts_->inbox.take(0);
    }
    parts_->control.update();
    // An idle window is woken by the next message.
    if (!parts_->is_asked && parts_->wake) parts_->inbox.set_wake(parts_->wake);
}

// While requests arrive, a short wait lets several of them be handled together.
double ControlServer::timeout_s() const {
    constexpr double busy_wait_s = 0.004;
    return parts_->is_asked ? busy_wait_s : parts_->control.timeout_s();
}

// ---- Link server

namespace {

using igtl::Peer;

constexpr double poll_alone_s = 0.25, poll_connected_s = 0.01;  // without and with a connected peer
constexpr std::size_t max_string = 65535;                       // bytes; STRING messages count them in 16 bits

// Connection for one request. The first text sent is the response; later texts are notifications.
class RequestConnection : public Connection {
  public:
    RequestConnection(std::shared_ptr<Peer> from, igtl::Request request, std::shared_ptr<void> waiting, bool may_steer)
        : peer_(std::move(from)), request_(std::move(request)), waiting_(std::move(waiting)), may_steer_(may_steer) {}

    std::uint64_t id() const override { return peer_->id(); }
    bool may_steer() const override { return may_steer_; }
    bool is_page() const override { return false; }
    const std::string& peer() const override { return peer_->address(); }

    void send_text(std::string text) override {
        const bool is_answer = !std::exchange(is_answered_, true);
        waiting_.reset();
        if (text.size() > max_string && (!is_answer || request_.kind == igtl::Request::Kind::string)) {
            text = line_of(error_answer(nullptr, {Error(ErrorCode::bad_setting, "is too long for a STRING message",
                                                        "answer", "request less, or send a COMMAND")}));
        }
        peer_->send(is_answer ? igtl::answer_to(request_, igtl::unix_now(), text)
                              : igtl::string({"Echolux_news", igtl::unix_now()}, text));
    }
    void send_binary(SharedBytes) override {}
    // Notifications omit voxels, because the volume is also sent as an image.
    void send_both(std::string text, SharedBytes bytes) override {
        send_text(is_answered_ ? std::move(text) : with_data(text, *bytes));
    }

    std::size_t waiting_bytes() const override { return peer_->waiting_bytes(); }
    void close(const std::string&) override { peer_->close(); }
    bool is_open() const override { return peer_->is_open(); }

  private:
    std::shared_ptr<Peer> peer_;
    igtl::Request request_;
    std::shared_ptr<void> waiting_;
    bool may_steer_, is_answered_ = false;
};

}  // namespace

struct LinkServer::Parts {
    struct Arrival {
        std::shared_ptr<Peer> from;
        igtl::Request request;
        std::shared_ptr<void> waiting;
    };

    Parts(Workspace& workspace, const igtl::LinkOptions& wanted)
        : work(workspace), control(workspace, {.folders = nullptr, .may_shut_down = false}),
          link(wanted,
               [this](const std::shared_ptr<Peer>& from, const igtl::Request& request, std::shared_ptr<void> waiting) {
                   const std::scoped_lock lock(mutex);
                   arrivals.push_back({from, request, std::move(waiting)});
               }) {}

    void take_requests();
    void offer_volume();

    Workspace& work;
    Control control;
    std::map<std::uint64_t, std::shared_ptr<Peer>> peers;  // peers that have sent requests, by id
    std::uint64_t offered_to = 0;                          // audience of the last offer
    std::optional<VolumeRevision> offered;
    std::mutex mutex;  // protects arrivals
    std::vector<Arrival> arrivals;
    igtl::Link link;  // last member: stops its threads before the others are destroyed
};

// Moves requests from the network threads to Control, and forgets closed peers.
void LinkServer::Parts::take_requests() {
    std::vector<Arrival> came;
    {
        const std::scoped_lock lock(mutex);
        came.swap(arrivals);
    }
    for (Arrival& one : came) {
        peers[one.from->id()] = one.from;
        const std::uint32_t id = one.request.id;
        const auto line =
            std::make_shared<RequestConnection>(one.from, one.request, std::move(one.waiting), link.wanted().may_steer);
        try {
            control.handle(line, rpc_of(one.request));
        } catch (const Error& error) {
            line->send_text(line_of(error_answer(id, {error})));
        }
    }
    std::erase_if(peers, [this](const auto& entry) {
        if (!entry.second->is_open()) control.gone(entry.first);
        return !entry.second->is_open();
    });
}

// Offers the current volume for sending when it is new or when a new peer has connected. Voxels are read back only if a
// peer can receive them now.
void LinkServer::Parts::offer_volume() {
    ViewSource* view_source = work.viewer().view_source();
    const std::optional<VolumeGrid> grid = view_source == nullptr ? std::nullopt : view_source->grid();
    if (!grid) return;
    link.look_at(voxel_index(work.cross_um()[2], *grid, 2));
    if (!link.is_hungry()) return;
    const std::optional<VolumeStamp> stamp = view_source->stamp();
    const std::uint64_t audience = link.audience();
    const std::optional<VolumeRevision> now = view_source->revision();
    if (audience == offered_to && now == offered) return;
    try {
        igtl::check_image(*grid);
        const PendingVolume coming = view_source->begin_reading();
        if (!coming) return;
        igtl::OfferedVolume volume{.grid = *grid, .orientation = view_source->orientation()};
        if (stamp) {
            volume.number = stamp->volume;
            volume.time_s = stamp->time_s;
        }
        volume.voxels = [coming, expected = *grid] {
            const std::shared_ptr<const Volume> read = coming();
            if (read->grid != expected) throw Error(ErrorCode::cancelled, "has changed meanwhile", "OpenIGTLink");
            return igtl::SharedBytes(read, &read->voxels);
        };
        link.offer(std::move(volume));
        offered_to = audience;
        offered = now;
    } catch (const Error& error) {  // unsupported voxels, or a lost device that will be restored
        link.report(error);
    }
}

LinkServer::LinkServer(Workspace& work, const igtl::LinkOptions& wanted)
    : parts_(std::make_unique<Parts>(work, wanted)) {}
LinkServer::~LinkServer() = default;

std::string LinkServer::place() const {
    return parts_->link.place();
}

std::uint16_t LinkServer::port() const {
    return parts_->link.port();
}

igtl::LinkStats LinkServer::stats() const {
    return parts_->link.stats();
}

void LinkServer::update() {
    parts_->take_requests();
    parts_->control.update();
    parts_->offer_volume();
}

double LinkServer::timeout_s() const {
    return parts_->link.stats().connected > 0 ? poll_connected_s : poll_alone_s;
}

}  // namespace echolux
