#include "ui/net/line_session.h"

#include <fmt/format.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/detect_ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <utility>

#include "ui/net/either_stream.h"
#include "ui/net/line_peer.h"
#include "ui/net/line_token.h"

namespace echolux::net {
namespace {

std::chrono::nanoseconds in_time(double seconds) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * seconds));
}

std::string error_line(const char* code, const char* what, const char* remedy) {
    return fmt::format("{{\"error\": {{\"code\": \"{}\", \"what\": \"{}\", \"remedy\": \"{}\"}}}}\n", code, what,
                       remedy);
}

class LineSession : public Stranger, public std::enable_shared_from_this<LineSession> {
  public:
    LineSession(Hub& hub, asio::ip::tcp::socket&& socket)
        : hub_(hub), peer_(peer_of(socket)), stream_(std::move(socket)), pause_(hub.io) {}

    void start() {
        counted_ = hub_.note_stranger(shared_from_this());
        stream_.plain().expires_after(in_time(hub_.limits().introduction_s));
        if (!hub_.tls) return read();
        beast::async_detect_ssl(stream_.plain(), greeting_, [self = shared_from_this()](error_code error, bool is_tls) {
            if (error) return;
            if (!is_tls)
                return self->refuse(error_line("bad_setting", "this server speaks TLS alone", "connect with TLS"));
            self->begin_tls();
        });
    }

    void drop() override {
        if (!box_) stream_.close();
    }

  private:
    void begin_tls() {
        stream_.async_accept_tls(*hub_.tls, greeting_.data(),
                                 [self = shared_from_this()](error_code error, std::size_t) {
                                     if (!error) self->read();
                                 });
    }

    void go_on() {
        if (is_over_) return;
        if (box_->gives_up()) return give_up();
        write();
        read();
    }

    void read() {
        const bool waits = box_ && box_->unanswered() >= hub_.limits().messages_waiting;
        if (is_reading_ || is_over_ || is_paused_ || waits) return;
        is_reading_ = true;
        if (box_) stream_.plain().expires_never();
        asio::async_read_until(stream_, asio::dynamic_buffer(text_, hub_.limits().message_bytes), '\n',
                               [self = shared_from_this()](error_code error, std::size_t bytes) {
                                   self->is_reading_ = false;
                                   self->take(error, bytes);
                               });
    }

    void take(error_code error, std::size_t bytes) {
        if (error == asio::error::not_found)
            return refuse(error_line("bad_setting", "a line is longer than 1 MiB", "send less at a time"));
        if (error) return give_up();
        std::string line = text_.substr(0, bytes - 1);
        text_.erase(0, bytes);
        if (line.ends_with('\r')) line.pop_back();
        if (!box_) return introduce(line);
        if (!line.empty()) hub_.arrived(box_, Incoming::Kind::text, std::move(line));
        if (const double wait_s = rate_.take(Hub::now_s()); wait_s > 0) return pause(wait_s);
        read();
    }

    void introduce(const std::string& line) {
        const std::optional<Right> right = hub_.access->right_of(token_of_line(line));
        if (!right)
            return refuse(error_line("bad_setting", "the first line has to show the token of this server",
                                     "send {\\\"token\\\": \\\"...\\\"} with the one that was printed"));
        place_ = hub_.note_client();
        if (!place_) return refuse(error_line("bad_setting", "enough are connected already", "try later"));
        counted_.reset();
        box_ = hub_.opened(*right, false, peer_);
        box_->attach([weak = weak_from_this(), io = &hub_.io] {
            asio::post(*io, [weak] {
                if (const auto self = weak.lock()) self->go_on();
            });
        });
        box_->send_text(fmt::format("{{\"welcome\": \"echolux\", \"may_steer\": {}}}", *right == Right::steer));
        read();
    }

    void pause(double wait_s) {
        is_paused_ = true;
        pause_.expires_after(std::chrono::duration_cast<asio::steady_timer::duration>(in_time(wait_s)));
        pause_.async_wait([self = shared_from_this()](error_code) {
            self->is_paused_ = false;
            self->read();
        });
    }

    void write() {
        if (is_writing_ || is_over_) return;
        std::optional<Outbox::Message> next = box_->next();
        if (!next) {
            if (const auto reason = box_->reason_to_close()) give_up();
            return;
        }
        is_writing_ = true;
        writing_ = std::move(*next);
        const std::size_t counted = writing_.size();
        if (writing_.is_binary)
            writing_.text = fmt::format("{{\"binary\": {}}}\n", writing_.bytes.size());
        else
            writing_.text += '\n';
        const std::array<asio::const_buffer, 2> parts{asio::buffer(writing_.text), asio::buffer(writing_.bytes)};
        asio::async_write(stream_, parts, [self = shared_from_this(), counted](error_code error, std::size_t) {
            self->is_writing_ = false;
            if (error || self->is_over_) return self->give_up();
            self->box_->sent(counted);
            self->write();
        });
    }

    void refuse(const std::string& line) {
        is_over_ = true;
        writing_.text = line;
        asio::async_write(stream_, asio::buffer(writing_.text),
                          [self = shared_from_this()](error_code, std::size_t) { self->give_up(); });
    }

    void give_up() {
        is_over_ = true;
        if (box_) hub_.closed(box_);
        place_.reset();
        stream_.close();
    }

    Hub& hub_;
    std::string peer_;
    EitherStream stream_;
    asio::steady_timer pause_;
    beast::flat_buffer greeting_;
    std::string text_;  // that has been read
    Rate rate_{hub_.limits().messages_per_s, Hub::now_s()};
    std::shared_ptr<Outbox> box_;
    Outbox::Message writing_;
    bool is_reading_ = false, is_writing_ = false, is_paused_ = false, is_over_ = false;
    std::shared_ptr<void> counted_, place_;
};

}  // namespace

void begin_line_session(Hub& hub, asio::ip::tcp::socket&& socket) {
    std::make_shared<LineSession>(hub, std::move(socket))->start();
}

}  // namespace echolux::net
