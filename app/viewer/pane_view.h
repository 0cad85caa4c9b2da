// Views of the panes of a window, derived from one view: the volume, and three sections through the cross-hair. Pure
// functions: the same settings give the same pictures, and a position in a pane always maps to the same position in the
// volume.
#pragma once

#include <array>
#include <cstdint>
#include <glm/vec2.hpp>
#include <glm/vec3.hpp>
#include <optional>
#include <span>
#include <string>

#include "app/settings/settings_book.h"
#include "compute/plan/describe.h"
#include "compute/types.h"
#include "render/view/view.h"

namespace echolux {

// ---- Views

enum class PaneKind { volume, b_scan, en_face, side };

// Magnification and shift of a section, independent of the view.
struct PaneLook {
    double zoom = 1;                           // with 1, the whole section is visible
    std::array<double, 3> centre_um{0, 0, 0};  // position in the middle of the pane; only along the section
};

struct PaneRequest {
    PaneKind kind = PaneKind::volume;
    std::int64_t width = 1, height = 1;       // pixels
    std::array<double, 3> cross_um{0, 0, 0};  // positions of the sections, from the volume's centre
    PaneLook look{};
    double frame_ms = 33;                   // time budget of this pane while something moves
    double text_pixels = 14;                // of annotations in sections
    std::optional<ValueRange> levels = {};  // value range of sections, if separate
    double moment_s = 0;                    // time of the volume shown, for streaks
    const VolumeGrid* grid = nullptr;       // nullptr: sections show no measurements
    std::string orientation = {};           // of ViewSource::orientation(); empty: as recorded, depth down
    SectionConvention convention = SectionConvention::radiological;
};

// `view` contains the user's settings. Its size, and the camera of sections, are replaced by the pane's. If heights are
// given (top_um, bottom_um), the en face pane shows the slab between them.
View pane_view(const View& view, const PaneRequest& wanted);

// Volume axis perpendicular to a section: 0 depth, 1 A-scans, 2 B-scans.
int axis_across(PaneKind section);

// Converts a position, from the volume's centre, to pixels from the top left of the pane's picture.
glm::dvec2 pixel_of(const View& pane, const VolumeGrid& grid, const glm::dvec3& place);

// Position in a section under a pixel.
glm::dvec3 place_at(const View& pane, const VolumeGrid& grid, const glm::dvec2& pixel);

// Converts positions from the centre of the first voxel, as used by probes and measurements, to positions from the
// volume's centre.
glm::dvec3 from_centre(std::span<const double> place, const VolumeGrid& grid);

// Returns true if all points of a measurement, three numbers each, are in the voxels that a section shows.
bool is_inside(PaneKind section, const std::array<double, 3>& cross_um, std::span<const double> places,
               const VolumeGrid& grid);

// Returns the nearest voxel centre inside the volume.
std::array<double, 3> kept_inside(const std::array<double, 3>& place, const VolumeGrid& grid);

// Index along an axis of the voxel at a distance from the centre.
std::int64_t voxel_index(double from_centre, const VolumeGrid& grid, int axis);

// Look of a section after dragging its picture by some pixels, and after zooming about a pixel.
PaneLook look_dragged(const PaneLook& look, const View& pane, const VolumeGrid& grid, const glm::dvec2& pixels);
PaneLook look_enlarged(const PaneLook& look, const View& pane, const VolumeGrid& grid, const glm::dvec2& at,
                       double factor);

// ---- Patient orientation in a section: the letters of its sides, and the radiological name of the plane.

struct SideLetters {
    std::string left, right, top, bottom;
};

// `orientation` as returned by ViewSource::orientation(). Letters are empty if unknown.
SideLetters letters_of(const View& section, const VolumeGrid& grid, const std::string& orientation);

// Letter of the patient's side at the end or the beginning of an axis. `orientation` must be known.
std::string side_of_patient(const std::string& orientation, int axis, bool is_end);

// Returns a position in mm from the centre of the volume towards the patient's right, front and head: "R 12.0 A -3.5 S
// 40.1 mm from centre". `place_um` is from the centre of the first voxel. Empty without orientation or spacing.
std::string patient_position(const std::array<double, 3>& place_um, const VolumeGrid& grid,
                             const std::string& orientation);

// "Axial" for the section perpendicular to the head-foot axis, "Coronal", "Sagittal".
const char* medical_name(char letter);

}  // namespace echolux
