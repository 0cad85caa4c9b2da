// Limits per client and timeouts of the server. Excess requests are refused with one line or read later, without effect
// on other clients.
#pragma once

#include <cstddef>
#include <cstdint>

namespace echolux {

struct Limits {
    int clients = 16;                      // authenticated connections
    int unauthenticated = 64;              // other connections; a new one replaces the oldest
    double introduction_s = 10;            // for a complete request or a first line
    double idle_s = 60;                    // without a message from a page; it is pinged before
    std::size_t header_bytes = 8192;       // per request
    std::size_t message_bytes = 1 << 20;   // per message
    double messages_per_s = 5000;          // excess messages are read later
    int messages_waiting = 64;             // unanswered messages per client; more are read later
    std::size_t waiting_bytes = 64 << 20;  // not yet received by a client; beyond it the client is disconnected
    std::uint64_t upload_bytes = std::uint64_t{16} << 30;
    double tries_per_s = 1;  // password attempts per address
};

}  // namespace echolux
