// Echolux steered by programs: JSON-RPC 2.0 requests in, answers, notifications and voxels out, whatever the line that
// they came over (docs/control.md). It acts on the workspace as the window does: the same settings, the same actions,
// the same files. Everything is called on the window's thread; answers leave by connections that never
// wait.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "ui/net/connection.h"
#include "ui/workspace/workspace.h"

namespace echolux {

class AllowedFolders;  // engine/io/allowed_folders.h
struct Image;          // render/picture.h

struct ControlOptions {
    std::shared_ptr<const AllowedFolders> folders;  // that requests may name; nullptr: none
    std::function<Image()> window_picture = {};     // of the whole window; empty: there is none
    bool may_shut_down = true;                      // the program, by a request
};

class Control {
  public:
    // `work` outlives it.
    Control(Workspace& work, ControlOptions options);
    ~Control();
    Control(const Control&) = delete;
    Control& operator=(const Control&) = delete;

    // A request or a batch. It is answered by update(), or later where it takes its time; never an error.
    // `waiting`: is kept until it has its answer, so that a connection counts what it has asked for.
    void handle(const ConnectionPtr& from, std::string_view text, const std::shared_ptr<void>& waiting = {});

    // That connection has ended: nothing of it goes on but what was begun.
    void gone(std::uint64_t connection);

    // Once a turn of the window's loop, behind Workspace::update(): settings that came since the last turn are taken
    // over together, the newest of each counts; answers and news leave.
    void update();

    // How long the next turn may wait for input: requests are under way, somebody is told of changes, or neither.
    double patience_s() const;

    // Somebody asked for the end of the program. True until the program ends.
    bool is_shut_down() const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
