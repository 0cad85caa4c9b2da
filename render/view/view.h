// The view: all settings of a picture, combined from the parts in render/view/. All fields are keys of the section
// [view] and affect the picture only. The help texts in describe() document meaning, unit and range of each field.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/plan/describe.h"
#include "render/view/annotations.h"
#include "render/view/channels.h"
#include "render/view/curve.h"
#include "render/view/cut.h"
#include "render/view/flow.h"
#include "render/view/light.h"
#include "render/view/modes.h"
#include "render/view/pose.h"
#include "render/view/sampling.h"
#include "render/view/slices.h"
#include "render/view/studio.h"
#include "render/view/tracing.h"

namespace echolux {

// Stereo pictures: side by side in the halves of the picture, or as an anaglyph.
enum class Stereo { off, side_by_side, anaglyph };

enum class ViewMode { composite, mip, minip, average, attenuated_mip, depth_mip, isosurface, mida, points, traced };

// Settings of the picture itself.
struct Canvas {
    ViewMode mode = ViewMode::composite;
    std::vector<double> background{0.04, 0.045, 0.055};
    bool transparent = false;
    Stereo stereo = Stereo::off;
    std::int64_t width = 1024;
    std::int64_t height = 1024;
};

struct View : Canvas,
              Pose,
              Modes,
              Curve,
              Light,
              Cut,
              Slices,
              FlowOverlay,
              Channels,
              Annotations,
              Sampling,
              Tracing,
              Studio {};

template <>
const std::vector<Field<View>>& describe<View>();

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const Canvas& canvas);

// Return the number of rays or light paths per pixel of a saved picture, and of a picture at rest in a window.
std::int64_t passes_when_saved(const View& view);
std::int64_t passes_at_rest(const View& view);

// Returns the mode of a picture in motion. Traced pictures are ray cast until they rest.
ViewMode mode_while_cast(const View& view);

// Returns true if both views give the same picture. Ignores frame_ms.
bool is_same(const View& a, const View& b);

// Returns true if both views have the same light paths. Ignores settings that affect only the display of the traced
// light.
bool has_same_paths(const View& a, const View& b);

// Checks all fields and their combinations. Throws Error{bad_setting} that names the key.
void check_view(const View& view);

}  // namespace echolux
