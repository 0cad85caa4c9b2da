#include "engine/simulate/scene_section.h"

#include <algorithm>

#include "engine/simulate/scene.h"
#include "engine/simulate/spectrometer.h"

namespace echolux {

SceneSection scene_section(const std::string& scene, std::size_t columns) {
    Simulation simulation;
    simulation.scene = scene;
    simulation = with_scene_defaults(simulation);
    const Scenery scenery(simulation, Spectrometer(simulation).z_max_um() / simulation.refractive_index);
    const double y = 0.5 * scenery.length_um, deepest = scenery.shown_to_um, width = scenery.width_um;
    SceneSection section;
    for (const Boundary& boundary : scenery.boundaries) {
        std::vector<double>& depths = section.boundaries.emplace_back();
        for (std::size_t i = 0; i < columns; ++i) {
            const double x = width * (static_cast<double>(i) + 0.5) / static_cast<double>(columns);
            depths.push_back(scenery.height_um(boundary, x, y) / deepest);
        }
    }
    double brightest = 0;
    for (const Layer& layer : scenery.layers) brightest = std::max(brightest, layer.brightness);
    for (const Layer& layer : scenery.layers)
        section.brightness.push_back(brightest > 0 ? layer.brightness / brightest : 0);
    for (const Tube& tube : scenery.tubes) {
        section.tubes.push_back({scenery.x_um(tube, y) / width, scenery.z_um(tube, y) / deepest, tube.radius_um / width,
                                 tube.radius_um / deepest, tube.peak_mm_s * scenery.z_slope(tube, y) > 0});
    }
    for (const Reflector& reflector : scenery.reflectors) section.reflectors.push_back(reflector.depth_um / deepest);
    return section;
}

}  // namespace echolux
