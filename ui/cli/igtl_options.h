// Options shared by commands that send live volumes to 3D Slicer and similar programs: --igtl and --igtl-steer.
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

// Options of the OpenIGTLink connection.
struct IgtlWanted {
    std::string address;     // as parsed by igtl::parsed_link(); empty for no connection
    bool may_steer = false;  // clients may change settings
};

void add_igtl_options(CLI::App& command, IgtlWanted& wanted);

// Returns the parsed options, or nullopt without --igtl. Throws Error{bad_setting}.
std::optional<igtl::LinkWanted> link_of(const IgtlWanted& wanted);

// Starts the link of a window and prints its address. Returns nullptr without --igtl. Throws Error{bad_setting,
// device}.
std::unique_ptr<LinkServer> linked_window(Workspace& work, const IgtlWanted& wanted);

}  // namespace echolux
