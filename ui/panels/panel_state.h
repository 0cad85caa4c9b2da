// State of the panels between frames, shared with the window.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compute/plan/described.h"
#include "engine/simulate/scene.h"
#include "ui/panels/measuring.h"
#include "ui/panels/volume_facts.h"

namespace echolux {

// Rectangles of the controls in the last frame by key or action: left, top, right, bottom in pixels. Used by tests and
// by the tour.
struct ControlPlaces {
    std::map<std::string, std::array<float, 4>> places;
};

// A file or folder that a panel asks for. The window opens its dialog and clears the request.
struct FileWish {
    enum class Kind { open, save, folder };
    Kind kind = Kind::open;
    std::string title;        // such as "Save the volume"
    std::string suggested{};  // initial name or path
    // accepted endings such as ".nrrd"; empty: any. A name without one gets that of `suggested`
    std::vector<std::string> endings{};
    std::function<void(const std::filesystem::path&)> chosen;  // called with the chosen path
};

// Statistics of the window's own frames.
struct WindowPace {
    double pictures_per_s = 0;
    double interface_cpu_s = 0;
    std::optional<double> interface_gpu_s;  // nullopt if the device has no timestamps
    double pitch = 1;                       // pixels per ray in the picture of the volume
    std::int64_t passes = 0;                // rays per pixel
    bool is_final = false;
};

// The control that is being dragged or typed in. Only one can be active.
struct ActiveControl {
    unsigned int control = 0;  // ImGui id; 0: none
    bool is_typed = false;
    bool is_new = false;        // typing begins in this frame
    bool goes_on = false;       // typing began before the box existed; further text is appended
    bool has_keyboard = false;  // the box has keyboard focus
    bool has_moved = false;
    bool holds_low_end = false;  // the low end of a range is dragged
    double place = 0;            // unclamped position along the control
    double before = 0;           // value restored by Esc
    std::string text;
};

// Time for which the pointer has rested on the control with this upper left corner.
struct PointerRest {
    float x = -1, y = -1;
    double since_s = 0;
};

struct PanelState {
    ControlPlaces controls;
    MeasureTool measure;
    ActiveControl active;
    PointerRest rest;
    VolumeFacts volume;  // updated by refresh_facts()
    double volume_time_s = -1;
    std::optional<FileWish> file_wish;
    std::optional<std::filesystem::path> outside_wish;  // file or folder to show in the file manager
    unsigned int picked = 0;                            // last clicked number, replaced by typing; 0: none
    bool is_picked_there = false;                       // it has been drawn in this frame
    WindowPace pace;
    bool plays_keys = false;                          // the time line is playing, so frames follow quickly
    std::string wanted_panel;                         // panel to scroll to; empty: none
    bool has_sheet = false;                           // a dialog is open
    bool is_in_sheet = false;                         // the content of the dialog is being drawn
    std::vector<ShownScene> scenes = shown_scenes();  // scenes of the simulator
};

}  // namespace echolux
