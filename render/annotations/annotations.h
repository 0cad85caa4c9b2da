// Annotations of a picture, computed from its view and the volume's grid. Pure functions: no device, no font.
#pragma once

#include <glm/vec3.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compute/types.h"
#include "render/annotations/sheet.h"
#include "render/camera.h"
#include "render/transfer_function.h"
#include "render/view/view.h"

namespace echolux {

// Scale of the flow colours.
struct FlowScale {
    double range;          // speed at the ends of the colours
    std::string unit;      // of the speed; empty if unknown
    bool has_sign = true;  // false: starts at 0 and uses one half of the colours
    double usual = 0;      // automatic range
    double threshold = 0;  // slower flow is hidden
};

// Legend of a channel. Labels have names instead of a function.
struct ChannelLegend {
    const Channel* channel;
    std::string unit;  // of the values
    std::optional<TransferFunction> function;
};

// Replaces automatic flow range and threshold of a view by their current values.
void fill_open_values(FlowOverlay& view, const FlowScale& scale);

// Returns the annotations of the whole picture, even if only a part of it is rendered. `view` must have been checked.
// `function` colours the volume, `flow` is the scale of the flow overlay.
Sheet annotations_of(const View& view, const VolumeGrid& grid, const TransferFunction& function,
                     const std::optional<FlowScale>& flow = {}, const std::vector<ChannelLegend>& channels = {});

// ---- Round numbers, and numbers with conventional units.

// Returns the largest number 1, 2 or 5 times a power of ten that is at most `limit`. `limit` must be positive.
double round_below(double limit);

struct Tick {
    double value;
    std::string text;  // with the decimals that the step needs
};

// Returns the multiples of a round step between low and high, at most `max_ticks` of them. The step is at least
// `finest`.
std::vector<Tick> ticks_between(double low, double high, int max_ticks, double finest = 0);

struct LengthUnit {
    double um;  // um per unit
    const char* name;
};

// Returns the unit from nm to cm in which such a length is usually written.
LengthUnit unit_for(double length_um);

// Formats a length: "350 nm", "20 µm", "1.5 mm", "2 cm", or "12 voxels" if lengths are not in micrometres.
std::string length_text(double length, bool is_um);

// Returns the distance in the unit of the points.
double distance_um(const glm::dvec3& from, const glm::dvec3& to);

// Returns the angle at the vertex in [0, 180] degrees; 0 if a leg has no length.
double angle_deg(const glm::dvec3& leg, const glm::dvec3& vertex, const glm::dvec3& other_leg);

// ---- Common input of all annotations, with the mapping from the volume to the picture.

struct Segment {
    glm::dvec2 from, to;  // pixels from the picture's top left corner
};

// Depths of the volume's first and last face below zero delay.
struct DepthAxis {
    double first, last;
    LengthUnit unit;

    // Returns the position of a depth: 0 at the first face, 1 at the last.
    double part(double depth) const { return (depth - first) / (last - first); }
};

// References its arguments, which must outlive it.
class AnnotationContext {
  public:
    AnnotationContext(const View& view, const VolumeGrid& grid, const TransferFunction& function);

    const View& view;
    const VolumeGrid& grid;
    const TransferFunction& function;

    bool is_um() const;  // true: lengths are in micrometres; false: in voxels
    const glm::dvec3& extent() const { return extent_; }

    DepthAxis depths() const;

    // Converts a position relative to the centre of the first voxel to one relative to the volume's centre.
    glm::dvec3 from_centre(const glm::dvec3& place) const;

    // Returns the projection of the part of a line in front of the eye. Points are relative to the volume's centre.
    std::optional<Segment> seen(const glm::dvec3& from, const glm::dvec3& to) const;

    // Returns the direction of an axis of the volume in the picture (x right, y down). The length is 1 for an axis in
    // the picture plane.
    glm::dvec2 direction(int axis) const;

    // Returns the edge of a pixel at the distance of the target; 0 if the eye is at the target.
    double pixel_at_target() const { return camera_.length_per_pixel(); }

  private:
    glm::dvec3 extent_;
    glm::dvec3 edges_;
    Camera camera_;
};

// ---- Streaks along vessels: short lines that move with the blood and are as long as its travel in a short time. Pure
// functions: positions depend on the view alone, so each picture of a movie can be drawn separately.

// A straight piece of a streak.
struct StreakPiece {
    glm::dvec3 from, to;    // as points of `flow_streaks`; blood flows from the first to the second
    double axial_mm_s = 0;  // along the beam, positive away from zero delay
};

// Returns the relative speed of the blood at a time: view.streak_pulse, repeated periodically and interpolated
// linearly; 1 for an empty pulse.
double pulse_at(const std::vector<double>& pulse, double time_s);

// Returns the integral of pulse_at() from 0 to `time_s`: the equivalent time at mean speed, in seconds.
double travelled_s(const std::vector<double>& pulse, double time_s);

// Returns the streaks at view.streak_time_s. `streaks` must have been checked.
std::vector<StreakPiece> streak_pieces(const Annotations& streaks);

}  // namespace echolux
