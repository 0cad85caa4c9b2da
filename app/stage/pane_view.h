// What the panes of a window show of one view: the volume itself, and three sections through the cross-hair. Pure: the
// same settings always give the same pictures, and a place in a pane the same place in the volume.
#pragma once

#include <array>
#include <cstdint>
#include <glm/vec2.hpp>
#include <glm/vec3.hpp>
#include <optional>
#include <span>

#include "compute/types.h"
#include "render/view/view.h"

namespace echolux {

enum class PaneKind { volume, b_scan, en_face, side };

// How a section is enlarged and shifted, apart from all else.
struct PaneLook {
    double zoom = 1;                           // 1: all of the section is seen
    std::array<double, 3> centre_um{0, 0, 0};  // that is in the middle; along the section only
};

struct PaneWanted {
    PaneKind kind = PaneKind::volume;
    std::int64_t width = 1, height = 1;       // pixels
    std::array<double, 3> cross_um{0, 0, 0};  // from the volume's centre: where sections lie
    PaneLook look{};
    double frame_ms = 33;                   // of this pane while something moves
    double text_pixels = 14;                // of annotations of sections
    std::optional<ValueRange> levels = {};  // of sections, where they have a range of values of their own
    double moment_s = 0;                    // of what is shown, for streaks
    const VolumeGrid* grid = nullptr;       // nothing: sections show no measurements
};

// `view` is what the person set; its size, and of sections its camera, are the pane's. Where heights are given (top_um,
// bottom_um), the en face pane shows what lies between them.
View pane_view(const View& view, const PaneWanted& wanted);

// The volume's axis (0 depth, 1 A-scans, 2 B-scans) across a section.
int axis_across(PaneKind section);

// A place in the volume, from its centre, on the pane's picture: pixels from its left top.
glm::dvec2 pixel_of(const View& pane, const VolumeGrid& grid, const glm::dvec3& place);

// The place of a section under a pixel.
glm::dvec3 place_at(const View& pane, const VolumeGrid& grid, const glm::dvec2& pixel);

// From lengths from the middle of the first voxel, as probes and measurements have them, to those from the volume's
// centre.
glm::dvec3 from_centre(std::span<const double> place, const VolumeGrid& grid);

// Whether all places of a measurement, three numbers each, lie in the voxels that a section shows.
bool lies_in(PaneKind section, const std::array<double, 3>& cross_um, std::span<const double> places,
             const VolumeGrid& grid);

// The nearest place that is inside the volume, in the middle of a voxel along each axis.
std::array<double, 3> kept_inside(const std::array<double, 3>& place, const VolumeGrid& grid);

// The index along an axis of the voxel in which a length from the centre lies.
std::int64_t voxel_index(double from_centre, const VolumeGrid& grid, int axis);

// A section's look after its picture was dragged by pixels, and after it was enlarged about a pixel.
PaneLook look_dragged(const PaneLook& look, const View& pane, const VolumeGrid& grid, const glm::dvec2& pixels);
PaneLook look_enlarged(const PaneLook& look, const View& pane, const VolumeGrid& grid, const glm::dvec2& at,
                       double factor);

}  // namespace echolux
