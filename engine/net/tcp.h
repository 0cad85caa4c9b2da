// TCP connections for sources and links to other programs. No function waits longer than requested, and listening is
// limited to the given address.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace echolux {

struct NetAddress {
    std::string host;  // name or number; IPv6 without brackets
    std::uint16_t port = 0;

    std::string text() const;
    bool is_this_machine_alone() const;  // reachable only from this machine
};

// Parses "HOST:PORT" or "[::1]:PORT". ":PORT" and "PORT" alone mean this machine only. Throws Error{bad_setting} naming
// `where`.
NetAddress parsed_address(const std::string& text, const std::string& where);

// Owns a socket.
class TcpHandle {
  public:
    TcpHandle() = default;
    explicit TcpHandle(int descriptor) : descriptor_(descriptor) {}
    TcpHandle(TcpHandle&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    TcpHandle& operator=(TcpHandle&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~TcpHandle();

    int get() const { return descriptor_; }

  private:
    int descriptor_ = -1;
};

// A connection to another program. May be used by any thread, one at a time per direction.
class TcpConnection {
  public:
    explicit TcpConnection(TcpHandle handle, std::string peer);

    const std::string& peer() const { return peer_; }  // address of the other side: "192.168.1.7:40312"

    // Receives up to to.size() bytes, waiting up to `timeout`. Returns 0 on timeout, std::nullopt if the connection was
    // closed or is broken.
    std::optional<std::size_t> receive(std::span<std::byte> to, std::chrono::milliseconds timeout);

    // Sends as many bytes as possible, waiting up to `timeout`. Returns std::nullopt if the connection is broken.
    std::optional<std::size_t> send(std::span<const std::byte> bytes, std::chrono::milliseconds timeout);

  private:
    TcpHandle handle_;
    std::string peer_;
};

// Listens on one address.
class TcpListener {
  public:
    // Throws Error{device} if the address does not belong to this machine or is in use. Port 0 selects a free port.
    TcpListener(const NetAddress& address, const std::string& where);

    std::uint16_t port() const { return port_; }

    // Returns the next connection, or std::nullopt on timeout.
    std::optional<TcpConnection> accept(std::chrono::milliseconds timeout);

  private:
    TcpHandle handle_;
    std::uint16_t port_ = 0;
};

// Connects to a listening program. Throws Error{device} if it does not answer.
TcpConnection connect_to(const NetAddress& address, std::chrono::milliseconds timeout, const std::string& where);

}  // namespace echolux
