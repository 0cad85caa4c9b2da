#include "scenes.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "channel_cases.h"
#include "compute/steps/depth.h"
#include "render/sky_picture.h"

namespace echolux::test {
namespace {

using nlohmann::json;
using Sizes = std::array<std::int64_t, 3>;  // along depth, A-scans, B-scans

double hollow_sphere(double z, double a, double b, double radius) {
    return std::abs(std::hypot(z, a, b) - radius);
}

// Layers below a wavy surface, with speckle and a dark vessel.
double tissue(std::int64_t z, std::int64_t a, std::int64_t b) {
    const double x = static_cast<double>(a), y = static_cast<double>(b);
    const double below = static_cast<double>(z) - 10 - 3 * std::sin(0.15 * x) - 2 * std::cos(0.2 * y);
    if (below < 0) return 4 * noise(z, a, b);
    if (std::hypot(x - 24 - 8 * std::sin(0.1 * y), below - 14) < 5) return 6 * noise(z, a, b);
    const double level = below < 3 ? 36 : below < 10 ? 20 : below < 13 ? 28 : 24;
    return std::max(0.0, level - 0.4 * below + 6 * (noise(z, a, b) - 0.5));
}

// A block from depth 20 on, with a shaft of 8 x 8 voxels down to depth 40.
double pit(std::int64_t z, std::int64_t a, std::int64_t b) {
    return z < 20 || (std::abs(a - 24) < 4 && std::abs(b - 24) < 4 && z < 40) ? 0 : 38;
}

// A ball of radius 7 above a plate at depth 38.
double ball_and_plate(std::int64_t z, std::int64_t a, std::int64_t b) {
    const double x = static_cast<double>(a) - 23.5, y = static_cast<double>(b) - 23.5;
    return z >= 38 || std::hypot(static_cast<double>(z) - 20, x, y) < 7 ? 38 : 0;
}

// A smooth pattern in all directions, for sections.
double waves(std::int64_t z, std::int64_t a, std::int64_t b) {
    return 20 + 6 * std::sin(0.3 * static_cast<double>(z)) + 6 * std::sin(0.25 * static_cast<double>(a)) +
           6 * std::sin(0.2 * static_cast<double>(b));
}

// Boxes with hard edges.
double boxes(std::int64_t z, std::int64_t a, std::int64_t b) {
    return (a / 9 + b / 8 + z / 10) % 3 == 0 ? 36 : 0;
}

double shell(std::int64_t z, std::int64_t a, std::int64_t b) {
    return std::max(0.0, 38 - 9 * hollow_sphere(static_cast<double>(z) - 23.5, static_cast<double>(a) - 23.5,
                                                static_cast<double>(b) - 23.5, 15));
}

ValueAt values_named(const std::string& name, const VolumeGrid& grid) {
    if (name == "tissue") return tissue;
    if (name == "ball") return ball(grid, 0.48 * static_cast<double>(grid.depth));
    if (name == "pit") return pit;
    if (name == "ball and plate") return ball_and_plate;
    if (name == "waves") return waves;
    if (name == "boxes") return boxes;
    if (name == "shell") return shell;
    if (name == "empty") return [](auto...) { return 0.0; };
    throw std::invalid_argument("scenes.json: no volume is called " + name);
}

VolumeGrid grid_of(const json& scene) {
    const auto [depth, a_scans, b_scans] = scene.value("size", Sizes{48, 48, 48});
    const std::string type = scene.value("type", "f32");
    VolumeGrid grid = db_grid(depth, a_scans, b_scans,
                              type == "u8"    ? VoxelType::u8
                              : type == "u16" ? VoxelType::u16
                                              : VoxelType::f32);
    grid.spacing_um = scene.value("spacing", std::array<double, 3>{1, 1, 1});
    return grid;
}

// Two vessels along the B-scans: flow away from zero delay on the left, towards it on the right; unknown outside. The
// phase of phasors is the velocity over the max velocity, 10 mm/s.
double velocity(std::int64_t z, std::int64_t a, std::int64_t b) {
    const auto inside = [&](double middle) {
        const double bend = 3 * std::sin(0.15 * static_cast<double>(b));
        return 1 - std::pow(std::hypot(static_cast<double>(a) - middle - bend, static_cast<double>(z) - 22) / 7, 2);
    };
    return inside(14) > 0 ? 9 * inside(14) : inside(33) > 0 ? -9 * inside(33) : 0;
}

void set_flow(SceneData& data, const json& scene) {
    const std::string name = scene.value("flow", "none");
    if (name == "none") return;
    data.flow_grid = data.grid;
    data.flow_grid.type = name == "phasors" ? VoxelType::phasor8 : VoxelType::f16;
    data.flow_grid.scale = 1;
    data.flow_grid.offset = 0;
    data.flow_grid.quantity = "doppler";
    data.flow_grid.unit = "mm/s";
    const VolumeGrid& grid = data.grid;
    for (std::int64_t b = 0; b < grid.b_scans; ++b) {
        for (std::int64_t a = 0; a < grid.a_scans; ++a) {
            for (std::int64_t z = 0; z < grid.depth; ++z) {
                const double speed = name == "reversed" ? -velocity(z, a, b) : velocity(z, a, b);
                if (name == "phasors") {
                    const double phase = 0.1 * std::numbers::pi * speed, length = speed == 0 ? 0 : 127;
                    data.flow.push_back(static_cast<std::byte>(std::lround(length * std::cos(phase))));
                    data.flow.push_back(static_cast<std::byte>(std::lround(length * std::sin(phase))));
                } else {
                    const unsigned half = Half{}(static_cast<float>(speed));
                    data.flow.push_back(static_cast<std::byte>(half & 255U));
                    data.flow.push_back(static_cast<std::byte>(half >> 8U));
                }
            }
        }
    }
}

void set_heights(SceneData& data, const json& scene) {
    if (!scene.value("heights", false)) return;
    data.heights.a_scans = data.grid.a_scans;
    data.heights.b_scans = data.grid.b_scans;
    for (std::int64_t b = 0; b < data.grid.b_scans; ++b) {
        for (std::int64_t a = 0; a < data.grid.a_scans; ++a) {
            data.heights.top_um.push_back(static_cast<float>(12 + 0.2 * static_cast<double>(a)));
            data.heights.bottom_um.push_back(static_cast<float>(44 - 0.2 * static_cast<double>(b)));
        }
    }
}

// Each channel has a volume and settings of the view without their prefix.
void set_channels(SceneData& data, const json& scene) {
    std::size_t place = 0;
    for (const json& one : scene.value("channels", json::array())) {
        Channel& channel = data.view.channels[place];
        const std::string volume = one.at("volume");
        if (volume == "labels") {
            const auto label = [](std::int64_t z, std::int64_t a, std::int64_t b) {
                return tissue(z, a, b) > 26 ? 1.0 : shell(z, a, b) > 26 ? 2.0 : 0.0;
            };
            channel = label_channel(data.grid, label, {{1, "RNFL", {1, 0.3, 0}, 120}, {2, "shell", {0, 0.6, 1}, 120}});
        } else {
            channel.volume = channel_voxels(data.grid, values_named(volume, data.grid));
            channel.low = 0;
            channel.high = 40;
        }
        for (const auto& [key, value] : one.items()) {
            if (key != "volume") set_field(data.view, channel_key(place, key), value);
        }
        ++place;
    }
}

// A blue sky with a bright window.
void set_sky(SceneData& data, const json& scene) {
    if (!scene.value("sky", false)) return;
    constexpr std::int64_t columns = 32, rows = 16;
    std::vector<std::uint8_t> codes;
    for (std::int64_t i = 0; i < columns * rows; ++i) {
        const bool is_window = i % columns >= 6 && i % columns < 11 && i / columns >= 3 && i / columns < 6;
        if (is_window)
            codes.insert(codes.end(), {255, 240, 200});
        else
            codes.insert(codes.end(), {20, 40, 90});
    }
    data.view.sky_picture = "window.png";
    data.view.sky_read = std::make_shared<const SkyPicture>(sky_picture(columns, rows, 3, codes));
}

}  // namespace

bool SceneCase::has(const std::string& relation) const {
    const json left_out = scene.value("without", json::array());
    return std::find(left_out.begin(), left_out.end(), relation) == left_out.end();
}

const std::vector<SceneCase>& scene_cases() {
    static const std::vector<SceneCase> all = [] {
        std::ifstream file(ECHOLUX_TEST_DIR "/scenes.json");
        const json content = json::parse(file, nullptr, true, true);
        std::vector<SceneCase> cases;
        for (const json& one : content.at("scenes")) {
            json scene = content.at("defaults");
            scene.merge_patch(one);
            cases.push_back({scene.at("name"), scene, scene.at("error"), scene.at("tolerance")});
        }
        return cases;
    }();
    return all;
}

void PrintTo(const SceneCase& scene, std::ostream* out) {
    *out << scene.name;
}

void set_field(View& view, const std::string& name, const json& value) {
    for (const Field<View>& field : describe<View>()) {
        if (field.name != name) continue;
        const Value like = field.get(view);
        const Value given = value.is_boolean()          ? Value(value.get<bool>())
                            : value.is_string()         ? Value(value.get<std::string>())
                            : value.is_array()          ? Value(value.get<std::vector<double>>())
                            : value.is_number_integer() ? Value(value.get<std::int64_t>())
                                                        : Value(value.get<double>());
        field.set(view, checked(field, like, given, "view." + name));
        return;
    }
    throw std::invalid_argument("view." + name + " is not a setting");
}

SceneData scene_data(const json& scene) {
    SceneData data;
    data.grid = grid_of(scene);
    data.voxels = voxels(data.grid, values_named(scene.at("volume"), data.grid));
    set_flow(data, scene);
    set_heights(data, scene);
    for (const json& pose : scene.value("poses", json::array())) {
        data.poses.push_back({pose.at(0), pose.at(1), pose.at(2), pose.at(3)});
    }
    for (const auto& [key, value] : scene.at("view").items()) set_field(data.view, key, value);
    set_channels(data, scene);
    set_sky(data, scene);
    return data;
}

void set_surroundings(Renderer& renderer, const SceneData& data) {
    renderer.set_heights(data.heights);
    renderer.set_poses(data.poses);
}

Image picture_of(Renderer& renderer, const SceneData& data) {
    renderer.set_volume(data.grid, data.voxels.data());
    if (!data.flow.empty()) renderer.set_flow(data.flow_grid, data.flow.data());
    set_surroundings(renderer, data);
    return renderer.render(data.view);
}

double worst_difference(const Image& a, const Image& b) {
    constexpr std::int64_t edge = 8;
    if (a.width != b.width || a.height != b.height) return std::numeric_limits<double>::infinity();
    double worst = 0;
    for (std::int64_t top = 0; top + edge <= a.height; top += edge) {
        for (std::int64_t left = 0; left + edge <= a.width; left += edge) {
            double squares = 0;
            for (std::int64_t i = 0; i < edge * edge * 4; ++i) {
                const auto at = index(4 * ((top + i / (4 * edge)) * a.width + left) + i % (4 * edge));
                squares += std::pow(static_cast<double>(a.pixels[at]) - b.pixels[at], 2);
            }
            worst = std::max(worst, std::sqrt(squares / (edge * edge * 4)));
        }
    }
    return worst;
}

}  // namespace echolux::test
