// Panes in the middle of the window: the volume and three sections, with titles, a common cross-hair, and input by
// pointer and keys.
#pragma once

#include <array>
#include <glm/vec2.hpp>
#include <glm/vec3.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/viewer/pane_view.h"
#include "compute/plan/describe.h"
#include "render/area_lights.h"
#include "render/picture.h"
#include "render/screen.h"
#include "render/transfer_function.h"
#include "render/view/view.h"
#include "ui/panels/panel.h"
#include "ui/window/layout.h"

namespace echolux {

// ---- Actions of drags in a pane: maps buttons and modifier keys to an action, and pixels to a changed view. Pure
// functions.

enum class Drag { none, rotate, roll, pan, zoom, cross, values, surface, light };

// Button and modifier keys at the start of a drag.
struct Grip {
    int button = 0;  // left, right, middle
    bool shift = false, ctrl = false;
};

// Mouse bindings as in 3D Slicer (Shift + left: pan, Ctrl + left: roll) or as in ParaView (Shift + left: roll, Ctrl +
// left: zoom).
Drag drag_in_volume(const Grip& grip, bool as_slicer);

// Mouse bindings: left: cross-hair; right: window and level; middle or Shift + left: pan; Ctrl + left: zoom.
Drag drag_in_section(const Grip& grip);

// Returns the view after a drag by `pixels`. `at` is the pointer relative to the centre of the picture.
View dragged(View view, Drag drag, const glm::dvec2& pixels, const glm::dvec2& at, const glm::dvec3& extent);

// Returns the zoom factor of a drag; dragging up enlarges.
double zoom_factor(double pixels_down);

// Window and level: dragging right widens the range, dragging up brightens. The size of the picture corresponds to the
// complete range.
ValueRange values_dragged(const ValueRange& range, const glm::dvec2& pixels, double picture_size);

// ---- Handles for lights, drawn on a sphere around the volume as seen from the eye.

// State at the start of a drag.
struct LightDrag {
    std::size_t handle = 0;
    LightHandle before;
    glm::dvec2 pointer{0};
    View view;  // view at the start
};

// Returns the handles of a view; none if they are hidden.
std::vector<LightHandle> shown_light_handles(const PanelContext& context, const View& view);

void draw_light_handles(const PanelContext& context, const View& view, const Region& place);

// Returns the handle under the pointer, whose position is relative to the corner of the pane.
std::optional<LightDrag> light_under(const PanelContext& context, const View& view, const Region& place,
                                     const glm::dvec2& pointer);

// Moves a light around the volume. With `moves_away` (Shift) the distance changes instead.
void drag_light(const PanelContext& context, const LightDrag& held, const Region& place, const glm::dvec2& pointer,
                bool moves_away);

class Panes {
  public:
    // Draws titles and cross-hair and handles input within the current ImGui frame. A document must be open.
    void draw(const PanelContext& context, const Region& centre);

    // Starts rays for everything that changed, once the previous rays are done. Throws Error{device}.
    void follow(const PanelContext& context);

    // Returns the drawings to display. Slow rays are displayed when they are done; for fast rays the screen waits.
    std::vector<ScreenPane> shown(const PanelContext& context) const;
    bool are_rays_slow() const;

    bool is_final() const;                                                 // no picture would improve
    bool waits_for_rays() const { return !rays_are_done_ || next_ != 0; }  // more rays start when these are done
    bool needs_turn() const;                                               // work is pending without input
    std::optional<Region> place_of(PaneKind kind) const;
    std::optional<PanePicture> volume_picture() const;

    // True if a picture is displayed now whose camera differs from that of the marks drawn above it: lay out again.
    bool is_laid_out_for_others() const;
    // Azimuth of the displayed picture, and of the marks above it. For tests.
    std::optional<double> shown_azimuth_deg(PaneKind kind) const;
    std::optional<double> marked_azimuth_deg(PaneKind kind) const;

    void toggle_full_size(PaneKind kind);
    bool leave_full_size();  // returns false if no pane had full size
    void show_whole_sections();

    void hide();  // another view replaces the panes

    // Call this before a renderer is destroyed and when another document is opened.
    void forget_pictures();

  private:
    // Camera and cross-hair of a picture.
    struct PictureView {
        View view;
        std::array<double, 3> cross_um{};
    };

    struct Pane {
        PaneKind kind = PaneKind::volume;
        Region place{};  // zero width: hidden
        PaneLook look{};
        View view{};                                 // requested now
        std::optional<PanePicture> picture{};        // most recently started
        std::shared_ptr<const PictureView> taken{};  // of `picture`
        Drawing done{};                              // most recently finished; without an image: none
        std::shared_ptr<const PictureView> done_taken{};
        std::shared_ptr<const PictureView>
            marks{};            // drawn with these marks; those of the displayed picture if it is late
        std::string problem{};  // error of the pane; empty without one
    };

