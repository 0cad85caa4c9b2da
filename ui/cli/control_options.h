// Options shared by commands with a window for other programs: --control (JSON-RPC) and --igtl (OpenIGTLink), and the
// window loop that serves them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ui/cli/igtl_options.h"

namespace CLI {
class App;
}

namespace echolux {

class MainWindow;
class Workspace;

// Options of remote control.
struct ControlWanted {
    std::string address, token_file;  // address: "[HOST:]PORT", or empty for no control server
    // folders that clients may read and write; empty: the current one
    std::vector<std::string> folders;
    IgtlWanted igtl;
};

// Adds no options in builds without network support.
void add_control_options(CLI::App& command, ControlWanted& wanted);

// A window together with its control and OpenIGTLink servers. For the thread of the window.
class SteeredWindow {
  public:
    // Starts the requested servers and prints their addresses. `window` and `work` must outlive this object. Throws
    // Error{device, bad_setting, bad_file}.
    SteeredWindow(MainWindow& window, Workspace& work, const ControlWanted& wanted);
    ~SteeredWindow();

    bool is_steered() const;  // true if a control or OpenIGTLink server runs

    // Runs one turn of the window, then answers requests. Returns false when the window is to be closed.
    bool turn(double max_wait_s);

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
