// State shared by the sessions of one server. Used on the network's thread.
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

// A connection that has not authenticated and may be dropped for a newer one.
class Unauthenticated {
  public:
    virtual ~Unauthenticated() = default;
    virtual void drop() = 0;
};

std::string peer_of(const boost::asio::ip::tcp::socket& socket);  // such as "127.0.0.1:51234" or "[::1]:51234"

inline std::chrono::nanoseconds in_time(double seconds) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * seconds));
}

struct Hub {
    using Clock = std::chrono::steady_clock;

    Hub(const NetOptions& net_options, std::shared_ptr<const Access> who_may, Inbox& to)
        : options(net_options), access(std::move(who_may)), inbox(to) {}

    static double now_s() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }
    const Limits& limits() const { return options.limits; }

    // Counts `who` as unauthenticated until the returned handle is released. If there are too many, the oldest
    // connection is dropped.
    std::shared_ptr<void> note_unauthenticated(const std::shared_ptr<Unauthenticated>& who);

    // Counts a client until the returned handle is released. Returns nullptr if there are too many.
    std::shared_ptr<void> note_client();

    // Creates the connection for other threads and reports it as opened. `session` is kept alive until closed(), even
    // without a pending read or write.
    std::shared_ptr<Outbox> opened(Right right, bool is_page, const std::string& peer, std::shared_ptr<void> session);
    void closed(const std::shared_ptr<Outbox>& box);
    void arrived(const std::shared_ptr<Outbox>& box, Incoming::Kind kind, std::string bytes);

    // Returns true if a password attempt from this address is within the rate limit.
    bool may_try(const std::string& peer);

    NetOptions options;
    std::shared_ptr<const Access> access;
    Inbox& inbox;
    std::optional<boost::asio::ssl::context> tls;
    WebContent content;
    int web_port = 0;
    std::map<std::string, Rate> tries;  // password attempts by address

    std::list<std::weak_ptr<Unauthenticated>> unauthenticated;  // oldest first
    std::shared_ptr<std::atomic<int>> unauthenticated_count = std::make_shared<std::atomic<int>>(0);
    std::shared_ptr<std::atomic<int>> client_count = std::make_shared<std::atomic<int>>(0);
    std::map<std::shared_ptr<Outbox>, std::shared_ptr<void>> sessions;  // sessions of open connections
    boost::asio::thread_pool disk{1};                                   // writes uploads
    boost::asio::io_context io{1};  // last member: destroyed first, with all pending operations
};

}  // namespace echolux::net
