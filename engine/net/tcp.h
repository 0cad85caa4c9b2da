// Connections over TCP, as far as sources and links to other programs need them: nothing waits longer than it was asked
// to, and nothing listens on other addresses than the one that was named.
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
    std::string host;  // a name, or a number; IPv6 without brackets
    std::uint16_t port = 0;

    std::string text() const;
    bool is_this_machine_alone() const;  // who listens there is reached from nowhere else
};

// "HOST:PORT", "[::1]:PORT", or ":PORT" and "PORT" alone, of this machine only. Throws Error{bad_setting} naming
// `where`.
NetAddress parsed_address(const std::string& text, const std::string& where);

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

// One with another program. Any thread, but one at a time in each direction.
class TcpConnection {
  public:
    explicit TcpConnection(TcpHandle handle, std::string peer);

    const std::string& peer() const { return peer_; }  // "192.168.1.7:40312"

    // What has come, at most `to`, waited for at most `patience`. 0: nothing yet; nothing: the other side has closed
    // it, or it is broken.
    std::optional<std::size_t> receive(std::span<std::byte> to, std::chrono::milliseconds patience);

    // As much as goes without waiting longer. Nothing: it is broken.
    std::optional<std::size_t> send(std::span<const std::byte> bytes, std::chrono::milliseconds patience);

  private:
    TcpHandle handle_;
    std::string peer_;
};

class TcpListener {
  public:
    // Throws Error{device}: the address is not one of this machine, or another program has it. Port 0: any that is
    // free.
    TcpListener(const NetAddress& address, const std::string& where);

    std::uint16_t port() const { return port_; }

    std::optional<TcpConnection> accept(std::chrono::milliseconds patience);

  private:
    TcpHandle handle_;
    std::uint16_t port_ = 0;
};

// Throws Error{device}: nobody answers.
TcpConnection connect_to(const NetAddress& address, std::chrono::milliseconds patience, const std::string& where);

}  // namespace echolux
