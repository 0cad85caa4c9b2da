#include "ui/net/client_handlers.h"

#include <fmt/format.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/detect_ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/version.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "compute/error.h"
#include "engine/net/tcp.h"
#include "ui/net/access.h"
#include "ui/net/request_facts.h"
#include "ui/net/web_request.h"

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

namespace echolux {

// ---- Outbox

static std::uint64_t new_id() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

Outbox::Outbox(Right right, bool is_page, std::string peer, std::size_t max_waiting_bytes)
    : id_(new_id()), right_(right), is_page_(is_page), peer_(std::move(peer)), max_waiting_bytes_(max_waiting_bytes) {}

void Outbox::put(std::initializer_list<Message*> messages) {
    const std::lock_guard lock(mutex_);
    if (!is_open_ || reason_) return;
    // The size of the next message is not limited, only the data queued behind it.
    const bool is_behind = !messages_.empty() && queued_ - messages_.front().size() > max_waiting_bytes_;
    for (Message* message : messages) {
        waiting_ += message->size();
        queued_ += message->size();
        messages_.push_back(std::move(*message));
    }
    if (is_behind) {
        reason_ = "the client reads too slowly";
        is_over_ = true;
    }
    if (wake_) wake_();
}

void Outbox::send_text(std::string text) {
    Message message{std::move(text), {}, false};
    put({&message});
}

void Outbox::send_binary(SharedBytes bytes) {
    Message message{{}, std::move(bytes), true};
    put({&message});
}

void Outbox::send_both(std::string text, SharedBytes bytes) {
    Message one{std::move(text), {}, false}, other{{}, std::move(bytes), true};
    put({&one, &other});
}

void Outbox::close(const std::string& reason) {
    const std::lock_guard lock(mutex_);
    if (!is_open_ || reason_) return;
    reason_ = reason;
    if (wake_) wake_();
}

void Outbox::attach(std::function<void()> wake) {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
    if (wake_ && (!messages_.empty() || reason_)) wake_();
}

void Outbox::detach() {
    const std::lock_guard lock(mutex_);
    is_open_ = false;
    wake_ = {};
    messages_.clear();
    waiting_ = queued_ = 0;
}

// Releasing the handle wakes the session, which may then read on.
std::shared_ptr<void> Outbox::note_unanswered() {
    ++unanswered_;
    return {this, [self = shared_from_this()](void*) {
                --self->unanswered_;
                const std::lock_guard lock(self->mutex_);
                if (self->wake_) self->wake_();
            }};
}

std::optional<Outbox::Message> Outbox::next() {
    const std::lock_guard lock(mutex_);
    if (messages_.empty() || is_over_) return std::nullopt;
    Message message = std::move(messages_.front());
    messages_.pop_front();
    queued_ -= message.size();
    return message;
}

std::optional<std::string> Outbox::reason_to_close() {
    const std::lock_guard lock(mutex_);
    return reason_;
}

bool Outbox::is_overloaded() {
    const std::lock_guard lock(mutex_);
    return is_over_;
}

}  // namespace echolux

namespace echolux::net {

// ---- A TCP stream with optional TLS in one type, so that code for HTTP and WebSockets is compiled only once.

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

class EitherStream {
  public:
    using executor_type = beast::tcp_stream::executor_type;

    explicit EitherStream(asio::ip::tcp::socket&& socket)
        : plain_(std::make_unique<beast::tcp_stream>(std::move(socket))) {}

    beast::tcp_stream& plain() { return *plain_; }
    bool is_tls() const { return tls_ != nullptr; }
    executor_type get_executor() noexcept { return plain_->get_executor(); }

    // Runs the TLS handshake. `greeting` holds bytes already read from the stream. The handler receives an error code
    // and the number of these bytes that were used.
    template <class Buffers, class Handler>
    void async_accept_tls(asio::ssl::context& context, const Buffers& greeting, Handler&& handler) {
        tls_ = std::make_unique<asio::ssl::stream<beast::tcp_stream&>>(*plain_, context);
        tls_->async_handshake(asio::ssl::stream_base::server, greeting, std::forward<Handler>(handler));
    }

    template <class Buffers, class Handler>
    void async_read_some(const Buffers& buffers, Handler&& handler) {
        if (tls_ != nullptr)
            tls_->async_read_some(buffers, std::forward<Handler>(handler));
        else
            plain_->async_read_some(buffers, std::forward<Handler>(handler));
    }

