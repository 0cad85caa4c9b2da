#include "ui/control/control_server.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/io/allowed_folders.h"
#include "ui/net/net_server.h"

namespace echolux {
namespace {

ControlOptions options_of(const ControlServerOptions& options) {
    return {std::make_shared<const AllowedFolders>(options.folders), options.window_picture};
}

Secrets secrets_for(const std::filesystem::path& token_file) {
    return token_file.empty() ? Secrets{made_token(), made_token(), ""} : secrets_of(token_file);
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
    if (!parts_->is_asked && parts_->wake) parts_->inbox.tell(parts_->wake);
}

// While requests arrive, a short wait lets several of them be handled together.
double ControlServer::patience_s() const {
    constexpr double asked = 0.004;
    return parts_->is_asked ? asked : parts_->control.patience_s();
}

}  // namespace echolux
