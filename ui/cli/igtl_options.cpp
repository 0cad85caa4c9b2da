#include "ui/cli/igtl_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "ui/cli/telling.h"
#include "ui/control/control_server.h"

namespace echolux {

void add_igtl_options(CLI::App& command, IgtlWanted& wanted) {
    const std::string group = "3D Slicer and other programs that speak OpenIGTLink";
    command
        .add_option("--igtl", wanted.address,
                    "send volumes and B-scans to programs that connect to this port; HOST:PORT: to one that listens "
                    "there; listen:ADDRESS:PORT: other machines may connect, too; 18944 is usual")
        ->type_name("PORT")
        ->group(group);
    command
        .add_flag("--igtl-steer", wanted.may_steer,
                  "let them change settings: whoever can connect, as there is no password")
        ->group(group);
}

std::optional<igtl::LinkWanted> link_of(const IgtlWanted& wanted) {
    if (wanted.address.empty()) return std::nullopt;
    igtl::LinkWanted link = igtl::parsed_link(wanted.address, "--igtl");
    link.may_steer = wanted.may_steer;
    return link;
}

std::unique_ptr<LinkServer> linked_window(Workspace& work, const IgtlWanted& wanted) {
    const std::optional<igtl::LinkWanted> link = link_of(wanted);
    if (!link) return nullptr;
    auto server = std::make_unique<LinkServer>(work, *link);
    print_answer(fmt::format("OpenIGTLink {} {}\n", link->listens ? "at" : "to", server->place()));
    std::fflush(stdout);  // a script that waits for this line reads it through a pipe
    return server;
}

}  // namespace echolux