    template <class Buffers, class Handler>
    void async_write_some(const Buffers& buffers, Handler&& handler) {
        if (tls_ != nullptr)
            tls_->async_write_some(buffers, std::forward<Handler>(handler));
        else
            plain_->async_write_some(buffers, std::forward<Handler>(handler));
    }

    void close() {
        error_code ignored;
        plain_->socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
        plain_->close();
    }

    // Customization points that Beast calls at the end of a WebSocket.
    friend void beast_close_socket(EitherStream& stream) { stream.close(); }
    friend void teardown(beast::role_type, EitherStream& stream, error_code& error) {
        stream.close();
        error = {};
    }
    template <class Handler>
    friend void async_teardown(beast::role_type, EitherStream& stream, Handler&& handler) {
        error_code ignored;
        stream.plain_->socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
        asio::post(stream.get_executor(), beast::bind_front_handler(std::forward<Handler>(handler), error_code{}));
    }

  private:
    std::unique_ptr<beast::tcp_stream> plain_;
    std::unique_ptr<asio::ssl::stream<beast::tcp_stream&>> tls_;
};

}  // namespace

// ---- Common part of all client connections: reads messages as fast as they are answered, writes messages in order,
// and disconnects in one place. WebSockets and line connections only differ in how a single message is read and
// written.

namespace {

// Runs on the network's thread. Its pending operations keep it alive as long as the connection.
class ClientHandler : public std::enable_shared_from_this<ClientHandler> {
  public:
    virtual ~ClientHandler() = default;
    ClientHandler(const ClientHandler&) = delete;
    ClientHandler& operator=(const ClientHandler&) = delete;

  protected:
    explicit ClientHandler(Hub& hub);

    // Call this after authentication; from then on messages can be sent, starting with the greeting. `place` counts
    // this client while it is held.
    void open(Right right, bool is_page, const std::string& peer, std::shared_ptr<void> place,
              const std::string& greeting = {});
    bool is_open() const { return box_ != nullptr; }

    // Start reading or writing, unless that is in progress, paused or over.
    void read();
    void write();

    // Must be called at the end of start_read() and start_write().
    void has_read() { is_reading_ = false; }
    void take(Incoming::Kind kind, std::string message);
    void has_written(bool failed);

    void read_no_more();                   // answers pending messages, then closes
    void refuse(const std::string& line);  // sends a last message, then closes
    void end_after(double seconds);        // disconnects after this time at the latest
    void no_more_messages();               // in either direction; reports the connection as closed
    void disconnect();

    virtual void start_read() = 0;   // ends with has_read()
    virtual void start_write() = 0;  // writes writing_; ends with has_written()
    // called when nothing is left to write; ends with disconnect()
    virtual void start_close(const std::string& reason) = 0;
    virtual void cut() = 0;  // closes the socket at once

    Hub& hub_;
    Outbox::Message writing_;
    bool is_reading_ = false;

  private:
    void go_on();
    void pause(double wait_s);

