// The control of a window by programs that write lines: listening, tokens and requests put together. The loop of the
// window calls update() once a turn.
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
    int port = 0;                                // 0: any that is free
    std::filesystem::path token_file{};          // empty: a token is made for this run
    std::vector<std::filesystem::path> folders;  // that requests may name
    std::function<Image()> window_picture{};
    std::function<void()> wake{};  // ends the waiting of the window's loop; any thread
};

class ControlServer {
  public:
    // `work` outlives it. Throws Error{device}: the port is taken; Error{bad_setting, bad_file}: folders, token.
    ControlServer(Workspace& work, const ControlServerOptions& options);
    ~ControlServer();
    ControlServer(const ControlServer&) = delete;
    ControlServer& operator=(const ControlServer&) = delete;

    int port() const;
    const std::string& token() const;  // that steers
    Control& control();

    // Takes what came and answers it.
    void update();

    // How long the window may wait for events. What comes after a turn without requests wakes it.
    double patience_s() const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
