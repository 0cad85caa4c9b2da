// Client side of a TCP connection, with or without TLS. For use by one thread; no call waits longer than requested.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/net/tcp.h"

namespace echolux {

// Which server certificates are accepted. The fingerprint identifies certificates made by `echolux serve`.
struct TlsTrust {
    std::filesystem::path authorities;  // PEM file; empty: authorities of the system
    std::string fingerprint;            // SHA-256 as from fingerprint_of(); accepts only this certificate, for any name
};

class ClientConnection {
  public:
    // Connects within `timeout`. Without `trust`, the connection is not encrypted. Throws Error{device} if no server
    // answers or it does not use TLS, Error{bad_file} for unreadable authorities, and Error{bad_setting} if the
    // certificate is not accepted.
    ClientConnection(const NetAddress& address, const std::optional<TlsTrust>& trust,
                     std::chrono::milliseconds timeout);
    ~ClientConnection();
    ClientConnection(ClientConnection&&) noexcept;

    // Receives at most `to.size()` bytes and waits at most `timeout`. Returns their number, 0 on timeout, nullopt if
    // the connection has ended.
    std::optional<std::size_t> receive(std::span<std::byte> to, std::chrono::milliseconds timeout);

    // Sends all of the text. Returns false if the connection has ended.
    bool send(std::string_view text);

  private:
    struct Tls;
    TcpConnection connection_;
    std::unique_ptr<Tls> tls_;  // nullptr without TLS
};

}  // namespace echolux