    std::shared_ptr<Outbox> box_;
    std::shared_ptr<void> place_;
    Rate rate_;
    asio::steady_timer pause_, end_;
    std::size_t writing_bytes_ = 0;
    bool is_writing_ = false, is_paused_ = false, is_over_ = false, has_read_all_ = false;
};

// ---- Client session

ClientHandler::ClientHandler(Hub& hub)
    : hub_(hub), rate_(hub.limits().messages_per_s, Hub::now_s()), pause_(hub.io), end_(hub.io) {}

void ClientHandler::open(Right right, bool is_page, const std::string& peer, std::shared_ptr<void> place,
                         const std::string& greeting) {
    place_ = std::move(place);
    box_ = hub_.opened(right, is_page, peer, shared_from_this());
    box_->attach([weak = weak_from_this(), io = &hub_.io] {
        asio::post(*io, [weak] {
            if (const auto self = weak.lock()) self->go_on();
        });
    });
    if (!greeting.empty()) box_->send_text(greeting);
    read();
}

// Called on the network's thread when there is something to send or close, or when a message has been answered.
void ClientHandler::go_on() {
    if (is_over_) return;
    if (box_->is_overloaded()) return disconnect();
    write();
    if (!is_over_) read();
}

// Reading pauses while too many messages wait for their answer, which slows the sender down through TCP.
void ClientHandler::read() {
    const bool waits = box_ && box_->unanswered() >= hub_.limits().messages_waiting;
    if (is_reading_ || is_over_ || is_paused_ || has_read_all_ || waits) return;
    is_reading_ = true;
    start_read();
}

void ClientHandler::take(Incoming::Kind kind, std::string message) {
    hub_.arrived(box_, kind, std::move(message));
    if (const double wait_s = rate_.take(Hub::now_s()); wait_s > 0) return pause(wait_s);
    read();
}

// Delays reading, because the client sends more messages per second than the limit.
void ClientHandler::pause(double wait_s) {
    is_paused_ = true;
    pause_.expires_after(std::chrono::duration_cast<asio::steady_timer::duration>(in_time(wait_s)));
    pause_.async_wait([self = shared_from_this()](error_code) {
        self->is_paused_ = false;
        self->read();
    });
}

void ClientHandler::write() {
    if (is_writing_ || is_over_) return;
    std::optional<Outbox::Message> next = box_->next();
    // Nothing is left to write: close if requested, or if the client has stopped sending and has all answers.
    if (!next) {
        const bool is_answered = has_read_all_ && box_->unanswered() == 0;
        const std::optional<std::string> reason = box_->reason_to_close();
        if (!reason && !is_answered) return;
        is_over_ = true;
        return start_close(reason.value_or(""));
    }
    is_writing_ = true;
    writing_ = std::move(*next);
    writing_bytes_ = writing_.size();
    start_write();
}

void ClientHandler::has_written(bool failed) {
    is_writing_ = false;
    if (failed || is_over_) return disconnect();
    box_->sent(writing_bytes_);
    write();
}

void ClientHandler::read_no_more() {
    has_read_all_ = true;
    write();
}

void ClientHandler::refuse(const std::string& line) {
    has_read_all_ = true;
    end_after(hub_.limits().introduction_s);  // limits the wait for a client that does not read
    box_->send_text(line);
    box_->close("refused");
}

void ClientHandler::end_after(double seconds) {
    end_.expires_after(std::chrono::duration_cast<asio::steady_timer::duration>(in_time(seconds)));
    end_.async_wait([weak = weak_from_this()](error_code error) {
        if (const auto self = weak.lock(); self && !error) self->disconnect();
    });
}

void ClientHandler::no_more_messages() {
    is_over_ = true;
    if (box_) hub_.closed(box_);
    place_.reset();
}

void ClientHandler::disconnect() {
    no_more_messages();
    pause_.cancel();
    end_.cancel();
    cut();
}

}  // namespace

// ---- Line session

namespace {

constexpr std::size_t introduction_bytes = 4096;  // size of the first line
// Limits for reading after the last message, see linger().
constexpr double linger_s = 2;
constexpr std::size_t max_linger_bytes = 1 << 22;

std::string error_line(const char* code, const char* what, const char* remedy) {
    return fmt::format("{{\"error\": {{\"code\": \"{}\", \"what\": \"{}\", \"remedy\": \"{}\"}}}}", code, what, remedy);
}

class LineHandler : public ClientHandler, public Unauthenticated {
  public:
    LineHandler(Hub& hub, asio::ip::tcp::socket&& socket)
        : ClientHandler(hub), peer_(peer_of(socket)), stream_(std::move(socket)) {}

    void start() {
        counted_ = hub_.note_unauthenticated(self());
        stream_.plain().expires_after(in_time(hub_.limits().introduction_s));
        if (!hub_.tls) return read();
        beast::async_detect_ssl(stream_.plain(), greeting_, [self = self()](error_code error, bool is_tls) {
            if (error) return;
            if (!is_tls)
                return self->turn_away(error_line("bad_setting", "this server requires TLS", "connect with TLS"));
            self->begin_tls();
        });
    }

    // Only unauthenticated connections may be dropped.
    void drop() override {
        if (!is_open()) stream_.close();
    }

  private:
    std::shared_ptr<LineHandler> self() { return std::static_pointer_cast<LineHandler>(shared_from_this()); }

    void begin_tls() {
        stream_.async_accept_tls(*hub_.tls, greeting_.data(), [self = self()](error_code error, std::size_t) {
            if (!error) self->read();
        });
    }

    void start_read() override {
        if (is_open()) stream_.plain().expires_never();
        const std::size_t longest = is_open() ? hub_.limits().message_bytes : introduction_bytes;
        asio::async_read_until(stream_, asio::dynamic_buffer(text_, longest), '\n',
                               [self = self()](error_code error, std::size_t bytes) {
                                   self->has_read();
                                   self->take_line(error, bytes);
                               });
    }