    bool is_late(const Pane& pane) const;
    std::shared_ptr<const PictureView> displayed(const PanelContext& context, const Pane& pane) const;

    void lay_out(const PanelContext& context, const Region& centre);
    static double rays_ms(const PanelContext& context);
    View view_of(const PanelContext& context, const Pane& pane) const;
    void drag_splits(const PanelContext& context, const PanePlan& plan);

    void handle(const PanelContext& context, const VolumeGrid& grid, Pane& pane);
    void begin_drag(const PanelContext& context, const VolumeGrid& grid, const Pane& pane);
    bool begin_surface_drag(const PanelContext& context, const VolumeGrid& grid, const Pane& pane);
    static void drag_surface(const PanelContext& context, const VolumeGrid& grid, const Pane& pane,
                             const glm::dvec2& at);
    void drag_on(const PanelContext& context, const VolumeGrid& grid, Pane& pane);
    void drag_values(const PanelContext& context, const Pane& pane, const glm::dvec2& by, Edit edit);
    void wheel(const PanelContext& context, const VolumeGrid& grid, Pane& pane, float notches);
    void close_edit(const PanelContext& context);
    void move_cross(const PanelContext& context, const VolumeGrid& grid, const glm::dvec3& place);
    void look_under_pointer(const PanelContext& context, ViewSource& view_source);
    std::optional<Probe> probe(ViewSource& view_source);  // of the hovered pane at the pointer
    void measure_under_pointer(const PanelContext& context);
    bool has_dragged(const PanelContext& context) const;

    float draw_flow_bar(const PanelContext& context, const Pane& pane, bool has_read_out) const;
    void draw_surfaces(const PanelContext& context, const VolumeGrid& grid, const Pane& pane) const;
    void draw_tool(const PanelContext& context, const VolumeGrid& grid, const Pane& pane) const;
    float draw_title(const PanelContext& context, const VolumeGrid& grid, const Pane& pane) const;
    void draw_read_out(const PanelContext& context, const Pane& pane, float top, float right) const;
    void draw_marks(const PanelContext& context, const VolumeGrid& grid, const Pane& pane) const;
    void follow(const PanelContext& context, Pane& pane, ViewSource& view_source);
    bool are_rays_done(const Renderer& renderer);

    std::array<Pane, 4> panes_{Pane{PaneKind::volume}, Pane{PaneKind::b_scan}, Pane{PaneKind::en_face},
                               Pane{PaneKind::side}};
    std::size_t next_ = 0;       // pane that starts rays next
    bool rays_are_done_ = true;  // state at the last check
    bool has_cast_ = false;      // a pane has started rays in this round
    double round_s_ = 0;         // start of this round
    double rays_s_ = 0;          // duration of the last round
    std::optional<PaneKind> full_size_;
    const ViewSource* shown_ = nullptr;
    std::weak_ptr<const void> life_;  // distinguishes documents at the same address

    Drag drag_ = Drag::none;
    std::optional<LightDrag> held_light_;
    bool has_moved_ = false;            // since the button was pressed
    glm::dvec3 cross_before_click_{0};  // restored by a double click, whose first click has moved the cross-hair
    double edited_s_ = -1;              // time of the last change by the wheel; negative: no open edit
    std::optional<PaneKind> hovered_;
    std::array<float, 2> pointer_{};  // position in the hovered pane
    bool is_probed_ = true;           // the value under the pointer is up to date
    double probed_s_ = -1;
    std::vector<std::string> read_out_;  // parts of the read-out, wrapped as needed
};

// Title of a pane.
struct PaneTitle {
    std::string name;    // such as "B-scan"
    std::string index;   // counted from 1, such as "129 / 256"; empty for the volume
    std::string length;  // such as "1.28 mm"; empty if unknown
};
// `orientation` is that of ViewSource::orientation(). Sections of medical volumes are called axial, coronal and
// sagittal.
PaneTitle title_of(PaneKind kind, const VolumeGrid& grid, const std::array<double, 3>& cross,
                   const std::string& orientation = "");

// Colour of a section, used for its title and for its line in other panes.
ImVec4 colour_of(PaneKind kind);

// Draws the cross-hair: lines of the other sections in a section, or the outlines of all sections in the volume.
void draw_cross_hair(const Style& style, const View& view, const VolumeGrid& grid, PaneKind kind, const Region& place,
                     const std::array<double, 3>& cross);

}  // namespace echolux
