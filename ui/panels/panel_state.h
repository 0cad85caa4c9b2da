// What panels remember from one picture to the next, and what they share with the window around them.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compute/plan/describe.h"
#include "engine/simulate/scene_file.h"
#include "ui/panels/measuring.h"
#include "ui/panels/volume_facts.h"

namespace echolux {

// Where the control of each key and action was drawn last: left, top, right, bottom in pixels. For tests and the tour.
struct ControlPlaces {
    std::map<std::string, std::array<float, 4>> places;
};

// A file or folder that a panel asks the user to choose: the window opens its dialog for it and clears the request.
struct FileWish {
    enum class Kind { open, save, folder };
    Kind kind = Kind::open;
    std::string title;                   // "Save the volume"
    std::string suggested{};             // name or path to begin with
    std::vector<std::string> endings{};  // ".nrrd", ".nii.gz"; none: any. Of a name that has none: that suggested
    std::function<void(const std::filesystem::path&)> chosen;
};

// What the window knows of its own pictures, for the statistics.
struct WindowPace {
    double pictures_per_s = 0;
    double interface_cpu_s = 0;
    std::optional<double> interface_gpu_s;  // nothing: the device keeps no time
    double pitch = 1;                       // of the volume's picture: pixels from ray to ray
    std::int64_t passes = 0;                // rays a pixel
    bool is_final = false;
};

// The one control that is dragged or typed in now; the pointer and the keyboard can only do one.
struct ActiveControl {
    unsigned int control = 0;  // ImGui's name for it; 0: none
    bool is_typed = false;
    bool is_new = false;        // typing begins with this picture
    bool goes_on = false;       // typing began before the box was there: what comes goes behind that
    bool has_keyboard = false;  // the box hears what is typed
    bool has_moved = false;
    bool holds_low_end = false;  // of a range
    double place = 0;            // along the control, where a drag would be without steps and ends
    double before = 0;           // the value that Esc goes back to
    std::string text;
};

// Since when the pointer has rested on the control whose left top corner is there.
struct PointerRest {
    float x = -1, y = -1;
    double since_s = 0;
};

struct PanelState {
    ControlPlaces controls;
    MeasureTool measure;
    ActiveControl active;
    PointerRest rest;
    VolumeFacts volume;  // see refresh_facts()
    double volume_time_s = -1;
    std::optional<FileWish> file_wish;
    std::optional<std::filesystem::path> outside_wish;  // a file or folder that the desktop is to show
    unsigned int picked = 0;       // the number that was clicked last: what is typed next is its value; 0: none
    bool is_picked_there = false;  // it has been drawn
    WindowPace pace;
    bool plays_keys = false;                          // of the time line, so that the next picture comes soon
    std::string wanted_panel;                         // to be scrolled to; empty: none
    bool has_sheet = false;                           // a dialog is open above panels and panes,
    bool is_in_sheet = false;                         // and what is drawn now is its content
    std::vector<ShownScene> scenes = shown_scenes();  // of the simulator
};

}  // namespace echolux
