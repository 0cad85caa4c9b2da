#include "ui/net/net_server.h"

#include <fmt/format.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/host_name.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <thread>
#include <utility>

#include "compute/error.h"
#include "ui/net/client_handlers.h"

namespace echolux {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

using StartConnection = std::function<void(net::Hub&, tcp::socket&&)>;

// Accepts connections. If the system is out of sockets, it tries again shortly.
class Listener : public std::enable_shared_from_this<Listener> {
  public:
    Listener(net::Hub& hub, const tcp::endpoint& at, StartConnection begin)
        : hub_(hub), acceptor_(hub.io), pause_(hub.io), begin_(std::move(begin)) {
        acceptor_.open(at.protocol());
        acceptor_.set_option(tcp::acceptor::reuse_address(true));
        if (at.address().is_v6()) acceptor_.set_option(asio::ip::v6_only(false));
        acceptor_.bind(at);
        acceptor_.listen();
    }

    int port() const { return acceptor_.local_endpoint().port(); }

    void accept() {
        acceptor_.async_accept([self = shared_from_this()](error_code error, tcp::socket socket) {
            if (error == asio::error::operation_aborted) return;
            if (error) return self->rest();
            error_code ignored;
            socket.set_option(tcp::no_delay(true), ignored);
            keep_alive(socket);
            self->begin_(self->hub_, std::move(socket));
            self->accept();
        });
    }

  private:
    // Detects peers that disappeared without closing, such as a computer that was switched off, within two minutes.
    static void keep_alive(tcp::socket& socket) {
        using Idle = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPIDLE>;
        using Interval = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPINTVL>;
        using Count = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPCNT>;
        error_code ignored;
        socket.set_option(tcp::socket::keep_alive(true), ignored);
        socket.set_option(Idle(60), ignored);
        socket.set_option(Interval(15), ignored);
        socket.set_option(Count(4), ignored);
    }

    // The delay avoids a busy loop.
    void rest() {
        pause_.expires_after(std::chrono::milliseconds(100));
        pause_.async_wait([self = shared_from_this()](error_code) { self->accept(); });
    }

    net::Hub& hub_;
    tcp::acceptor acceptor_;
    asio::steady_timer pause_;
    StartConnection begin_;
};

// Throws Error{bad_file} if OpenSSL rejects the certificate.
asio::ssl::context create_context(const Certificate& certificate) {
    asio::ssl::context context(asio::ssl::context::tls_server);
    try {
        SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
        context.use_certificate_chain(asio::buffer(certificate.chain));
        context.use_private_key(asio::buffer(certificate.key), asio::ssl::context::pem);
    } catch (const boost::system::system_error& error) {
        throw Error(ErrorCode::bad_file, fmt::format("OpenSSL rejects it: {}", error.code().message()), "certificate");
    }
    return context;
}

}  // namespace

struct NetServer::Parts {
    Parts(const NetOptions& options, std::shared_ptr<const Access> access, Inbox& inbox)
        : hub(options, std::move(access), inbox) {
        if (options.tls) hub.tls.emplace(create_context(*options.tls));
        thread = std::thread([this] { run(); });
    }

    ~Parts() {
        hub.io.stop();
        thread.join();
        hub.disk.join();
        for (const auto& [box, session] : hub.sessions) box->detach();
        hub.sessions.clear();  // before the io_context that owns their sockets
    }

    // An exception in one session does not end the others.
    void run() {
        while (!hub.io.stopped()) {
            try {
                hub.io.run();
            } catch (const std::exception&) {  // out of memory: that session is lost
            }
        }
    }

    // Resolves the host name to an address to listen at.
    tcp::endpoint endpoint(int port) {
        error_code error;
        const auto address = asio::ip::make_address(hub.options.host, error);
        if (!error) return {address, static_cast<unsigned short>(port)};
        tcp::resolver resolver(hub.io);
        const auto found = resolver.resolve(hub.options.host, std::to_string(port), error);
        if (!error && !found.empty()) return *found.begin();
        throw Error(ErrorCode::bad_setting, "is not an address of this machine", hub.options.host,
                    "127.0.0.1 for this machine only, 0.0.0.0 for all machines that can reach it");
    }

    // `listens` receives the port before the first connection is accepted.
    int listen(int port, StartConnection begin, const std::function<void(int)>& listens = {}) {
        try {
            const auto listener = std::make_shared<Listener>(hub, endpoint(port), std::move(begin));
            if (listens) listens(listener->port());
            asio::post(hub.io, [listener] { listener->accept(); });
            return listener->port();
        } catch (const boost::system::system_error& error) {
            throw Error(ErrorCode::device, error.code().message(), fmt::format("{}:{}", hub.options.host, port),
                        "choose another port or address; 0 selects any free port");
        }
    }

    net::Hub hub;
    // keeps the thread running while there are no connections
    asio::executor_work_guard<asio::io_context::executor_type> work{hub.io.get_executor()};
    std::thread thread;
};

NetServer::NetServer(const NetOptions& options, std::shared_ptr<const Access> access, Inbox& inbox)
    : parts_(std::make_unique<Parts>(options, std::move(access), inbox)) {}

NetServer::~NetServer() = default;

int NetServer::serve_web(int port, WebContent content) {
    parts_->hub.content = std::move(content);
    return parts_->listen(port, net::begin_http, [this](int taken) { parts_->hub.web_port = taken; });
}

int NetServer::serve_lines(int port) {
    return parts_->listen(port, net::begin_line_session);
}

int NetServer::clients() const {
    return *parts_->hub.client_count;
}

int NetServer::unauthenticated() const {
    return *parts_->hub.unauthenticated_count;
}

std::string host_name() {
    error_code error;
    const std::string name = asio::ip::host_name(error);
    return error ? std::string() : name;
}

// Returns the local addresses that outgoing packets would use. Connecting a UDP socket sends nothing; the targets are
// reserved for documentation (RFC 5737, RFC 3849).
std::vector<std::string> own_addresses() {
    std::vector<std::string> found;
    asio::io_context io;
    for (const char* elsewhere : {"192.0.2.1", "2001:db8::1"}) {
        error_code error;
        const asio::ip::udp::endpoint end(asio::ip::make_address(elsewhere), 9);
        asio::ip::udp::socket socket(io);
        socket.open(end.protocol(), error);
        if (!error) socket.connect(end, error);
        if (!error) found.push_back(socket.local_endpoint(error).address().to_string());
    }
    return found;
}

}  // namespace echolux