    // A client may close its sending side and still receive the pending answers.
    void take_line(error_code error, std::size_t bytes) {
        if (error == asio::error::not_found) return refuse_long_line();
        if (error == asio::error::eof && is_open()) return read_no_more();
        if (error) return disconnect();
        std::string line = text_.substr(0, bytes - 1);
        text_.erase(0, bytes);
        if (line.ends_with('\r')) line.pop_back();
        if (!is_open()) return introduce(line);
        if (line.empty()) return read();
        take(Incoming::Kind::text, std::move(line));
    }

    void refuse_long_line() {
        const std::string what = fmt::format("a line is longer than {}", is_open() ? "1 MiB" : "4 KiB");
        const std::string line = error_line("bad_setting", what.c_str(), "send shorter lines");
        is_open() ? refuse(line) : turn_away(line);
    }

    // Handles the first line, which must contain the token.
    void introduce(const std::string& line) {
        const std::string token = token_of_line(line);
        const std::optional<Right> right = hub_.access->right_of(token);
        if (!right && token.empty())
            return turn_away(error_line("bad_setting", "the first line must be {\\\"token\\\": \\\"...\\\"}", ""));
        if (!right)
            return turn_away(error_line("bad_setting", "the token is wrong", "the server printed it at the start"));
        std::shared_ptr<void> place = hub_.note_client();
        if (!place) return turn_away(error_line("bad_setting", "too many clients are connected", "try again later"));
        counted_.reset();
        open(*right, false, peer_, std::move(place),
             fmt::format("{{\"welcome\": \"echolux\", \"may_steer\": {}}}", *right == Right::steer));
    }

    void start_write() override {
        if (writing_.is_binary)
            writing_.text = fmt::format("{{\"binary\": {}}}\n", writing_.bytes->size());
        else
            writing_.text += '\n';
        const std::array<asio::const_buffer, 2> parts{
            asio::buffer(writing_.text), writing_.bytes ? asio::buffer(*writing_.bytes) : asio::const_buffer()};
        asio::async_write(stream_, parts, [self = self()](error_code error, std::size_t) {
            self->has_written(static_cast<bool>(error));
        });
    }

    // Sends an error to an unauthenticated client and closes the connection.
    void turn_away(const std::string& line) {
        writing_.text = line + "\n";
        end_after(hub_.limits().introduction_s);
        asio::async_write(stream_, asio::buffer(writing_.text),
                          [self = self()](error_code, std::size_t) { self->linger(); });
    }

    void start_close(const std::string&) override { is_reading_ ? disconnect() : linger(); }

    // Reads and discards data for a short time before closing. Closing with unread data would reset the connection and
    // could lose the last messages.
    void linger() {
        no_more_messages();
        error_code ignored;
        stream_.plain().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
        end_after(linger_s);
        waste_.resize(1 << 16);
        read_waste(max_linger_bytes);
    }

    void read_waste(std::size_t most) {
        stream_.plain().async_read_some(asio::buffer(waste_),
                                        [self = self(), most](error_code error, std::size_t bytes) {
                                            if (error || bytes >= most) return self->disconnect();
                                            self->read_waste(most - bytes);
                                        });
    }

    void cut() override { stream_.close(); }

    std::string peer_;
    EitherStream stream_;
    beast::flat_buffer greeting_;  // bytes read while detecting TLS
    std::string text_;             // received, not yet processed
    std::vector<char> waste_;
    std::shared_ptr<void> counted_;  // counts as unauthenticated until the token is accepted
};

}  // namespace

void begin_line_session(Hub& hub, asio::ip::tcp::socket&& socket) {
    std::make_shared<LineHandler>(hub, std::move(socket))->start();
}

// ---- Session of one WebSocket.

namespace {

// Starts a session from an HTTP upgrade request. `place` counts this client while it is held.
void begin_socket_session(Hub& hub, EitherStream&& stream, const beast::http::request<beast::http::empty_body>& request,
                          Right right, const std::string& peer, const std::shared_ptr<void>& place);

namespace websocket = beast::websocket;

using Handshake = beast::http::request<beast::http::empty_body>;

class WebSocketHandler : public ClientHandler {
  public:
    WebSocketHandler(Hub& hub, EitherStream&& stream) : ClientHandler(hub), socket_(std::move(stream)) {}

