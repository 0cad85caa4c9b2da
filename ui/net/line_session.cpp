#include "ui/net/line_session.h"

#include <fmt/format.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/detect_ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <utility>

#include "ui/net/client_session.h"
#include "ui/net/line_token.h"

namespace echolux::net {
namespace {

constexpr std::size_t introduction_bytes = 4096;  // size of the first line
// Limits for reading after the last message, see linger().
constexpr double lingers_s = 2;
constexpr std::size_t lingers_bytes = 1 << 22;

std::string error_line(const char* code, const char* what, const char* remedy) {
    return fmt::format("{{\"error\": {{\"code\": \"{}\", \"what\": \"{}\", \"remedy\": \"{}\"}}}}", code, what, remedy);
}

class LineSession : public ClientSession, public Unauthenticated {
  public:
    LineSession(Hub& hub, asio::ip::tcp::socket&& socket)
        : ClientSession(hub), peer_(peer_of(socket)), stream_(std::move(socket)) {}

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
    std::shared_ptr<LineSession> self() { return std::static_pointer_cast<LineSession>(shared_from_this()); }

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
        const std::string line = error_line("bad_setting", what.c_str(), "send less at a time");
        is_open() ? refuse(line) : turn_away(line);
    }

    // Handles the first line, which must contain the token.
    void introduce(const std::string& line) {
        const std::optional<Right> right = hub_.access->right_of(token_of_line(line));
        if (!right)
            return turn_away(error_line("bad_setting",
                                        "the first line must be {\\\"token\\\": \\\"...\\\"} with a valid token",
                                        "it was printed at the start"));
        std::shared_ptr<void> place = hub_.note_client();
        if (!place) return turn_away(error_line("bad_setting", "too many clients are connected", "try later"));
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
        end_after(lingers_s);
        waste_.resize(1 << 16);
        read_waste(lingers_bytes);
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
    std::make_shared<LineSession>(hub, std::move(socket))->start();
}

}  // namespace echolux::net
