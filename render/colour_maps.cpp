#include "render/colour_maps.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <glm/common.hpp>
#include <iterator>
#include <sstream>
#include <string>

#include "assets/assets.h"
#include "compute/error.h"

namespace echolux {
namespace {

constexpr std::size_t most_colours = 4096;
constexpr const char* form =
    "write one colour per line as red, green, blue in hexadecimal, e.g. 440154; comments begin with #";

glm::dvec3 parsed_colour(const std::string& line, const std::string& where) {
    std::uint32_t packed = 0;
    const char* end = line.data() + line.size();
    const auto [stopped, problem] = std::from_chars(line.data(), end, packed, 16);
    if (line.size() == 6 && stopped == end && problem == std::errc()) {
        return glm::dvec3(packed >> 16 & 255, packed >> 8 & 255, packed & 255) / 255.0;
    }
    throw Error(ErrorCode::bad_file, "expected a colour of six hexadecimal digits, got \"" + line.substr(0, 40) + "\"",
                where, form);
}

// Skips empty lines and comments. Stops when there are too many colours.
ColourMap parsed_map(std::istream& text, const std::string& file) {
    ColourMap map;
    std::size_t number = 0;
    for (std::string line; std::getline(text, line) && map.size() <= most_colours;) {
        ++number;
        line.erase(line.find_last_not_of(" \t\r") + 1);
        if (!line.empty() && line.front() != '#') {
            map.push_back(parsed_colour(line, file + " line " + std::to_string(number)));
        }
    }
    if (map.size() >= 2 && map.size() <= most_colours) return map;
    throw Error(ErrorCode::bad_file, "is not a colour map of 2 to 4096 colours", file, form);
}

ColourMap shipped_map(std::string_view name) {
    std::istringstream text{std::string(shipped_text(colour_map_files, name))};
    return parsed_map(text, std::string(name));
}

}  // namespace

ColourMap colour_map(std::string_view name) {
    if (const std::filesystem::path file = own_file(colour_map_files, name); !file.empty()) {
        std::ifstream text(file, std::ios::binary);
        return parsed_map(text, file.string());
    }
    if (!shipped_text(colour_map_files, name).empty()) return shipped_map(name);
    throw Error(ErrorCode::bad_setting, "there is no colour map '" + std::string(name) + "'", "view.colour_map",
                "`presets` lists them");
}

const ColourMap& flow_map() {
    static const ColourMap map = shipped_map("flow");
    return map;
}

glm::dvec3 colour_at(const ColourMap& map, double level) {
    const double place = std::clamp(level, 0.0, 1.0) * static_cast<double>(map.size() - 1);
    const std::size_t before = std::min(static_cast<std::size_t>(place), map.size() - 2);
    return glm::mix(map[before], map[before + 1], place - static_cast<double>(before));
}

}  // namespace echolux
