// The listening side: pages, WebSockets and lines, all on one thread of its own, which never waits for anybody. What
// clients ask for goes to an inbox; who answers holds their connections.
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
    std::string host = "127.0.0.1";  // address to listen at; "0.0.0.0" or "::": all of this machine
    Limits limits;
    std::optional<Certificate> tls;  // nothing: plain
};

struct WebPage {
    std::string path;          // "/page.js"; "/" is the first
    std::string content_type;  // "text/javascript; charset=utf-8"
    std::string_view bytes;    // outlives the server
};

struct WebContent {
    std::vector<WebPage> pages;
    std::string_view login;               // the page that asks for the password
    std::filesystem::path upload_folder;  // of dropped files; empty: none are taken
};

class NetServer {
  public:
    // The inbox outlives it. Throws Error{device}: no sockets here.
    NetServer(const NetOptions& options, std::shared_ptr<const Access> access, Inbox& inbox);
    ~NetServer();  // closes all connections
    NetServer(const NetServer&) = delete;
    NetServer& operator=(const NetServer&) = delete;

    // Listens; 0: at any free port. Returns the port. Throws Error{device}: taken, or not allowed.
    int serve_web(int port, WebContent content);
    int serve_lines(int port);

    // Of connections that have shown a token, and of those that have not.
    int clients() const;
    int unauthenticated() const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

// This machine's name, and the addresses that others reach it at.
std::string host_name();
std::vector<std::string> own_addresses();

}  // namespace echolux
