// Common input of all annotations, with the mapping from the volume to the picture.
#pragma once

#include <optional>

#include "compute/types.h"
#include "render/annotations/annotations.h"
#include "render/annotations/quantities.h"
#include "render/annotations/sheet.h"
#include "render/camera.h"
#include "render/transfer_function.h"
#include "render/view/view.h"

namespace echolux {

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

// Each draws one kind of annotation. Implemented in the file of the same name.
void draw_frame(Sheet& sheet, const AnnotationContext& context);
void draw_scale_bar(Sheet& sheet, const AnnotationContext& context);
void draw_axes(Sheet& sheet, const AnnotationContext& context);
void draw_colour_bars(Sheet& sheet, const AnnotationContext& context, const std::optional<FlowScale>& flow,
                      const std::vector<ChannelLegend>& channels);

std::string name_of(const Channel& channel);  // stem of the file name
// `top` is the upper end of the list in pixels.
void draw_labels(Sheet& sheet, const Channel& channel, double top);
double height_of_labels(const Sheet& sheet, const Channel& channel);
void draw_depth_ruler(Sheet& sheet, const AnnotationContext& context);
void draw_texts(Sheet& sheet, const AnnotationContext& context);
void draw_measures(Sheet& sheet, const AnnotationContext& context);
void draw_flow_streaks(Sheet& sheet, const AnnotationContext& context, const std::optional<FlowScale>& flow);

}  // namespace echolux
