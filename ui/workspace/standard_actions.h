// The actions of every window, with the keys that users of 3D Slicer and ParaView expect. Whatever could cost a
// recording or a measurement needs more than one key.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ui/workspace/workspace.h"

namespace echolux {

// Of files and sessions, source, time, view, slices, layout. The window, which has the dialogs, asks for files to open
// and names to save under.
void add_standard_actions(Workspace& work);

// An action that is always possible; `is_on`: of what is switched.
void add_action(Workspace& work, std::string id, std::string title, std::string group, std::vector<std::string> keys,
                std::function<void()> run, std::function<bool()> is_on = {});

// One that switches the setting `key` on and off.
void add_switch(Workspace& work, std::string id, std::string title, std::string group, std::vector<std::string> keys,
                const std::string& key);

// Whether spectra are being recorded now.
bool has_live_recording(Workspace& work);

// By group, each in a file of its own.
void add_file_actions(Workspace& work);
void add_time_actions(Workspace& work);
void add_view_actions(Workspace& work);
void add_layout_actions(Workspace& work);

// For the calibration of the instrument that is open: "calibrate.take_dark" and so on.
void add_calibration_actions(Workspace& work);

// For what is made of the tissue that is shown.
void add_tissue_actions(Workspace& work);

}  // namespace echolux
