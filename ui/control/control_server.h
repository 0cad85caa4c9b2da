// Servers that let other programs control a window: JSON messages over TCP, and OpenIGTLink for programs such as 3D
// Slicer. The window's loop calls update() once per turn.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/igtl/link.h"
#include "ui/control/control.h"
#include "ui/workspace/workspace.h"

namespace echolux {

struct ControlServerOptions {
    std::string host = "127.0.0.1";
    int port = 0;                                // any free port if 0
    std::filesystem::path token_file{};          // empty: generate a token for this run
    std::vector<std::filesystem::path> folders;  // files that requests may name
    std::function<Image()> window_picture{};
    std::function<void()> wake{};  // interrupts the wait of the window's loop; called from any thread
};

// ---- Control of a window over TCP with one JSON message per line: combines the network server, tokens and Control.
// The window's loop calls update() once per turn.

class ControlServer {
  public:
    // Starts listening. `work` must outlive this object. Throws Error{device} if the port is in use, and
    // Error{bad_setting, bad_file} for invalid folders or tokens.
    ControlServer(Workspace& work, const ControlServerOptions& options);
    ~ControlServer();
    ControlServer(const ControlServer&) = delete;
    ControlServer& operator=(const ControlServer&) = delete;

    int port() const;
    const std::string& token() const;  // the token with control rights
    Control& control();

    // Handles messages that have arrived and sends responses. Call it on the window's thread.
    void update();

    // Returns the longest time in s that the window may wait. After a turn without requests, a new message wakes it.
    double timeout_s() const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

// ---- Link between a window and programs that speak OpenIGTLink, such as 3D Slicer. Sends each new volume and the
// B-scan at the cross-hair to connected programs, and answers their requests like the control interface. The window's
// loop calls update() once per turn.

class LinkServer {
  public:
    // Starts the link. `work` must outlive this object. Throws Error{device} if the port is in use.
    LinkServer(Workspace& work, const igtl::LinkOptions& wanted);
    ~LinkServer();
    LinkServer(const LinkServer&) = delete;
    LinkServer& operator=(const LinkServer&) = delete;

    std::string place() const;  // as in igtl::Link
    std::uint16_t port() const;
    igtl::LinkStats stats() const;

    // Handles requests and offers the current volume. Call it on the window's thread.
    void update();

    // Returns the longest time in s that the window may wait. Network traffic does not wake it.
    double timeout_s() const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
