// Network server for pages, WebSockets and line connections. Runs on its own thread, which never blocks on a client.
// Messages go to an inbox; the thread that answers them holds the connections.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/net/access.h"
#include "ui/net/certificate.h"
#include "ui/net/inbox.h"
#include "ui/net/limits.h"

namespace echolux {

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
    std::string_view login;               // page with the password form
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
