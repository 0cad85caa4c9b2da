// Actions of every window, with the keys that users of 3D Slicer and ParaView expect. Actions that could cost a
// recording or a measurement need more than one key.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ui/workspace/workspace.h"

namespace echolux {

// Adds the actions for files, sessions, source, time, view, slices and layout. Actions with dialogs are added by the
// window.
void add_standard_actions(Workspace& work);

// Adds an action that is always possible. `is_on` is the state of a switch.
void add_action(Workspace& work, std::string id, std::string title, std::string group, std::vector<std::string> keys,
                std::function<void()> run, std::function<bool()> is_on = {});

// Adds an action that switches the setting `key` on and off.
void add_switch(Workspace& work, std::string id, std::string title, std::string group, std::vector<std::string> keys,
                const std::string& key);

// Returns true while a live source is recorded.
bool has_live_recording(Workspace& work);

// Actions by group, one source file each.
void add_file_actions(Workspace& work);
void add_time_actions(Workspace& work);
void add_view_actions(Workspace& work);
void add_layout_actions(Workspace& work);

// Actions for the calibration of the open instrument.
void add_calibration_actions(Workspace& work);

// Actions for filtered and stabilised volumes and for layers.
void add_tissue_actions(Workspace& work);

}  // namespace echolux
