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

constexpr std::size_t introduction_bytes = 4096;  // of the first line
constexpr std::chrono::seconds lingers(2);
constexpr std::size_t lingers_bytes = 1 << 22;

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
            if (!is_tls) return self->refuse(error_line("bad_setting", "this server requires TLS", "connect with TLS"));
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
        if (!is_over_) read();
    }

    void read() {
        const bool waits = box_ && box_->unanswered() >= hub_.limits().messages_waiting;
        if (is_reading_ || is_over_ || is_paused_ || has_read_all_ || waits) return;
        is_reading_ = true;
        if (box_) stream_.plain().expires_never();
        const std::size_t longest = box_ ? hub_.limits().message_bytes : introduction_bytes;
        asio::async_read_until(stream_, asio::dynamic_buffer(text_, longest), '\n',
                               [self = shared_from_this()](error_code error, std::size_t bytes) {
                                   self->is_reading_ = false;
                                   self->take(error, bytes);
                               });
    }

    void take(error_code error, std::size_t bytes) {
        if (error == asio::error::not_found)
            return refuse(error_line("bad_setting",
                                     fmt::format("a line is longer than {}", box_ ? "1 MiB" : "4 KiB").c_str(),
                                     "send less at a time"));
        if (error == asio::error::eof && box_) return end_of_requests();
        if (error) return give_up();
        std::string line = text_.substr(0, bytes - 1);
        text_.erase(0, bytes);
        if (line.ends_with('\r')) line.pop_back();
        if (!box_) return introduce(line);
        if (!line.empty()) hub_.arrived(box_, Incoming::Kind::text, std::move(line));
        if (const double wait_s = rate_.take(Hub::now_s()); wait_s > 0) return pause(wait_s);
        read();
    }

    // Whoever has sent all hears what is still to be answered.
    void end_of_requests() {
        has_read_all_ = true;
        write();
    }

    void introduce(const std::string& line) {
        const std::optional<Right> right = hub_.access->right_of(token_of_line(line));
        if (!right)
            return refuse(error_line("bad_setting",
                                     "the first line must be {\\\"token\\\": \\\"...\\\"} with a valid token",
                                     "it was printed at the start"));
        place_ = hub_.note_client();
        if (!place_) return refuse(error_line("bad_setting", "too many clients are connected", "try later"));
        counted_.reset();
        box_ = hub_.opened(*right, false, peer_, shared_from_this());
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
            const bool is_answered = has_read_all_ && box_->unanswered() == 0;
            if (box_->reason_to_close() || is_answered) is_reading_ ? give_up() : linger();
            return;
        }
        is_writing_ = true;
        writing_ = std::move(*next);
        const std::size_t counted = writing_.size();
        if (writing_.is_binary)
            writing_.text = fmt::format("{{\"binary\": {}}}\n", writing_.bytes->size());
        else
            writing_.text += '\n';
        const std::array<asio::const_buffer, 2> parts{
            asio::buffer(writing_.text), writing_.bytes ? asio::buffer(*writing_.bytes) : asio::const_buffer()};
        asio::async_write(stream_, parts, [self = shared_from_this(), counted](error_code error, std::size_t) {
            self->is_writing_ = false;
            if (error || self->is_over_) return self->give_up();
            self->box_->sent(counted);
            self->write();
        });
    }

    // The line behind those that are still to be written; whoever does not take it is not waited for.
    void refuse(const std::string& line) {
        pause_.expires_after(
            std::chrono::duration_cast<asio::steady_timer::duration>(in_time(hub_.limits().introduction_s)));
        pause_.async_wait([weak = weak_from_this()](error_code error) {
            if (const auto self = weak.lock(); self && !error) self->give_up();
        });
        if (box_) {
            has_read_all_ = true;
            box_->send_text(line.substr(0, line.size() - 1));
            return box_->close("refused");
        }
        is_over_ = true;
        writing_.text = line;
        asio::async_write(stream_, asio::buffer(writing_.text),
                          [self = shared_from_this()](error_code, std::size_t) { self->linger(); });
    }

    // What is still coming is thrown away for a moment: a line that is cut earlier takes the last answers with it.
    void linger() {
        is_over_ = true;
        if (box_) hub_.closed(box_);
        place_.reset();
        error_code ignored;
        stream_.plain().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
        pause_.expires_after(lingers);
        pause_.async_wait([self = shared_from_this()](error_code error) {
            if (!error) self->give_up();
        });
        waste_.resize(1 << 16);
        read_waste(lingers_bytes);
    }

    void read_waste(std::size_t most) {
        stream_.plain().async_read_some(asio::buffer(waste_),
                                        [self = shared_from_this(), most](error_code error, std::size_t bytes) {
                                            if (error || bytes >= most) return self->give_up();
                                            self->read_waste(most - bytes);
                                        });
    }

    void give_up() {
        is_over_ = true;
        if (box_) hub_.closed(box_);
        place_.reset();
        pause_.cancel();
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
    bool has_read_all_ = false;  // that will come, or be looked at
    std::vector<char> waste_;
    std::shared_ptr<void> counted_, place_;
};

}  // namespace

void begin_line_session(Hub& hub, asio::ip::tcp::socket&& socket) {
    std::make_shared<LineSession>(hub, std::move(socket))->start();
}

}  // namespace echolux::net
