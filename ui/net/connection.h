// A connected client: a page by WebSocket, or a program that writes lines. Everything may be called on any thread and
// returns at once; what is sent after the connection has ended is dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace echolux {

using SharedBytes = std::shared_ptr<const std::vector<std::byte>>;  // not copied, however many send them

class Connection {
  public:
    virtual ~Connection() = default;

    virtual std::uint64_t id() const = 0;         // never used again by another
    virtual bool may_steer() const = 0;           // by its token; else it may only watch
    virtual bool is_page() const = 0;             // a WebSocket; else lines
    virtual const std::string& peer() const = 0;  // "127.0.0.1:51234"

    virtual void send_text(std::string text) = 0;
    // To one that writes lines: the line {"binary": SIZE}, then so many bytes.
    virtual void send_binary(SharedBytes bytes) = 0;
    // Both in this order, with nothing of others between them.
    virtual void send_both(std::string text, SharedBytes bytes) = 0;

    virtual std::size_t waiting_bytes() const = 0;  // that have not been taken yet
    virtual void close(const std::string& reason) = 0;
    virtual bool is_open() const = 0;
};

using ConnectionPtr = std::shared_ptr<Connection>;

}  // namespace echolux
