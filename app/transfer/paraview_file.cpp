#include "app/transfer/paraview_file.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/transfer/transfer_points.h"
#include "compute/error.h"
#include "engine/io/json_text.h"
#include "engine/io/regular_file.h"
#include "render/view/curve.h"

namespace echolux {
namespace {

using Json = nlohmann::json;

constexpr std::uintmax_t longest_json = 1 << 20;  // bytes
constexpr double opacities_per_depth = 100;       // ParaView's opacity unit per volume depth
constexpr double opaque = 0.999;                  // a finite length cannot be more opaque
constexpr int pieces = 16;                        // straight pieces that approximate the extinction curve

Json json_of_file(const std::filesystem::path& path) {
    constexpr const char* remedy = "give the JSON file that ParaView exports from its colour map editor";
    return parsed_json(whole_file(path, longest_json, "is not a colour map of at most 1 MiB", remedy), path.string(),
                       remedy);
}

// ParaView writes a list of maps, usually with one element.
const Json& first_map(const Json& json, const std::string& file) {
    const Json& map = json.is_array() && !json.empty() ? json.front() : json;
    if (map.is_object() && map.contains("RGBPoints")) return map;
    throw Error(ErrorCode::bad_setting, "has no colours", file + ", RGBPoints",
                "export a colour map with points; indexed colours are not supported");
}

std::vector<double> numbers_of(const Json& list, const std::string& where) {
    const bool is_list = list.is_array() && std::ranges::all_of(list, [](const Json& one) { return one.is_number(); });
    if (!is_list) throw Error(ErrorCode::bad_setting, "is not a list of numbers", where, "export the map again");
    return list.get<std::vector<double>>();
}

// Adds a point between each two where the opacity reaches the middle, as given by the midpoint.
std::vector<double> straight_opacities(const std::vector<double>& points, const std::string& where) {
    check_rows({points, 4, where}, 2);
    std::vector<double> straight;
    for (std::size_t i = 0; i < points.size(); i += 4) {
        straight.insert(straight.end(), {points[i], points[i + 1]});
        if (i + 4 == points.size()) break;
        const double middle = points[i + 2];
        if (points[i + 3] != 0 || middle <= 0 || middle >= 1) {
            throw Error(ErrorCode::bad_setting, "has a sharpness other than 0, or a midpoint outside 0 .. 1", where,
                        "in ParaView use straight lines for the opacity");
        }
        straight.insert(straight.end(),
                        {std::lerp(points[i], points[i + 4], middle), 0.5 * (points[i + 1] + points[i + 5])});
    }
    return straight;
}

// Opacity a over a length l corresponds to extinction -ln(1 - a) / l, so straight lines in opacity become curves in
// extinction.
std::vector<double> extinctions_of(const std::vector<double>& opacities, const std::string& where) {
    const PointList list{opacities, 2, where};
    std::vector<double> extinctions;
    const auto add = [&](double value, double opacity) {
        extinctions.insert(extinctions.end(),
                           {value, -opacities_per_depth * std::log(1 - std::clamp(opacity, 0.0, opaque))});
    };
    for (std::size_t i = 0; i + 1 < list.size(); ++i) {
        const double from = opacities[2 * i + 1];
        const double to = opacities[2 * i + 3];
        const int count = from == to ? 1 : pieces;
        for (int piece = 0; piece < count; ++piece) {
            const double part = static_cast<double>(piece) / count;
            add(std::lerp(list.value(i), list.value(i + 1), part), std::lerp(from, to, part));
        }
    }
    add(opacities[opacities.size() - 2], opacities.back());
    return extinctions;
}

std::vector<double> gray_extinctions(double first, double last) {
    std::vector<double> extinctions;
    for (const TransferNode& node : preset_curve("gray", {}).nodes) {
        extinctions.insert(extinctions.end(), {std::lerp(first, last, node.value), node.extinction});
    }
    return extinctions;
}

bool spans(const TransferCurve& curve, double low, double high) {
    return curve.nodes.front().value == low && curve.nodes.back().value == high;
}

}  // namespace

TransferCurve read_paraview(const std::filesystem::path& path) {
    const std::string file = path.string();
    const Json json = json_of_file(path);
    const Json& map = first_map(json, file);
    const std::vector<double> colours = numbers_of(map["RGBPoints"], file + ", RGBPoints");
    const PointList colour_list{colours, 4, file + ", RGBPoints"};
    check_rows(colour_list, 2);
    const std::string where = file + ", Points";
    const std::vector<double> extinctions =
        map.contains("Points") ? extinctions_of(straight_opacities(numbers_of(map["Points"], where), where), where)
                               : gray_extinctions(colour_list.value(0), colour_list.value(colour_list.size() - 1));
    TransferCurve curve{.nodes = joined(colour_list, {extinctions, 2, where})};
    curve.is_relative = spans(curve, 0, 1) || spans(curve, -1, 1);
    return curve;
}

}  // namespace echolux
