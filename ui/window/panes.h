// The panes in the middle of the window: the volume and three sections of it, their titles, the cross-hair that they
// share, and what pointer and keys do in them.
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
    // Titles, cross-hair and input, in Dear ImGui's picture; there is an exhibit.
    void draw(const PanelContext& context, const Region& centre);

    // Begins rays for everything that was changed, once those that were begun before are done. Throws Error{device}.
    void follow(const PanelContext& context);

    // What the screen shows of them now. Rays that are slow are shown when they are done, others waited for.
    std::vector<ScreenPane> shown(const PanelContext& context) const;
    bool are_rays_slow() const;

    bool is_final() const;                                                 // no picture would become any better
    bool waits_for_rays() const { return !rays_are_done_ || next_ != 0; }  // others are begun when these are done
    bool wants_turn() const;  // something is to be done soon, even without input
    std::optional<Region> place_of(PaneKind kind) const;
    std::optional<FollowedPicture> volume_picture() const;

    void toggle_full_size(PaneKind kind);
    bool leave_full_size();  // false: no pane had it
    void show_whole_sections();

    void hide();  // something else stands in their place

    // Before a renderer goes, and where there is another exhibit.
    void forget_pictures();

  private:
    struct Pane {
        PaneKind kind = PaneKind::volume;
        Region place;  // no width: it is not shown
        PaneLook look;
        View view;
        std::optional<FollowedPicture> picture;  // that was begun last
        Drawing done;                            // the last one that is finished; no image: none is yet
        std::string problem;                     // why there is none; empty: there is no volume yet
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
    std::optional<Probe> probe(Exhibit& exhibit);  // of what the hovered pane shows under the pointer
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
    std::size_t next_ = 0;       // the pane whose turn it is
    bool rays_are_done_ = true;  // as far as it is known
    bool has_cast_ = false;      // in this round through all panes,
    double round_s_ = 0;         // which began then
    double rays_s_ = 0;          // that the last round took
    std::optional<PaneKind> full_size_;
    const Exhibit* shown_ = nullptr;
    std::weak_ptr<const void> life_;  // of the one that is shown: another one may have its address

    Drag drag_ = Drag::none;
    std::optional<HeldLight> held_light_;
    bool has_moved_ = false;  // since the button went down
    double edited_s_ = -1;    // when the view was changed by the wheel; negative: it is closed
    std::optional<PaneKind> hovered_;
    std::array<float, 2> pointer_{};  // in the hovered pane
    bool is_probed_ = true;           // what is under the pointer is known
    double probed_s_ = -1;
    std::vector<std::string> read_out_;  // its parts, which go on in the next line where they do not fit
};

// What stands over a pane's picture.
struct PaneTitle {
    std::string name;    // "B-scan"
    std::string index;   // "128 / 255"; "": of the volume
    std::string length;  // "1.28 mm"; "": not known
};
// `orientation`: as Exhibit::orientation() says; medical volumes have axial, coronal and sagittal sections.
PaneTitle title_of(PaneKind kind, const VolumeGrid& grid, const std::array<double, 3>& cross,
                   const std::string& orientation = "");

// The colour of a section, of its title and of its line in other panes.
ImVec4 colour_of(PaneKind kind);

// Draws the cross-hair into a pane: lines of the other sections, or outlines of all in the volume.
void draw_cross_hair(const Style& style, const View& view, const VolumeGrid& grid, PaneKind kind, const Region& place,
                     const std::array<double, 3>& cross);

}  // namespace echolux
