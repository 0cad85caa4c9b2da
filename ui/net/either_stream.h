// A TCP stream with optional TLS in one type, so that code for HTTP and WebSockets is compiled only once.
#pragma once

#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <memory>
#include <utility>

namespace echolux::net {

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

}  // namespace echolux::net