    void start(const Handshake& request, Right right, const std::string& peer, const std::shared_ptr<void>& place) {
        socket_.set_option(websocket::stream_base::timeout{in_time(hub_.limits().introduction_s),
                                                           in_time(hub_.limits().idle_s), true});
        socket_.read_message_max(hub_.limits().message_bytes);
        socket_.auto_fragment(false);
        auto kept = std::make_shared<Handshake>(request);
        socket_.async_accept(*kept, [self = self(), kept, right, peer, place](error_code error) {
            if (!error) self->open(right, true, peer, place);
        });
    }

  private:
    std::shared_ptr<WebSocketHandler> self() { return std::static_pointer_cast<WebSocketHandler>(shared_from_this()); }

    void start_read() override {
        socket_.async_read(buffer_, [self = self()](error_code error, std::size_t) {
            self->has_read();
            error ? self->disconnect() : self->take_message();
        });
    }

    void take_message() {
        std::string bytes(static_cast<const char*>(buffer_.data().data()), buffer_.size());
        buffer_.consume(buffer_.size());
        take(socket_.got_text() ? Incoming::Kind::text : Incoming::Kind::binary, std::move(bytes));
    }

    void start_write() override {
        const auto bytes = writing_.is_binary ? asio::buffer(*writing_.bytes) : asio::buffer(writing_.text);
        socket_.binary(writing_.is_binary);
        socket_.async_write(
            bytes, [self = self()](error_code error, std::size_t) { self->has_written(static_cast<bool>(error)); });
    }

    void start_close(const std::string& reason) override {
        // A close frame carries at most 123 bytes of reason.
        constexpr std::size_t longest = 120;
        const std::string text = reason.substr(0, longest);
        socket_.async_close({websocket::close_code::policy_error, beast::string_view(text)},
                            [self = self()](error_code) { self->disconnect(); });
    }

    void cut() override { socket_.next_layer().close(); }

    websocket::stream<EitherStream> socket_;
    beast::flat_buffer buffer_;
};

void begin_socket_session(Hub& hub, EitherStream&& stream, const beast::http::request<beast::http::empty_body>& request,
                          Right right, const std::string& peer, const std::shared_ptr<void>& place) {
    std::make_shared<WebSocketHandler>(hub, std::move(stream))->start(request, right, peer, place);
}

}  // namespace

// ---- Web session

namespace {

namespace http = beast::http;
using Answer = http::response<http::string_body>;
using Headers = std::map<http::field, std::string>;

constexpr std::size_t form_bytes = 4096, part_bytes = 1 << 16;
constexpr double upload_pause_s = 30;  // maximum pause between parts
// Limits for reading after the last response, see linger().
constexpr double web_linger_s = 2;
constexpr std::size_t max_web_linger_bytes = 1 << 20;

// Pages may only load their own files.
constexpr const char* policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

// Pages for people without a token: these contain their style and load nothing.
constexpr const char* form_policy =
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

// One HTTP connection on the network's thread. Keeps itself alive through its pending operations.
class HttpHandler : public Unauthenticated, public std::enable_shared_from_this<HttpHandler> {
  public:
    HttpHandler(Hub& hub, asio::ip::tcp::socket&& socket)
        : hub_(hub), peer_(peer_of(socket)), stream_(std::move(socket)) {}

    void start() {
        counted_ = hub_.note_unauthenticated(shared_from_this());
        stream_.plain().expires_after(in_time(hub_.limits().introduction_s));
        if (!hub_.tls) return read_header();
        beast::async_detect_ssl(stream_.plain(), buffer_, [self = shared_from_this()](error_code error, bool is_tls) {
            if (error) return;
            if (is_tls) return self->begin_tls();
            self->keeps_alive_ = false;
            self->answer(400, "this server requires HTTPS: open https://...");
        });
    }

    // Uploads are authenticated and keep running.
    void drop() override {
        if (!place_) stream_.close();
    }

  private:
    void begin_tls() {
        stream_.async_accept_tls(*hub_.tls, buffer_.data(),
                                 [self = shared_from_this()](error_code error, std::size_t used) {
                                     if (error) return;
                                     self->buffer_.consume(used);
                                     self->read_header();
                                 });
    }

