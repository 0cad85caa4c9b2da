#include "ui/cli/control_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "ui/cli/parse_text.h"
#include "ui/cli/telling.h"
#include "ui/window/window.h"
#ifdef ECHOLUX_NET
#include "ui/control/control_server.h"
#endif

namespace echolux {

std::pair<std::string, int> parsed_address(const std::string& text, const std::string& option) {
    const std::size_t colon = text.rfind(':');
    std::string host = colon == std::string::npos ? "127.0.0.1" : text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    const std::string digits = colon == std::string::npos ? text : text.substr(colon + 1);
    const bool is_port = !digits.empty() && digits.size() <= 5 && digits.find_first_not_of("0123456789") == digits.npos;
    if (!is_port || std::stoi(digits) > 65535 || host.empty()) {
        throw UsageError("expected [HOST:]PORT, got " + text, option, "for example 7070, or 0.0.0.0:7070");
    }
    return {host, std::stoi(digits)};
}

#ifdef ECHOLUX_NET

void add_control_options(CLI::App& command, ControlWanted& wanted) {
    command
        .add_option("--control", wanted.address,
                    "let programs steer this window, by JSON lines at this port; 0: any that is free")
        ->type_name("[HOST:]PORT");
    command
        .add_option("--control-token", wanted.token_file,
                    "file of the token that they show; made where it is not there [a new one, which is printed]")
        ->type_name("FILE");
    command
        .add_option("--control-folder", wanted.folders,
                    "folder that they may read and write; may be repeated [the current one]")
        ->type_name("FOLDER")
        ->take_all()
        ->allow_extra_args(false);
}

struct SteeredWindow::Parts {
    MainWindow& window;
    std::unique_ptr<ControlServer> server;
};

SteeredWindow::SteeredWindow(MainWindow& window, Workspace& work, const ControlWanted& wanted)
    : parts_(std::make_unique<Parts>(Parts{window, nullptr})) {
    if (wanted.address.empty()) return;
    ControlServerOptions options;
    std::tie(options.host, options.port) = parsed_address(wanted.address, "--control");
    options.token_file = wanted.token_file;
    options.folders.assign(wanted.folders.begin(), wanted.folders.end());
    if (options.folders.empty()) options.folders.emplace_back(".");
    options.window_picture = [&window] { return window.picture(); };
    parts_->server = std::make_unique<ControlServer>(work, options);
    const std::string place = fmt::format("{}:{}", options.host, parts_->server->port());
    const std::string token =
        wanted.token_file.empty() ? "token " + parts_->server->token() : "token in " + wanted.token_file;
    print_answer(fmt::format("control at {}, {}\n", place, token));
    std::fflush(stdout);  // whoever waits for it reads a pipe
}

SteeredWindow::~SteeredWindow() = default;

bool SteeredWindow::is_steered() const {
    return parts_->server != nullptr;
}

bool SteeredWindow::turn(double max_wait_s) {
    if (!is_steered()) return parts_->window.turn(max_wait_s);
    const bool goes_on = parts_->window.turn(std::min(max_wait_s, parts_->server->patience_s()));
    parts_->server->update();
    return goes_on && !parts_->server->control().is_shut_down();
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
