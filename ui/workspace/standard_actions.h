// What a person can do whatever the window looks like, with the keys that users of 3D Slicer and ParaView expect. What
// costs a recording or a measurement needs more than one key.
#pragma once

#include "ui/workspace/workspace.h"

namespace echolux {

// Of files and sessions, source, time, view, slices, layout. Files to open and names to save under are asked for by
// whoever has dialogs.
void add_standard_actions(Workspace& work);

// Whether spectra are being recorded now.
bool has_live_recording(Workspace& work);

// By group, each in a file of its own.
void add_file_actions(Workspace& work);
void add_time_actions(Workspace& work);
void add_view_actions(Workspace& work);
void add_layout_actions(Workspace& work);

}  // namespace echolux
