// What one looks at and how: the sum of its parts, each described in its own file below render/view/ and all of them
// keys of the section [view]. Every field acts on the picture only.
#pragma once

#include <cstdint>
#include <vector>

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

// What two eyes see, for those who look with both; each in half of the picture, or in colours of their own.
enum class Stereo { off, side_by_side, anaglyph };

enum class ViewMode { composite, mip, minip, average, attenuated_mip, depth_mip, isosurface, mida, points, traced };

// The picture itself.
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

// What its fields' ranges do not say. Throws Error{bad_setting} naming the key.
void check_part(const Canvas& canvas);

// Rays of a pixel, or paths of light: of a picture that is saved, and of one in a window at rest.
std::int64_t passes_when_saved(const View& view);
std::int64_t passes_at_rest(const View& view);

// Of a traced picture, how it is seen while it moves.
ViewMode mode_while_cast(const View& view);

// Whether the same is seen, however long a frame may take.
bool is_same(const View& a, const View& b);

// Of traced pictures, whether they are made of the same paths, whatever of their light the display shows.
bool has_same_paths(const View& a, const View& b);

// Throws Error{bad_setting} naming the key that cannot work.
void check_view(const View& view);

}  // namespace echolux
