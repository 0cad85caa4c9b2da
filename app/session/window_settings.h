// Layout and behaviour of the window: section [window] of the settings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/described.h"

namespace echolux {

// Panes shown beside the volume.
enum class PaneLayout { volume, volume_and_sections, sections, alignment };

struct WindowSettings {
    double scale = 0;  // of text and controls; 0: as reported by the screen
    std::int64_t width = 1280, height = 800;
    PaneLayout layout = PaneLayout::volume_and_sections;
    bool left_panels = true, right_panels = true;
    double left_width = 320, right_width = 340;  // at scale 1
    std::vector<double> pane_split{0.62, 0.5};   // share of the volume's width; of the upper section's height
    std::string open_panels = "source,processing,flow,layers,view,transfer,time";  // expanded panels
    bool cross_hair = true;
    bool light_handles = true;                        // in the volume pane, if lights have a direction
    bool time_line = false;                           // of key frames, below the panes
    std::string key_frames;                           // its key frames, in the file format: see time_line.h
    bool link_levels = false;                         // same value range for sections and volume
    double section_low = -1e12, section_high = 1e12;  // of sections alone; beyond all values: derived from the volume
    bool mouse_slicer = true;                         // true: navigation as in 3D Slicer; false: as in ParaView
    std::string record_folder;                        // empty: the user's folders for videos, pictures and documents
    std::string stripe_folders;                       // on further disks, for striped recordings; separated by ";"
    std::string save_folder;                          // folder of the last saved file
    double autosave_s = 20;                           // if 0, never
    double series_memory_gb = 4, series_gpu_gb = 1;   // for time points loaded ahead
};

template <>
const std::vector<Field<WindowSettings>>& describe<WindowSettings>();

}  // namespace echolux
