#include "ui/net/hub.h"

#include <utility>

#include "engine/net/tcp.h"

namespace echolux::net {
namespace {

// Increments the count until the returned handle is released. The count is shared because handles may outlive the hub.
std::shared_ptr<void> counting(const std::shared_ptr<std::atomic<int>>& count) {
    ++*count;
    return {count.get(), [count](void*) { --*count; }};
}

}  // namespace

std::string peer_of(const boost::asio::ip::tcp::socket& socket) {
    boost::system::error_code error;
    const auto end = socket.remote_endpoint(error);
    return error ? std::string() : NetAddress{end.address().to_string(), end.port()}.text();
}

std::shared_ptr<void> Hub::note_unauthenticated(const std::shared_ptr<Unauthenticated>& who) {
    std::erase_if(unauthenticated, [](const std::weak_ptr<Unauthenticated>& one) { return one.expired(); });
    while (std::ssize(unauthenticated) >= limits().unauthenticated) {
        const std::shared_ptr<Unauthenticated> oldest = unauthenticated.front().lock();
        unauthenticated.pop_front();
        if (oldest) oldest->drop();
    }
    unauthenticated.push_back(who);
    return counting(unauthenticated_count);
}

std::shared_ptr<void> Hub::note_client() {
    return *client_count < limits().clients ? counting(client_count) : nullptr;
}

std::shared_ptr<Outbox> Hub::opened(Right right, bool is_page, const std::string& peer, std::shared_ptr<void> session) {
    auto box = std::make_shared<Outbox>(right, is_page, peer, limits().waiting_bytes);
    sessions.emplace(box, std::move(session));
    arrived(box, Incoming::Kind::opened, {});
    return box;
}

void Hub::closed(const std::shared_ptr<Outbox>& box) {
    if (!box->is_open()) return;
    box->detach();
    arrived(box, Incoming::Kind::closed, {});
    sessions.erase(box);
}

bool Hub::may_try(const std::string& peer) {
    // Bounds the memory; a reset only allows a few more attempts.
    constexpr std::size_t most_addresses = 10000;
    if (tries.size() > most_addresses) tries.clear();
    const std::string address = peer.substr(0, peer.rfind(':'));
    return tries.try_emplace(address, limits().tries_per_s, now_s()).first->second.try_take(now_s());
}

void Hub::arrived(const std::shared_ptr<Outbox>& box, Incoming::Kind kind, std::string bytes) {
    const bool is_message = kind == Incoming::Kind::text || kind == Incoming::Kind::binary;
    inbox.put({kind, box, std::move(bytes), Clock::now(), is_message ? box->note_unanswered() : nullptr});
}

}  // namespace echolux::net
