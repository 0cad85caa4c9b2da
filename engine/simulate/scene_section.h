// A section across the middle of a simulated scene, as a small drawing of it needs it. Lengths are parts of the field's
// width and of the depth that is shown, from the upper left corner.
#pragma once

#include <string>
#include <vector>

namespace echolux {

struct SceneSection {
    struct Tube {
        double x, z, radius_x, radius_z;
        bool flows_away;  // from zero delay
    };

    std::vector<std::vector<double>> boundaries;  // from above; the depth of each column
    std::vector<double> brightness;               // of the layers between them; the brightest one is 1
    std::vector<Tube> tubes;
    std::vector<double> reflectors;  // depths
};

// With the settings that the simulator begins with. Throws Error{bad_file, bad_setting}.
SceneSection scene_section(const std::string& scene, std::size_t columns);

}  // namespace echolux
