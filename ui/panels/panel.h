// Base of the foldable panels at the sides of the window. Panels display the workspace and call its actions and
// settings. They only keep state for drawing; PanelState is shared with the window.
#pragma once

#include <imgui.h>

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "app/figure/figure_page.h"
#include "compute/plan/described.h"
#include "engine/simulate/scene.h"
#include "ui/panels/measuring.h"
#include "ui/panels/volume_facts.h"
#include "ui/workspace/workspace.h"

namespace echolux {

// ---- State of the panels between frames, shared with the window.

// Rectangles of the controls in the last frame by key or action: left, top, right, bottom in pixels. Used by tests and
// by the tour.
struct ControlRectangles {
    std::map<std::string, std::array<float, 4>> places;
};

// The control with keyboard focus: Tab moves it in the order of drawing, Enter and Space click the control. Text boxes
// and numbers are typed into at once.
struct KeyboardFocus {
    std::string control;                    // name as in ControlRectangles; empty: none
    std::array<float, 4> place{};           // visible part of the control
    bool is_visible = false;                // in this frame
    bool has_moved = false;                 // by Tab, and the control has not been drawn since
    std::vector<std::string> order;         // controls of this frame
    std::unordered_set<std::string> names;  // the same
    std::string typed;                      // control that is typed into, which may lack the focus after a click
    // Text box or number drawn last: its ImGui id, its upper left corner, and the text of the box. The next name
    // belongs to it if the corner is inside that control. 0: none.
    unsigned int box = 0, number = 0;
    std::array<float, 2> corner{};
    std::string text;
};

// A panel's request for a file or folder. The window opens its dialog and clears the request.
struct FileRequest {
    enum class Kind { open, save, folder };
    Kind kind = Kind::open;
    std::string title;        // such as "Save volume"
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
    bool continues = false;     // typing began before the box existed; further text is appended
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
    ControlRectangles controls;
    KeyboardFocus focus;
    MeasureTool measure;
    ActiveControl active;
    PointerRest rest;
    VolumeFacts volume;  // updated by refresh_facts()
    double volume_time_s = -1;
    std::optional<FileRequest> file_request;
    std::optional<std::filesystem::path> desktop_request;  // file or folder to show in the file manager
    unsigned int picked = 0;                               // last clicked number, replaced by typing; 0: none
    bool is_picked_there = false;                          // it has been drawn in this frame
    WindowPace pace;
    bool plays_keys = false;                           // the time line is playing, so frames follow quickly
    std::string wanted_panel;                          // panel to scroll to; empty: none
    bool has_sheet = false;                            // a dialog is open
    bool is_in_sheet = false;                          // the content of the dialog is being drawn
    std::vector<SceneEntry> scenes = scene_entries();  // scenes of the simulator
};

// ---- Fonts, colours and sizes of the interface. Owned by the window. The colours are those of the dark theme until
// set_colours() of ui/window/theme.h.

struct Style {
    float scale = 1;  // factor for all sizes in pixels
    ImFont* text = nullptr;
    ImFont* strong = nullptr;   // titles of panels, file names
    ImFont* numbers = nullptr;  // digits of equal width
    ImFont* large = nullptr;    // start page and alignment view