    void read_header() {
        parser_.emplace();
        parser_->header_limit(static_cast<std::uint32_t>(hub_.limits().header_bytes));
        parser_->body_limit(hub_.limits().upload_bytes);
        stream_.plain().expires_after(in_time(hub_.limits().introduction_s));
        http::async_read_header(stream_, buffer_, *parser_,
                                [self = shared_from_this()](error_code error, std::size_t) { self->read(error); });
    }

    // Handles the header, or a failure to read it.
    void read(error_code error) {
        keeps_alive_ = false;
        if (error == http::error::header_limit) return answer(431, "the request is too long");
        if (error == http::error::body_limit) return answer(413, "the file is larger than this server accepts");
        if (error.category() == http::make_error_code(http::error::bad_method).category() &&
            error != http::error::end_of_stream && error != http::error::partial_message)
            return answer(400, "the request is malformed");
        if (error) return stream_.close();
        const auto& request = parser_->get();
        keeps_alive_ = request.keep_alive() && parser_->is_done();
        act(judge(facts_of(request, stream_.is_tls()), *hub_.access, hub_.web_port));
    }

    void act(const Verdict& verdict) {
        switch (verdict.kind) {
            case Verdict::Kind::refused:
                if (verdict.is_page && !hub_.content.denied.empty()) return send_form(verdict, hub_.content.denied);
                return answer(verdict.status, verdict.text);
            case Verdict::Kind::login: return send_form(verdict, hub_.content.login);
            case Verdict::Kind::check: return read_form();
            case Verdict::Kind::enter: return enter(verdict.token, "/");
            case Verdict::Kind::page: return send_page(verdict.path);
            case Verdict::Kind::socket: return become_socket(*verdict.right);
            case Verdict::Kind::upload: return begin_upload(verdict.path);
        }
    }

    // Sends a page that needs no token and contains its style.
    void send_form(const Verdict& verdict, std::string_view page) {
        send(verdict.status, "text/html; charset=utf-8", std::string(page), {}, form_policy);
    }

    // Moves the token from the address to a cookie, which the browser sends with later requests.
    void enter(const std::string& token, const std::string& to) {
        const std::string cookie = fmt::format("{}={}; HttpOnly; SameSite=Lax; Path=/{}", cookie_name(hub_.web_port),
                                               token, stream_.is_tls() ? "; Secure" : "");
        send(303, "text/plain; charset=utf-8", "", {{http::field::set_cookie, cookie}, {http::field::location, to}});
    }

    void send_page(const std::string& path) {
        for (const WebPage& page : hub_.content.pages) {
            if (page.path == path) return send(200, page.content_type, std::string(page.bytes));
        }
        answer(404, "there is no such page");
    }

    void read_form() {
        auto form = std::make_shared<http::request_parser<http::string_body>>(std::move(*parser_));
        form->body_limit(form_bytes);
        http::async_read(stream_, buffer_, *form, [self = shared_from_this(), form](error_code error, std::size_t) {
            self->keeps_alive_ = false;
            if (error) return self->answer(400, "the form is malformed");
            self->check_password(form_value(form->get().body(), "password").value_or(""));
        });
    }

    // The rate limit applies per address, so that parallel guessing gains nothing.
    void check_password(const std::string& given) {
        if (!hub_.may_try(peer_)) return answer(429, "too many attempts: wait a few seconds");
        if (!hub_.access->is_password(given)) return answer(403, "wrong password");
        enter(hub_.access->secrets().steer, "/");
    }

    void become_socket(Right right) {
        const std::shared_ptr<void> place = hub_.note_client();
        if (!place) return answer(503, "too many clients are connected: try again later, or close another page");
        stream_.plain().expires_never();
        begin_socket_session(hub_, std::move(stream_), parser_->release(), right, peer_, place);
    }

    void begin_upload(const std::string& name) {
        if (hub_.content.upload_folder.empty())
            return answer(403, "this server accepts no files: start it with `--uploads FOLDER`");
        if (!parser_->content_length()) return answer(411, "Content-Length is required");
        place_ = hub_.note_client();
        if (!place_) return answer(503, "too many clients are connected");
        counted_.reset();  // no longer counts as unauthenticated, so that it is not dropped
        auto up = std::make_shared<Uploading>(std::move(*parser_), part_bytes);
        up->parser.body_limit(hub_.limits().upload_bytes);
        on_disk(up, [folder = hub_.content.upload_folder, name](Uploading& it) { it.file.emplace(folder, name); });
    }

