#include "engine/net/tcp.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "compute/error.h"
#include "compute/indexing.h"

namespace echolux {
namespace {

constexpr const char* own_machine = "127.0.0.1";

struct FreeAddresses {
    void operator()(addrinfo* found) const { freeaddrinfo(found); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

// Looks up a host name. May block for as long as the system's resolver does.
Addresses resolved(const NetAddress& address, const std::string& where) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const int problem = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &wanted, &found);
    if (problem != 0)
        throw Error(ErrorCode::device, fmt::format("cannot find {}: {}", address.host, gai_strerror(problem)), where);
    return Addresses(found);
}

bool waits(int descriptor, short events, std::chrono::milliseconds timeout) {
    pollfd one{descriptor, events, 0};
    return poll(&one, 1, static_cast<int>(timeout.count())) > 0;
}

// Formats the numeric address of either end.
std::string peer_text(const sockaddr* address, socklen_t bytes) {
    char host[NI_MAXHOST];
    char port[NI_MAXSERV];
    if (getnameinfo(address, bytes, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return "unknown";
    const bool is_v6 = std::strchr(host, ':') != nullptr;
    return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
}

void set(int descriptor, int level, int option, int value) {
    setsockopt(descriptor, level, option, &value, sizeof value);
}

// Whether a non-blocking call failed only because it would block.
bool would_wait(ssize_t result) {
    return result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

}  // namespace

std::string NetAddress::text() const {
    return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

// Checks numeric addresses only: a host name that begins with 127 may belong to any machine.
bool NetAddress::is_this_machine_alone() const {
    in_addr v4{};
    in6_addr v6{};
    if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
    if (inet_pton(AF_INET6, host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
    return host == "localhost";
}

NetAddress parsed_address(const std::string& text, const std::string& where) {
    const std::size_t colon = text.rfind(':');
    std::string host = colon == std::string::npos ? "" : text.substr(0, colon);
    const std::string port = colon == std::string::npos ? text : text.substr(colon + 1);
    if (host.size() >= 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    std::uint16_t number = 0;
    const auto [end, problem] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (problem != std::errc{} || end != port.data() + port.size() || port.empty() || host.size() > 255) {
        throw Error(ErrorCode::bad_setting, "is not an address: \"" + text + "\"", where,
                    "expected HOST:PORT, or PORT alone for this machine");
    }
    return {host.empty() ? own_machine : host, number};
}

TcpHandle::~TcpHandle() {
    if (descriptor_ >= 0) close(descriptor_);
}

TcpConnection::TcpConnection(TcpHandle handle, std::string peer) : handle_(std::move(handle)), peer_(std::move(peer)) {
    set(handle_.get(), IPPROTO_TCP, TCP_NODELAY, 1);
    // Detects machines that were switched off.
    set(handle_.get(), SOL_SOCKET, SO_KEEPALIVE, 1);
    set(handle_.get(), IPPROTO_TCP, TCP_KEEPIDLE, 10);
    set(handle_.get(), IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set(handle_.get(), IPPROTO_TCP, TCP_KEEPCNT, 3);
}

std::optional<std::size_t> TcpConnection::receive(std::span<std::byte> to, std::chrono::milliseconds timeout) {
    if (!waits(handle_.get(), POLLIN, timeout)) return 0;
    const ssize_t result = recv(handle_.get(), to.data(), to.size(), MSG_DONTWAIT);
    if (would_wait(result)) return 0;
    if (result <= 0) return std::nullopt;
    return index(result);
}

std::optional<std::size_t> TcpConnection::send(std::span<const std::byte> bytes, std::chrono::milliseconds timeout) {
    if (!waits(handle_.get(), POLLOUT, timeout)) return 0;
    const ssize_t result = ::send(handle_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (would_wait(result)) return 0;
    if (result < 0) return std::nullopt;
    return index(result);
}

TcpListener::TcpListener(const NetAddress& address, const std::string& where) {
    const Addresses found = resolved(address, where);
    handle_ = TcpHandle(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    set(handle_.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    if (handle_.get() < 0 || bind(handle_.get(), found->ai_addr, found->ai_addrlen) != 0 ||
        listen(handle_.get(), 16) != 0) {
        throw Error(ErrorCode::device, fmt::format("cannot listen on {}: {}", address.text(), std::strerror(errno)),
                    where, "choose another port, or stop the program that uses it");
    }
    sockaddr_storage own{};
    socklen_t bytes = sizeof own;
    getsockname(handle_.get(), reinterpret_cast<sockaddr*>(&own), &bytes);
    port_ = ntohs(own.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&own)->sin6_port
                                            : reinterpret_cast<sockaddr_in*>(&own)->sin_port);
}

std::optional<TcpConnection> TcpListener::accept(std::chrono::milliseconds timeout) {
    if (!waits(handle_.get(), POLLIN, timeout)) return std::nullopt;
    sockaddr_storage peer{};
    socklen_t bytes = sizeof peer;
    TcpHandle came(accept4(handle_.get(), reinterpret_cast<sockaddr*>(&peer), &bytes, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (came.get() < 0) return std::nullopt;
    return TcpConnection(std::move(came), peer_text(reinterpret_cast<sockaddr*>(&peer), bytes));
}

// Tries all addresses of the host, each with the full timeout.
TcpConnection connect_to(const NetAddress& address, std::chrono::milliseconds timeout, const std::string& where) {
    const Addresses found = resolved(address, where);
    int problem = ETIMEDOUT;
    for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
        TcpHandle handle(socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (handle.get() < 0) continue;
        problem = connect(handle.get(), one->ai_addr, one->ai_addrlen) == 0 ? 0 : errno;
        if (problem == EINPROGRESS) {
            socklen_t bytes = sizeof problem;
            problem = ETIMEDOUT;
            if (waits(handle.get(), POLLOUT, timeout)) getsockopt(handle.get(), SOL_SOCKET, SO_ERROR, &problem, &bytes);
        }
        if (problem == 0) return TcpConnection(std::move(handle), peer_text(one->ai_addr, one->ai_addrlen));
    }
    throw Error(ErrorCode::device, fmt::format("cannot connect to {}: {}", address.text(), std::strerror(problem)),
                where, "start the other program");
}

}  // namespace echolux
