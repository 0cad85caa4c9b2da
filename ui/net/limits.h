// How much a client may ask of a server, and for how long the server waits. What exceeds a limit is refused in one
// line, or read later; other clients do not notice.
#pragma once

#include <cstddef>
#include <cstdint>

namespace echolux {

struct Limits {
    int clients = 16;                      // connections that have shown their token
    int unauthenticated = 64;              // that have not: the oldest is dropped when one more comes
    double introduction_s = 10;            // for a whole request, and for a first line
    double idle_s = 60;                    // without a message from a page, which is pinged before
    std::size_t header_bytes = 8192;       // of a request
    std::size_t message_bytes = 1 << 20;   // of a client
    double messages_per_s = 5000;          // more are read later
    int messages_waiting = 64;             // for their answer, of one client; more are read later
    std::size_t waiting_bytes = 64 << 20;  // that a client has not taken; then it is disconnected
    std::uint64_t upload_bytes = std::uint64_t{16} << 30;
    double tries_per_s = 1;  // of a password
};

}  // namespace echolux
