// A section through the centre of a simulated scene, for a small drawing of it. Lengths are relative to the field's
// width and to the displayed depth, from the upper left corner.
#pragma once

#include <string>
#include <vector>

namespace echolux {

struct SceneSection {
    struct Tube {
        double x, z, radius_x, radius_z;
        bool flows_away;  // away from zero delay
    };

    std::vector<std::vector<double>> boundaries;  // from the top; depth per column
    std::vector<double> brightness;               // brightness of the layers in between, relative to the brightest
    std::vector<Tube> tubes;
    std::vector<double> reflectors;  // depths
};

// Returns the section at y = 1/2 with the simulator's default settings, sampled in `columns`. Throws Error{bad_file,
// bad_setting}.
SceneSection scene_section(const std::string& scene, std::size_t columns);

}  // namespace echolux
