// What one looks at and how: camera, mode, transfer function, light, picture. The [view] section of settings; every
// field acts on the picture only. Described in view.cpp, nowhere else.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/describe.h"

namespace echolux {

enum class ViewMode { composite, mip, isosurface };
enum class Projection { perspective, orthographic };
enum class Preset { automatic, oct_gray, tissue, retina, angiogram, gray };

// An end of the range of values that is left at its extreme is chosen by the preset or from the volume.
constexpr double lowest_value = -1e12;
constexpr double highest_value = 1e12;

struct View {
    ViewMode mode = ViewMode::composite;
    double azimuth_deg = 35;
    double elevation_deg = 25;
    double roll_deg = 0;
    double zoom = 1;
    Projection projection = Projection::perspective;
    double fov_deg = 30;

    Preset preset = Preset::automatic;
    double low = lowest_value;
    double high = highest_value;
    double opacity = 1;
    double isovalue = 0;
    bool lighting = true;
    double lighting_strength = 0.8;

    std::vector<double> background{0.04, 0.045, 0.055};
    bool transparent = false;
    bool box = true;
    std::int64_t width = 1024;
    std::int64_t height = 1024;
    double step = 1;
};

template <>
const std::vector<Field<View>>& describe<View>();

// Throws Error{bad_setting} naming the key that cannot work.
void check_view(const View& view);

}  // namespace echolux
