// What somebody can do for the calibration of the instrument that is open: "calibrate.take_dark" and so on.
#pragma once

namespace echolux {

class Workspace;

// To the workspace's actions, once.
void add_calibration_actions(Workspace& work);

}  // namespace echolux
