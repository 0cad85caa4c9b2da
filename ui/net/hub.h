// What the sessions of one server share, on the network's thread.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "ui/net/net_server.h"
#include "ui/net/outbox.h"
#include "ui/net/rate.h"

namespace echolux::net {

// An unauthenticated connection, which may be dropped.
class Unauthenticated {
  public:
    virtual ~Unauthenticated() = default;
    virtual void drop() = 0;
};

std::string peer_of(const boost::asio::ip::tcp::socket& socket);  // "127.0.0.1:51234", "[::1]:51234"

inline std::chrono::nanoseconds in_time(double seconds) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * seconds));
}

struct Hub {
    using Clock = std::chrono::steady_clock;

    Hub(const NetOptions& net_options, std::shared_ptr<const Access> who_may, Inbox& to)
        : options(net_options), access(std::move(who_may)), inbox(to) {}

    static double now_s() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }
    const Limits& limits() const { return options.limits; }

    // While what is returned lives, it counts as unauthenticated; the oldest is dropped where there are too many.
    std::shared_ptr<void> note_unauthenticated(const std::shared_ptr<Unauthenticated>& who);

    // While what is returned lives, it counts as a client; nothing: there are too many.
    std::shared_ptr<void> note_client();

    // The connection that others get to see. `session` lives until it is closed, also while it neither reads nor
    // writes.
    std::shared_ptr<Outbox> opened(Right right, bool is_page, const std::string& peer, std::shared_ptr<void> session);
    void closed(const std::shared_ptr<Outbox>& box);
    void arrived(const std::shared_ptr<Outbox>& box, Incoming::Kind kind, std::string bytes);

    // Whether somebody at this address may try a password now.
    bool may_try(const std::string& peer);

    NetOptions options;
    std::shared_ptr<const Access> access;
    Inbox& inbox;
    std::optional<boost::asio::ssl::context> tls;
    WebContent content;
    int web_port = 0;
    std::map<std::string, Rate> tries;  // of a password, by address

    std::list<std::weak_ptr<Unauthenticated>> unauthenticated;  // oldest first
    std::shared_ptr<std::atomic<int>> unauthenticated_count = std::make_shared<std::atomic<int>>(0);
    std::shared_ptr<std::atomic<int>> client_count = std::make_shared<std::atomic<int>>(0);
    std::map<std::shared_ptr<Outbox>, std::shared_ptr<void>> sessions;  // of open connections
    boost::asio::thread_pool disk{1};                                   // writes what is uploaded
    boost::asio::io_context io{1};                                      // goes first, with all sessions in it
};

}  // namespace echolux::net
