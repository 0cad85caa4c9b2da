// A program's connection to a server that speaks TLS or does not: for one thread, and nothing waits longer than asked.
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

// Which certificate of the server is accepted. One that `echolux serve` has made itself is told by its fingerprint.
struct TlsTrust {
    std::filesystem::path authorities;  // PEM; empty: the authorities of the system
    std::string fingerprint;            // SHA-256, as fingerprint_of() writes it: this certificate alone, whatever name
};

class ClientConnection {
  public:
    // `trust`: nothing: without TLS. Throws Error{device}: nobody answers, or not with TLS; Error{bad_file}: the
    // authorities; Error{bad_setting}: the certificate is not accepted.
    ClientConnection(const NetAddress& address, const std::optional<TlsTrust>& trust,
                     std::chrono::milliseconds patience);
    ~ClientConnection();
    ClientConnection(ClientConnection&&) noexcept;

    // What has come, at most `to`, waited for at most `patience`. 0: nothing yet; nothing: the connection has ended.
    std::optional<std::size_t> receive(std::span<std::byte> to, std::chrono::milliseconds patience);

    // All of it. False: the connection has ended.
    bool send(std::string_view text);

  private:
    struct Tls;
    TcpConnection connection_;
    std::unique_ptr<Tls> tls_;  // nullptr: plain
};

}  // namespace echolux
