// What commands with live volumes have in common for 3D Slicer and its like: --igtl.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/igtl/link.h"

namespace CLI {
class App;
}

namespace echolux {

class LinkServer;
class Workspace;

struct IgtlWanted {
    std::string address;  // as igtl::parsed_link() takes it; empty: nobody gets volumes
    bool may_steer = false;
};

void add_igtl_options(CLI::App& command, IgtlWanted& wanted);

// Throws Error{bad_setting}.
std::optional<igtl::LinkWanted> link_of(const IgtlWanted& wanted);

// Of a window: the link is made, and the user told where. nullptr: none is wanted. Throws Error{bad_setting, device}.
std::unique_ptr<LinkServer> linked_window(Workspace& work, const IgtlWanted& wanted);

}  // namespace echolux
