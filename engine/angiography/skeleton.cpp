// Thinning of maps and the length of the resulting lines.
#include <cmath>

#include "engine/angiography/flow_maps.h"

namespace echolux {
namespace {

// The eight neighbours of a sample, clockwise from the one above; 0 outside the map.
struct Ring {
    int at[8];

    Ring(const std::vector<std::uint8_t>& map, std::int64_t width, std::int64_t height, std::int64_t x,
         std::int64_t y) {
        constexpr int dx[] = {0, 1, 1, 1, 0, -1, -1, -1}, dy[] = {-1, -1, 0, 1, 1, 1, 0, -1};
        for (int i = 0; i < 8; ++i) {
            const std::int64_t u = x + dx[i], v = y + dy[i];
            const bool exists = u >= 0 && u < width && v >= 0 && v < height;
            at[i] = exists ? map[static_cast<std::size_t>(v * width + u)] : 0;
        }
    }
    int count() const {
        int sum = 0;
        for (const int one : at) sum += one;
        return sum;
    }
    // Number of runs of ones around the ring.
    int beginnings() const {
        int runs = 0;
        for (int i = 0; i < 8; ++i) runs += at[i] == 0 && at[(i + 1) % 8] == 1;
        return runs;
    }
    // Conditions of Zhang and Suen for removing a sample in pass 0 or 1.
    bool may_go(int pass) const {
        if (count() < 2 || count() > 6 || beginnings() != 1) return false;
        const int up = at[0], right = at[2], down = at[4], left = at[6];
        return pass == 0 ? up * right * down == 0 && right * down * left == 0
                         : up * right * left == 0 && up * down * left == 0;
    }
};

// Runs one pass over the map. Returns whether it removed any sample.
bool thin(std::vector<std::uint8_t>& map, std::int64_t width, std::int64_t height, int pass) {
    std::vector<std::size_t> gone;
    for (std::int64_t y = 0; y < height; ++y) {
        for (std::int64_t x = 0; x < width; ++x) {
            const auto place = static_cast<std::size_t>(y * width + x);
            if (map[place] == 1 && Ring(map, width, height, x, y).may_go(pass)) gone.push_back(place);
        }
    }
    for (const std::size_t place : gone) map[place] = 0;
    return !gone.empty();
}

}  // namespace

std::vector<std::uint8_t> skeleton_of(const std::vector<float>& map, std::int64_t width, std::int64_t height) {
    std::vector<std::uint8_t> skeleton;
    for (const float value : map) skeleton.push_back(value == 1 ? 1 : 0);
    for (bool changes = true; changes;) {
        const bool first = thin(skeleton, width, height, 0), second = thin(skeleton, width, height, 1);
        changes = first || second;
    }
    return skeleton;
}

double skeleton_length(const std::vector<std::uint8_t>& skeleton, std::int64_t width, double dx, double dy) {
    const auto height = static_cast<std::int64_t>(skeleton.size()) / width;
    const auto is_line = [&](std::int64_t x, std::int64_t y) {
        return x >= 0 && x < width && y < height && skeleton[static_cast<std::size_t>(y * width + x)] == 1;
    };
    double length = 0;
    for (std::int64_t y = 0; y < height; ++y) {
        for (std::int64_t x = 0; x < width; ++x) {
            if (!is_line(x, y)) continue;
            const bool right = is_line(x + 1, y), down = is_line(x, y + 1), left = is_line(x - 1, y);
            length += (right ? dx : 0) + (down ? dy : 0);
            // Skip diagonal steps where a corner already connects the two samples.
            const double diagonal = std::hypot(dx, dy);
            if (!right && !down && is_line(x + 1, y + 1)) length += diagonal;
            if (!left && !down && is_line(x - 1, y + 1)) length += diagonal;
        }
    }
    return length;
}

}  // namespace echolux
