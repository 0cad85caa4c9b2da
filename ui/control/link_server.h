// A window's link to 3D Slicer and its like: what it shows goes out whenever it is new and somebody takes it, with the
// B-scan under the cross-hair; what they ask for is answered as the control interface answers. The loop of the window
// calls update() once a turn.
#pragma once

#include <memory>
#include <string>

#include "engine/igtl/link.h"
#include "ui/workspace/workspace.h"

namespace echolux {

class LinkServer {
  public:
    // `work` outlives it. Throws Error{device}: the port is taken.
    LinkServer(Workspace& work, const igtl::LinkWanted& wanted);
    ~LinkServer();
    LinkServer(const LinkServer&) = delete;
    LinkServer& operator=(const LinkServer&) = delete;

    std::string place() const;  // as igtl::Link says it
    std::uint16_t port() const;
    igtl::LinkStats stats() const;

    void update();

    // How long the window may wait for events: what comes over the net does not wake it.
    double patience_s() const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
