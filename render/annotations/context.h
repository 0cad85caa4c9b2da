// What each annotation is made from, and where places of the volume lie in the picture.
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

// Depths from zero delay at the first and the last face of the volume, in their unit.
struct DepthAxis {
    double first, last;
    LengthUnit unit;

    // 0: the first face, 1: the last.
    double part(double depth) const { return (depth - first) / (last - first); }
};

class AnnotationContext {
  public:
    AnnotationContext(const View& view, const VolumeGrid& grid, const TransferFunction& function);

    const View& view;
    const VolumeGrid& grid;
    const TransferFunction& function;

    bool is_um() const;  // whether lengths are micrometres: else voxels
    const glm::dvec3& extent() const { return extent_; }

    DepthAxis depths() const;

    // From lengths from the middle of the first voxel to those from the volume's centre.
    glm::dvec3 from_centre(const glm::dvec3& place) const;

    // The part of a line between points from the centre that lies before the eye.
    std::optional<Segment> seen(const glm::dvec3& from, const glm::dvec3& to) const;

    // Which way an axis of the volume points in the picture (x right, y down): 1 long where it lies in its plane.
    glm::dvec2 direction(int axis) const;

    // Length of a pixel's side at the target's distance; 0 where the eye is at the target.
    double pixel_at_target() const { return camera_.length_per_pixel(); }

  private:
    glm::dvec3 extent_;
    glm::dvec3 edges_;
    Camera camera_;
};

void draw_frame(Sheet& sheet, const AnnotationContext& context);
void draw_scale_bar(Sheet& sheet, const AnnotationContext& context);
void draw_axes(Sheet& sheet, const AnnotationContext& context);
void draw_colour_bars(Sheet& sheet, const AnnotationContext& context, const std::optional<FlowScale>& flow,
                      const std::vector<ChannelLegend>& channels);

std::string name_of(const Channel& channel);  // of its file
void draw_labels(Sheet& sheet, const Channel& channel, double top);
double height_of_labels(const Sheet& sheet, const Channel& channel);
void draw_depth_ruler(Sheet& sheet, const AnnotationContext& context);
void draw_texts(Sheet& sheet, const AnnotationContext& context);
void draw_measures(Sheet& sheet, const AnnotationContext& context);
void draw_flow_streaks(Sheet& sheet, const AnnotationContext& context, const std::optional<FlowScale>& flow);

}  // namespace echolux
