#include "ui/net/socket_session.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <utility>

namespace echolux::net {
namespace {

namespace websocket = beast::websocket;

class SocketSession : public std::enable_shared_from_this<SocketSession> {
  public:
    SocketSession(Hub& hub, EitherStream&& stream, std::shared_ptr<void> place)
        : hub_(hub), place_(std::move(place)), socket_(std::move(stream)), pause_(hub.io) {}

    void start(const beast::http::request<beast::http::empty_body>& request, Right right, const std::string& peer) {
        socket_.set_option(websocket::stream_base::timeout{in_time(hub_.limits().introduction_s),
                                                           in_time(hub_.limits().idle_s), true});
        socket_.read_message_max(hub_.limits().message_bytes);
        socket_.auto_fragment(false);
        auto kept = std::make_shared<beast::http::request<beast::http::empty_body>>(request);
        socket_.async_accept(*kept, [self = shared_from_this(), kept, right, peer](error_code error) {
            if (!error) self->begin(right, peer);
        });
    }

  private:
    void begin(Right right, const std::string& peer) {
        box_ = hub_.opened(right, true, peer, shared_from_this());
        box_->attach([weak = weak_from_this(), io = &hub_.io] {
            asio::post(*io, [weak] {
                if (const auto self = weak.lock()) self->go_on();
            });
        });
        go_on();
    }

    // Something is to be sent, was answered, or ends.
    void go_on() {
        if (is_over_) return;
        if (box_->gives_up()) return give_up();
        write();
        read();
    }

    void read() {
        if (is_reading_ || is_over_ || is_paused_ || box_->unanswered() >= hub_.limits().messages_waiting) return;
        is_reading_ = true;
        socket_.async_read(buffer_, [self = shared_from_this()](error_code error, std::size_t) {
            self->is_reading_ = false;
            error ? self->give_up() : self->take();
        });
    }

    void take() {
        std::string bytes(static_cast<const char*>(buffer_.data().data()), buffer_.size());
        buffer_.consume(buffer_.size());
        hub_.arrived(box_, socket_.got_text() ? Incoming::Kind::text : Incoming::Kind::binary, std::move(bytes));
        if (const double wait_s = rate_.take(Hub::now_s()); wait_s > 0) return pause(wait_s);
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
        if (!next) return end_where_asked();
        is_writing_ = true;
        writing_ = std::move(*next);
        const auto bytes = writing_.is_binary ? asio::buffer(*writing_.bytes) : asio::buffer(writing_.text);
        socket_.binary(writing_.is_binary);
        socket_.async_write(bytes, [self = shared_from_this()](error_code error, std::size_t) {
            self->is_writing_ = false;
            if (error || self->is_over_) return self->give_up();
            self->box_->sent(self->writing_.size());
            self->write();
        });
    }

    void end_where_asked() {
        const std::optional<std::string> reason = box_->reason_to_close();
        if (!reason) return;
        constexpr std::size_t longest = 120;
        is_over_ = true;
        socket_.async_close({websocket::close_code::policy_error, beast::string_view(reason->substr(0, longest))},
                            [self = shared_from_this()](error_code) { self->give_up(); });
    }

    void give_up() {
        is_over_ = true;
        if (box_) hub_.closed(box_);
        place_.reset();
        socket_.next_layer().close();
    }

    Hub& hub_;
    std::shared_ptr<void> place_;
    websocket::stream<EitherStream> socket_;
    asio::steady_timer pause_;
    beast::flat_buffer buffer_;
    Rate rate_{hub_.limits().messages_per_s, Hub::now_s()};
    std::shared_ptr<Outbox> box_;
    Outbox::Message writing_;
    bool is_reading_ = false, is_writing_ = false, is_paused_ = false, is_over_ = false;
};

}  // namespace

void begin_socket_session(Hub& hub, EitherStream&& stream, const beast::http::request<beast::http::empty_body>& request,
                          Right right, const std::string& peer, const std::shared_ptr<void>& place) {
    std::make_shared<SocketSession>(hub, std::move(stream), place)->start(request, right, peer);
}

}  // namespace echolux::net