    ImVec4 ground{0.055f, 0.060f, 0.070f, 1};    // behind panels and between panes
    ImVec4 surface{0.094f, 0.102f, 0.118f, 1};   // panels
    ImVec4 raised{0.125f, 0.135f, 0.155f, 1};    // headings and pop-ups
    ImVec4 lit{0.150f, 0.162f, 0.185f, 1};       // headings under the pointer
    ImVec4 hairline{0.185f, 0.197f, 0.222f, 1};  // lines between surfaces
    ImVec4 control{0.165f, 0.177f, 0.202f, 1};   // buttons and fields
    ImVec4 hovered{0.205f, 0.220f, 0.250f, 1};   // the same under the pointer
    ImVec4 pressed{0.245f, 0.263f, 0.300f, 1};   // the same while pressed
    ImVec4 ink{0.885f, 0.900f, 0.925f, 1};       // text
    ImVec4 muted{0.58f, 0.61f, 0.66f, 1};        // units and explanations
    ImVec4 accent{0.31f, 0.62f, 0.95f, 1};
    ImVec4 on_accent{0.04f, 0.05f, 0.06f, 1};  // text on the accent
    ImVec4 warning{0.96f, 0.55f, 0.36f, 1};    // pending errors
    ImVec4 late{0.95f, 0.71f, 0.22f, 1};       // a source without data
    ImVec4 good{0.42f, 0.78f, 0.50f, 1};
    ImVec4 alarm{1.00f, 0.38f, 0.38f, 1};      // losses and a lost source
    ImVec4 recording{0.84f, 0.15f, 0.17f, 1};  // buttons with white text, and marks

    // Converts a size in pixels at scale 1 to the current scale.
    float px(float at_scale_1) const { return at_scale_1 * scale; }
};

// References passed to a panel while it is drawn.
struct PanelContext {
    Workspace& work;
    const Style& style;
    PanelState& state;  // owned by the window
};

enum class PanelSide { left, right, bottom };

class Panel {
  public:
    virtual ~Panel() = default;

    virtual std::string_view id() const = 0;     // such as "transfer"; used in window.open_panels
    virtual std::string_view title() const = 0;  // such as "Transfer function"
    virtual PanelSide side() const = 0;
    virtual std::string_view words() const { return ""; }  // further words that people search for
    // false hides the panel. Depends only on what is open, so that panels do not appear while people work.
    virtual bool is_available(Workspace&) const { return true; }
    virtual bool needs_document() const { return true; }

    // Draws the content. Called within an ImGui child of the width of the side, below the title. Its height changes
    // only in answer to input: results and states that come later have reserved places.
    virtual void draw(const PanelContext& context) = 0;
};

// Creates all panels in their order from top to bottom.
std::vector<std::unique_ptr<Panel>> make_panels();

// Creates the view that replaces the panes during alignment with a mirror in the sample arm.
std::unique_ptr<Panel> make_alignment_view();

// ---- Factories of the panels. panel.cpp lists them in order.

// Panel with constant id, title and side.
class NamedPanel : public Panel {
  public:
    NamedPanel(std::string_view id, std::string_view title, PanelSide side, std::string_view words = "")
        : id_(id), title_(title), words_(words), side_(side) {}

    std::string_view id() const override { return id_; }
    std::string_view title() const override { return title_; }
    PanelSide side() const override { return side_; }
    std::string_view words() const override { return words_; }

  private:
    std::string_view id_, title_, words_;  // of string literals
    PanelSide side_;
};

std::unique_ptr<Panel> make_source_panel();
std::unique_ptr<Panel> make_processing_panel();
std::unique_ptr<Panel> make_flow_panel();
std::unique_ptr<Panel> make_statistics_panel();
std::unique_ptr<Panel> make_log_panel();
std::unique_ptr<Panel> make_overlays_panel();
std::unique_ptr<Panel> make_stabilise_panel();
std::unique_ptr<Panel> make_filters_panel();
std::unique_ptr<Panel> make_surfaces_panel();
std::unique_ptr<Panel> make_view_panel();
std::unique_ptr<Panel> make_transfer_panel();
std::unique_ptr<Panel> make_measure_panel();
std::unique_ptr<Panel> make_export_panel();
constexpr std::string_view operation_panel = "operations";  // its id
std::unique_ptr<Panel> make_operation_panel();
std::unique_ptr<Panel> make_time_panel();
std::unique_ptr<Panel> make_keys_panel();

// ---- Colours of layer surfaces

inline ImVec4 drawn_colour_of_surface(std::size_t number) {
    const Colour& colour = colour_of_surface(number);
    return {static_cast<float>(colour.red), static_cast<float>(colour.green), static_cast<float>(colour.blue), 1};
}

}  // namespace echolux