    // An upload in progress. Parts are written on the disk thread, one at a time.
    struct Uploading {
        template <class Parser>
        Uploading(Parser&& header, std::size_t bytes) : parser(std::move(header)), part(bytes) {}

        http::request_parser<http::buffer_body> parser;
        std::vector<char> part;
        std::optional<Upload> file;
        std::string problem;
        bool is_done = false;
    };

    // Runs `work` on the disk thread, then continues on the network's thread.
    template <class Work>
    void on_disk(const std::shared_ptr<Uploading>& up, Work&& work) {
        asio::post(hub_.disk, [self = shared_from_this(), up, work = std::forward<Work>(work)] {
            try {
                work(*up);
            } catch (const Error& error) {
                up->problem = error.problem();
            } catch (const std::exception& error) {
                up->problem = error.what();
            }
            asio::post(self->hub_.io, [self, up] { self->continue_upload(up); });
        });
    }

    void continue_upload(const std::shared_ptr<Uploading>& up) {
        keeps_alive_ = false;
        if (!up->problem.empty()) return answer(507, "the file could not be stored: " + up->problem);
        if (up->is_done) return answer(201, up->file->path().filename().string());
        auto& body = up->parser.get().body();
        body.data = up->part.data();
        body.size = up->part.size();
        stream_.plain().expires_after(in_time(upload_pause_s));
        http::async_read(stream_, buffer_, up->parser, [self = shared_from_this(), up](error_code error, std::size_t) {
            self->keep_part(up, error);
        });
    }

    void keep_part(const std::shared_ptr<Uploading>& up, error_code error) {
        if (error == http::error::body_limit) return answer(413, "the file is larger than this server accepts");
        if (error && error != http::error::need_buffer) return stream_.close();
        const std::size_t bytes = up->part.size() - up->parser.get().body().size;
        const bool is_last = up->parser.is_done();
        on_disk(up, [bytes, is_last](Uploading& it) {
            it.file->write(std::span(it.part).first(bytes));
            if (is_last) it.file->finish();
            it.is_done = is_last;
        });
    }

    // Closes the connection after an error.
    void answer(int status, const std::string& line) {
        keeps_alive_ = keeps_alive_ && status < 400;
        send(status, "text/plain; charset=utf-8", line + "\n");
    }

    void send(int status, const std::string& type, std::string body, const Headers& more = {},
              const char* allowed = policy) {
        auto reply = std::make_shared<Answer>(http::int_to_status(static_cast<unsigned>(status)), 11);
        reply->set(http::field::content_type, type);
        reply->set(http::field::cache_control, "no-store");
        reply->set("Content-Security-Policy", allowed);
        reply->set("X-Content-Type-Options", "nosniff");
        reply->set("Referrer-Policy", "same-origin");  // otherwise browsers omit the origin of forms
        reply->set("Cross-Origin-Opener-Policy", "same-origin");
        for (const auto& [name, value] : more) reply->set(name, value);
        reply->keep_alive(keeps_alive_);
        reply->body() = std::move(body);
        reply->prepare_payload();
        stream_.plain().expires_after(in_time(hub_.limits().introduction_s));
        http::async_write(stream_, *reply, [self = shared_from_this(), reply](error_code error, std::size_t) {
            if (error) return self->stream_.close();
            self->keeps_alive_ ? self->read_header() : self->linger();
        });
    }

    // Reads and discards data for a short time before closing. Closing with unread data would reset the connection and
    // could lose the response.
    void linger() {
        error_code ignored;
        stream_.plain().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
        stream_.plain().expires_after(in_time(web_linger_s));
        waste_.resize(part_bytes);
        read_waste(max_web_linger_bytes);
    }

    void read_waste(std::size_t most) {
        stream_.plain().async_read_some(asio::buffer(waste_),
                                        [self = shared_from_this(), most](error_code error, std::size_t bytes) {
                                            if (error || bytes >= most) return self->stream_.close();
                                            self->read_waste(most - bytes);
                                        });
    }

    Hub& hub_;
    std::string peer_;
    EitherStream stream_;
    beast::flat_buffer buffer_{1 << 17};
    std::optional<http::request_parser<http::empty_body>> parser_;
    bool keeps_alive_ = false;
    std::vector<char> waste_;
    std::shared_ptr<void> counted_, place_;
};

}  // namespace

void begin_http(Hub& hub, asio::ip::tcp::socket&& socket) {
    std::make_shared<HttpHandler>(hub, std::move(socket))->start();
}

}  // namespace echolux::net
