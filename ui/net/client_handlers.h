// Sessions of the network server: one per connection of a page, a WebSocket or a program that writes lines, with the
// state that they share. Used on the network's thread, except for the outbox of a connection.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ui/net/access.h"
#include "ui/net/connection.h"
#include "ui/net/net_server.h"

namespace echolux {

// ---- Sending side of a connection, as seen by other threads. Messages are queued here until the client's session
// takes them on the network's thread. May outlive session and server.

class Outbox : public Connection, public std::enable_shared_from_this<Outbox> {
  public:
    struct Message {
        std::string text;
        SharedBytes bytes;
        bool is_binary = false;

        std::size_t size() const { return text.size() + (bytes ? bytes->size() : 0); }
    };

    Outbox(Right right, bool is_page, std::string peer, std::size_t max_waiting_bytes);

    std::uint64_t id() const override { return id_; }
    bool may_steer() const override { return right_ == Right::steer; }
    bool is_page() const override { return is_page_; }
    const std::string& peer() const override { return peer_; }
    void send_text(std::string text) override;
    void send_binary(SharedBytes bytes) override;
    void send_both(std::string text, SharedBytes bytes) override;
    std::size_t waiting_bytes() const override { return waiting_; }
    void close(const std::string& reason) override;
    bool is_open() const override { return is_open_; }

    // ---- for the session, on the network's thread

    // Sets the function that is called, on any thread, when there is something to send or to close.
    void attach(std::function<void()> wake);
    // Ends the connection; `wake` is never called again.
    void detach();

    // Counts a message as unanswered until the returned handle is released.
    std::shared_ptr<void> note_unanswered();
    int unanswered() const { return unanswered_; }

    std::optional<Message> next();                       // next message to write, if any
    void sent(std::size_t bytes) { waiting_ -= bytes; }  // reports bytes of next() as written
    std::optional<std::string> reason_to_close();  // set when the connection is to be closed after the last message
    bool is_overloaded();                          // true if the client is too slow: disconnect at once

  private:
    void put(std::initializer_list<Message*> messages);

    const std::uint64_t id_;
    const Right right_;
    const bool is_page_;
    const std::string peer_;
    const std::size_t max_waiting_bytes_;

    std::atomic<std::size_t> waiting_ = 0;
    std::atomic<int> unanswered_ = 0;
    std::atomic<bool> is_open_ = true;
    std::mutex mutex_;  // protects the members below
    std::deque<Message> messages_;
    std::size_t queued_ = 0;  // their size in bytes
    std::function<void()> wake_;
    std::optional<std::string> reason_;
    bool is_over_ = false;  // discards the queued messages
};

}  // namespace echolux

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

// ---- Connection for programs that exchange lines, such as LabVIEW, MATLAB and netcat: one JSON object per line. The
// first line contains the token.

// Starts a session, which keeps itself alive as long as the connection.
void begin_line_session(Hub& hub, boost::asio::ip::tcp::socket&& socket);

// ---- HTTP session: serves the files of the page, accepts uploads, and upgrades to WebSockets.

// Starts a session, which keeps itself alive as long as the connection.
void begin_http(Hub& hub, boost::asio::ip::tcp::socket&& socket);

}  // namespace echolux::net
