#include "ui/net/socket_session.h"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <utility>

#include "ui/net/client_session.h"

namespace echolux::net {
namespace {

namespace websocket = beast::websocket;

using Handshake = beast::http::request<beast::http::empty_body>;

class SocketSession : public ClientSession {
  public:
    SocketSession(Hub& hub, EitherStream&& stream) : ClientSession(hub), socket_(std::move(stream)) {}

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
    std::shared_ptr<SocketSession> self() { return std::static_pointer_cast<SocketSession>(shared_from_this()); }

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

}  // namespace

void begin_socket_session(Hub& hub, EitherStream&& stream, const beast::http::request<beast::http::empty_body>& request,
                          Right right, const std::string& peer, const std::shared_ptr<void>& place) {
    std::make_shared<SocketSession>(hub, std::move(stream))->start(request, right, peer, place);
}

}  // namespace echolux::net
