// Link between a window and programs that speak OpenIGTLink, such as 3D Slicer. Sends each new volume and the B-scan at
// the cross-hair to connected programs, and answers their requests like the control interface. The window's loop calls
// update() once per turn.
#pragma once

#include <memory>
#include <string>

#include "engine/igtl/link.h"
#include "ui/workspace/workspace.h"

namespace echolux {

class LinkServer {
  public:
    // Starts the link. `work` must outlive this object. Throws Error{device} if the port is in use.
    LinkServer(Workspace& work, const igtl::LinkWanted& wanted);
    ~LinkServer();
    LinkServer(const LinkServer&) = delete;
    LinkServer& operator=(const LinkServer&) = delete;

    std::string place() const;  // as in igtl::Link
    std::uint16_t port() const;
    igtl::LinkStats stats() const;

    // Handles requests and offers the current volume. Call it on the window's thread.
    void update();

    // Returns the longest time in s that the window may wait. Network traffic does not wake it.
    double patience_s() const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
