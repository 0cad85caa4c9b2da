// Panes in the middle of the window: the volume and three sections, with titles, a common cross-hair, and input by
// pointer and keys.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/stage/pane_view.h"
#include "render/screen.h"
#include "ui/panels/panel.h"
#include "ui/window/input.h"
#include "ui/window/layout.h"
#include "ui/window/light_handles.h"

namespace echolux {

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
    bool wants_turn() const;                                               // work is pending without input
    std::optional<Region> place_of(PaneKind kind) const;
    std::optional<FollowedPicture> volume_picture() const;

    void toggle_full_size(PaneKind kind);
    bool leave_full_size();  // returns false if no pane had full size
    void show_whole_sections();

    void hide();  // another view replaces the panes

    // Call this before a renderer is destroyed and when another document is opened.
    void forget_pictures();

  private:
    struct Pane {
        PaneKind kind = PaneKind::volume;
        Region place;  // zero width: hidden
        PaneLook look;
        View view;
        std::optional<FollowedPicture> picture;  // most recently started
        Drawing done;                            // most recently finished; without an image: none
        std::string problem;                     // error of the pane; empty without one
    };

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
    void look_under_pointer(const PanelContext& context, Exhibit& exhibit);
    std::optional<Probe> probe(Exhibit& exhibit);  // of the hovered pane at the pointer
    void measure_under_pointer(const PanelContext& context);
    bool has_dragged(const PanelContext& context) const;

    void draw_flow_bar(const PanelContext& context, const Pane& pane) const;
    void draw_surfaces(const PanelContext& context, const VolumeGrid& grid, const Pane& pane) const;
    void draw_tool(const PanelContext& context, const VolumeGrid& grid, const Pane& pane) const;
    float draw_title(const PanelContext& context, const VolumeGrid& grid, const Pane& pane) const;
    void draw_read_out(const PanelContext& context, const Pane& pane, float top) const;
    void draw_marks(const PanelContext& context, const VolumeGrid& grid, const Pane& pane) const;
    void follow(const PanelContext& context, Pane& pane, Exhibit& exhibit);
    bool are_rays_done(const Renderer& renderer);

    std::array<Pane, 4> panes_{
        Pane{PaneKind::volume, {}, {}, {}, {}, {}, {}}, Pane{PaneKind::b_scan, {}, {}, {}, {}, {}, {}},
        Pane{PaneKind::en_face, {}, {}, {}, {}, {}, {}}, Pane{PaneKind::side, {}, {}, {}, {}, {}, {}}};
    std::size_t next_ = 0;       // pane that starts rays next
    bool rays_are_done_ = true;  // state at the last check
    bool has_cast_ = false;      // a pane has started rays in this round
    double round_s_ = 0;         // start of this round
    double rays_s_ = 0;          // duration of the last round
    std::optional<PaneKind> full_size_;
    const Exhibit* shown_ = nullptr;
    std::weak_ptr<const void> life_;  // distinguishes documents at the same address

    Drag drag_ = Drag::none;
    std::optional<HeldLight> held_light_;
    bool has_moved_ = false;  // since the button was pressed
    double edited_s_ = -1;    // time of the last change by the wheel; negative: no open edit
    std::optional<PaneKind> hovered_;
    std::array<float, 2> pointer_{};  // position in the hovered pane
    bool is_probed_ = true;           // the value under the pointer is up to date
    double probed_s_ = -1;
    std::vector<std::string> read_out_;  // parts of the read-out, wrapped as needed
};

// Title of a pane.
struct PaneTitle {
    std::string name;    // such as "B-scan"
    std::string index;   // such as "128 / 255"; empty for the volume
    std::string length;  // such as "1.28 mm"; empty if unknown
};
// `orientation` is that of Exhibit::orientation(). Sections of medical volumes are called axial, coronal and sagittal.
PaneTitle title_of(PaneKind kind, const VolumeGrid& grid, const std::array<double, 3>& cross,
                   const std::string& orientation = "");

// Colour of a section, used for its title and for its line in other panes.
ImVec4 colour_of(PaneKind kind);

// Draws the cross-hair: lines of the other sections in a section, or the outlines of all sections in the volume.
void draw_cross_hair(const Style& style, const View& view, const VolumeGrid& grid, PaneKind kind, const Region& place,
                     const std::array<double, 3>& cross);

}  // namespace echolux
