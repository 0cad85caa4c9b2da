// Network server for pages, WebSockets and line connections. Runs on its own thread, which never blocks on a client.
// Messages go to an inbox; the thread that answers them holds the connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/net/access.h"
#include "ui/net/certificate.h"
#include "ui/net/connection.h"

namespace echolux {

// ---- Limits per client and timeouts of the server. Excess requests are refused with one line or read later, without
// effect on other clients.

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

struct NetOptions {
    std::string host = "127.0.0.1";  // address to listen at; "0.0.0.0" or "::" for all interfaces
    Limits limits;
    std::optional<Certificate> tls;  // nullopt: not encrypted
};

// A file served by the server.
struct WebPage {
    std::string path;          // such as "/page.js"; "/" is the start page
    std::string content_type;  // "text/javascript; charset=utf-8"
    std::string_view bytes;    // must outlive the server
};

// Everything that is served over HTTP.
struct WebContent {
    std::vector<WebPage> pages;
    std::string login;                    // page with the password form
    std::string denied;                   // page for people with a wrong token; empty: one line
    std::filesystem::path upload_folder;  // for uploaded files; empty: uploads are refused
};

class NetServer {
  public:
    // Starts the thread. `inbox` must outlive the server. Throws Error{device} if sockets are not available.
    NetServer(const NetOptions& options, std::shared_ptr<const Access> access, Inbox& inbox);
    ~NetServer();  // closes all connections
    NetServer(const NetServer&) = delete;
    NetServer& operator=(const NetServer&) = delete;

    // Start listening; port 0 selects any free port. Return the port. Throw Error{device} if the port is in use or not
    // permitted.
    int serve_web(int port, WebContent content);
    int serve_lines(int port);

    // Numbers of authenticated and of other connections.
    int clients() const;
    int unauthenticated() const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

// Name of this machine, and the addresses at which others reach it.
std::string host_name();
std::vector<std::string> own_addresses();

}  // namespace echolux
