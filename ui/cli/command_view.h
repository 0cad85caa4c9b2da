// Options that `echolux view` shares with live and serve: --control (JSON-RPC), --igtl and --igtl-steer (OpenIGTLink,
// for 3D Slicer and similar programs), and the window loop that serves other programs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/igtl/link.h"

namespace CLI {
class App;
}

namespace echolux {

class LinkServer;
class MainWindow;
class Workspace;

// Options of the OpenIGTLink connection.
struct IgtlOptions {
    std::string address;     // as parsed by igtl::parsed_link(); empty for no connection
    bool may_steer = false;  // clients may change settings
};

void add_igtl_options(CLI::App& command, IgtlOptions& wanted);

// Returns the parsed options, or nullopt without --igtl. Throws Error{bad_setting}.
std::optional<igtl::LinkOptions> link_of(const IgtlOptions& wanted);

// Starts the link of a window and prints its address. Returns nullptr without --igtl. Throws Error{bad_setting,
// device}.
std::unique_ptr<LinkServer> linked_window(Workspace& work, const IgtlOptions& wanted);

// Options of remote control.
struct ControlRequest {
    std::string address, token_file;  // address: "[HOST:]PORT", or empty for no control server
    // folders that clients may read and write; empty: the current one
    std::vector<std::string> folders;
    IgtlOptions igtl;
};

// Adds no options in builds without network support.
void add_control_options(CLI::App& command, ControlRequest& wanted);

// A window together with its control and OpenIGTLink servers. For the thread of the window.
class SteeredWindow {
  public:
    // Starts the requested servers and prints their addresses. `window` and `work` must outlive this object. Throws
    // Error{device, bad_setting, bad_file}.
    SteeredWindow(MainWindow& window, Workspace& work, const ControlRequest& wanted);
    ~SteeredWindow();

    bool is_steered() const;  // true if a control or OpenIGTLink server runs

    // Runs one turn of the window, then answers requests. Returns false when the window is to be closed.
    bool turn(double max_wait_s);

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

// For commands without a visible window, where no list of notices shows an error of an input: throws the first pending
// error if nothing is open. Returns without an error if the input may still arrive.
void require_opened(Workspace& work);

}  // namespace echolux
