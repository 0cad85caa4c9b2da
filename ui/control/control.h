// Remote control of Echolux with JSON-RPC 2.0 over any kind of connection (docs/control.md): requests in; responses,
// notifications and voxels out. Requests act on the workspace like the window does, with the same settings, actions and
// files.
//
// All functions are called on the window's thread. Connections send without blocking.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "ui/net/connection.h"
#include "ui/workspace/workspace.h"

namespace echolux {

class AllowedFolders;  // engine/io/file_name.h
struct Image;          // render/picture.h

struct ControlOptions {
    std::shared_ptr<const AllowedFolders> folders;  // files that requests may name; nullptr: none
    std::function<Image()> window_picture = {};     // returns the picture of the whole window; empty without a window
    bool may_shut_down = true;                      // whether a request may end the program
};

class Control {
  public:
    // `work` must outlive this object.
    Control(Workspace& work, ControlOptions options);
    ~Control();
    Control(const Control&) = delete;
    Control& operator=(const Control&) = delete;

    // Queues a request or a batch. update() answers it, or a later update() if it takes time. Invalid requests are
    // answered with an error; nothing is thrown. `waiting` is released with the response, so that a connection can
    // count its pending requests.
    void handle(const ConnectionPtr& from, std::string_view text, const std::shared_ptr<void>& waiting = {});

    // Drops the requests and subscriptions of a closed connection. Operations that have started continue.
    void gone(std::uint64_t connection);

    // Runs queued requests and sends responses and notifications. Call it once per turn of the window's loop, after
    // Workspace::update(). Settings received since the last turn are applied together; the newest value of each key
    // wins.
    void update();

    // Returns the longest time in s that the next turn may wait for input. It is short while requests are pending.
    double timeout_s() const;

    // Returns true once a client has requested the end of the program and received its response.
    bool is_shut_down() const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
