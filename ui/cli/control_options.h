// What commands with a window have in common for programs that steer it or get its volumes: --control, --igtl, and the
// turns of such a window.
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

struct ControlWanted {
    std::string address, token_file;  // "[HOST:]PORT"; empty: nobody steers from elsewhere
    std::vector<std::string> folders;
    IgtlWanted igtl;
};

// Nothing in builds without the network.
void add_control_options(CLI::App& command, ControlWanted& wanted);

class SteeredWindow {
  public:
    // Both outlive it. Listens where that is wanted, and says where. Throws Error{device, bad_setting, bad_file}.
    SteeredWindow(MainWindow& window, Workspace& work, const ControlWanted& wanted);
    ~SteeredWindow();

    bool is_steered() const;  // or linked

    // A turn of the window, with what programs ask for. False: it is to be closed.
    bool turn(double max_wait_s);

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
