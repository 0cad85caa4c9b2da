// Numbers of an en-face projection of angiography: vessel mask, vessel density, foveal avascular zone (FAZ) and fractal
// dimension. Images are [row][column]; NaN: not measured.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace echolux {

struct EnFaceImage {
    std::int64_t columns = 0, rows = 0;
    std::array<double, 2> pixel_mm{};  // along a row, along a column
    std::vector<float> values{};
};

// Returns the threshold of N. Otsu (IEEE Trans. SMC 9, 62, 1979) in a histogram of 256 bins between the smallest and
// the largest value: the centre of the bin that maximises the variance between both classes. NaN if all values are
// equal.
double otsu_threshold(const std::vector<float>& values);

// Returns 1 where a value is above `threshold`, or above the mean of the square of side `window_mm` around it, else 0.
std::vector<std::uint8_t> vessels_above(const EnFaceImage& image, double threshold);
std::vector<std::uint8_t> vessels_above_mean(const EnFaceImage& image, double window_mm);

// Returns the exact Euclidean distance in mm of each pixel to the nearest pixel that is not 0, and infinity without one
// (P. Felzenszwalb and D. Huttenlocher, Theory of Computing 8, 415, 2012).
std::vector<double> distance_to(const std::vector<std::uint8_t>& mask, const EnFaceImage& image);

// The avascular zone: all places within a disc of diameter `gap_mm` that touches no vessel and can move to the centre
// of the largest free disc. Narrower gaps between capillaries are closed. Holes are filled.
struct FovealZone {
    std::vector<std::uint8_t> mask;                                                // 1: in the zone
    std::vector<std::pair<std::array<double, 2>, std::array<double, 2>>> outline;  // segments, in pixels
    double area_mm2 = 0, perimeter_mm = 0;
    double circularity = 0;          // 4 pi area / perimeter^2, 1 for a disc
    std::array<double, 2> centre{};  // column, row
    bool touches_edge = false;       // it continues outside the image
};
// Searches the largest free disc with its centre within `reach_mm` of (column, row). nullopt if all discs are smaller
// than the gap.
std::optional<FovealZone> foveal_zone(const std::vector<std::uint8_t>& vessels, const EnFaceImage& image, double gap_mm,
                                      const std::array<double, 2>& around, double reach_mm);

// Number of boxes of side `pixels` that contain a vessel, and the slope of its logarithm (L. S. Liebovitch and T. Toth,
// Phys. Lett. A 141, 386, 1989).
struct BoxCounts {
    std::vector<std::int64_t> pixels, boxes;  // 1, factor, factor^2 ... up to a quarter of the shorter side
    double dimension = 0;                     // NaN with less than three sizes, or without vessels
    double r_squared = 0;
};
BoxCounts box_counts(const std::vector<std::uint8_t>& vessels, std::int64_t columns, std::int64_t rows,
                     std::int64_t factor = 2);

}  // namespace echolux
