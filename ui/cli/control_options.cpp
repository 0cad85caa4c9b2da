#include "ui/cli/control_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "engine/net/tcp.h"
#include "ui/cli/telling.h"
#include "ui/window/window.h"
#ifdef ECHOLUX_NET
#include "ui/control/control_server.h"
#endif

namespace echolux {

#ifdef ECHOLUX_NET

void add_control_options(CLI::App& command, ControlWanted& wanted) {
    command
        .add_option("--control", wanted.address,
                    "let programs control this window: JSON-RPC in lines on this port; 0: any free port")
        ->type_name("[HOST:]PORT");
    command
        .add_option("--control-token", wanted.token_file,
                    "file of the token that they show; made if it is missing [a new one, which is printed]")
        ->type_name("FILE");
    command
        .add_option("--control-folder", wanted.folders,
                    "folder that they may read and write; may be repeated [the current one]")
        ->type_name("FOLDER")
        ->take_all()
        ->allow_extra_args(false);
    add_igtl_options(command, wanted.igtl);
}

// Both servers are null unless requested.
struct SteeredWindow::Parts {
    MainWindow& window;
    std::unique_ptr<LinkServer> link;
    std::unique_ptr<ControlServer> server;
};

SteeredWindow::SteeredWindow(MainWindow& window, Workspace& work, const ControlWanted& wanted)
    : parts_(std::make_unique<Parts>(Parts{window, linked_window(work, wanted.igtl), nullptr})) {
    if (wanted.address.empty()) return;
    ControlServerOptions options;
    const NetAddress address = parsed_address(wanted.address, "--control");
    options.host = address.host;
    options.port = address.port;
    options.token_file = wanted.token_file;
    options.folders.assign(wanted.folders.begin(), wanted.folders.end());
    if (options.folders.empty()) options.folders.emplace_back(".");
    options.window_picture = [&window] { return window.picture(); };
    options.wake = [&window] { window.wake(); };
    parts_->server = std::make_unique<ControlServer>(work, options);
    const std::string place = NetAddress{address.host, static_cast<std::uint16_t>(parts_->server->port())}.text();
    const std::string token =
        wanted.token_file.empty() ? "token " + parts_->server->token() : "token in " + wanted.token_file;
    print_answer(fmt::format("control at {}, {}\n", place, token));
    std::fflush(stdout);  // a script that waits for this line reads it through a pipe
    if (!address.is_this_machine_alone())
        print_warnings(
            {"--control: traffic is not encrypted: anybody on the network can read the token; use an ssh "
             "tunnel"});
}

SteeredWindow::~SteeredWindow() = default;

bool SteeredWindow::is_steered() const {
    return parts_->server != nullptr || parts_->link != nullptr;
}

// Waits no longer than the servers allow, so that an idle window does not delay their work.
bool SteeredWindow::turn(double max_wait_s) {
    ControlServer* server = parts_->server.get();
    LinkServer* link = parts_->link.get();
    if (server != nullptr) max_wait_s = std::min(max_wait_s, server->patience_s());
    if (link != nullptr) max_wait_s = std::min(max_wait_s, link->patience_s());
    const bool goes_on = parts_->window.turn(max_wait_s);
    if (link != nullptr) link->update();
    if (server != nullptr) server->update();
    return goes_on && (server == nullptr || !server->control().is_shut_down());
}

#else

void add_control_options(CLI::App&, ControlWanted&) {}

struct SteeredWindow::Parts {
    MainWindow& window;
};

SteeredWindow::SteeredWindow(MainWindow& window, Workspace&, const ControlWanted&)
    : parts_(std::make_unique<Parts>(Parts{window})) {}
SteeredWindow::~SteeredWindow() = default;

bool SteeredWindow::is_steered() const {
    return false;
}

bool SteeredWindow::turn(double max_wait_s) {
    return parts_->window.turn(max_wait_s);
}

#endif

}  // namespace echolux
