// The scenes of scenes.json: a small volume with everything shown beside it, and a view. The file's first lines explain
// its keys.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

#include "rendering.h"

namespace echolux::test {

struct SceneCase {
    std::string name;
    nlohmann::json scene;
    nlohmann::json error;  // changes of the scene that a person would call wrong
    double tolerance = 0;  // of worst_difference()

    // Returns false for relations with other pictures that the scene excludes.
    bool has(const std::string& relation) const;
};

const std::vector<SceneCase>& scene_cases();
void PrintTo(const SceneCase& scene, std::ostream* out);

// A scene in memory.
struct SceneData {
    VolumeGrid grid, flow_grid;
    std::vector<std::byte> voxels, flow;  // flow is empty for scenes without it
    HeightMaps heights;
    std::vector<BScanPose> poses;
    View view;
};

SceneData scene_data(const nlohmann::json& scene);

// Sets everything but the volume and its flow.
void set_surroundings(Renderer& renderer, const SceneData& data);
// Sets everything and renders the picture.
Image picture_of(Renderer& renderer, const SceneData& data);

// Sets one field of a view from its value in JSON.
void set_field(View& view, const std::string& name, const nlohmann::json& value);

// Returns the largest RMS difference of the levels of all squares of 8 x 8 pixels, which shows small errors too, and
// infinity for other sizes.
double worst_difference(const Image& a, const Image& b);

}  // namespace echolux::test
