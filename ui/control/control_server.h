// Control of a window over TCP with one JSON message per line: combines the network server, tokens and Control. The
// window's loop calls update() once per turn.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ui/control/control.h"

namespace echolux {

struct ControlServerOptions {
    std::string host = "127.0.0.1";
    int port = 0;                                // any free port if 0
    std::filesystem::path token_file{};          // empty: generate a token for this run
    std::vector<std::filesystem::path> folders;  // files that requests may name
    std::function<Image()> window_picture{};
    std::function<void()> wake{};  // interrupts the wait of the window's loop; called from any thread
};

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
    double patience_s() const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
