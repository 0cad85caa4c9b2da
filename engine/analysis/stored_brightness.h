// Linear brightness of pictures whose quantity is unknown or wrong, from the statistics of speckle (docs/layers.md).
//
// The logarithm of speckle averaged over N looks has the standard deviation sqrt(psi'(N)) and the skewness
// psi''(N) / psi'(N)^1.5 at any brightness and gain (N = 1: 1.28 and -1.14; J. W. Goodman, Speckle Phenomena in Optics,
// 2007, section 4). The skewness does not change with a power law I^p, so it determines N, and the standard deviation
// then determines p. In a logarithmic picture the standard deviation does not grow with the mean, in any power law it
// is proportional to it. Both are measured in patches of 8 x 8 pixels without their plane.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/analysis/intensity.h"

namespace echolux {

// Range of a logarithmic picture of unknown limits, from its 1st to its 99.9th percentile.
inline constexpr double log_picture_db = 40;

// Quantity of the voxels. log: the logarithm of the intensity at an unknown scale; fourth_root: (power)^(1/4).
enum class StoredAs { automatic, db, intensity, amplitude, fourth_root, log };

// How voxels store brightness.
struct BrightnessLaw {
    StoredAs stored_as = StoredAs::intensity;  // as decided
    double exponent = 1;                       // of a power law that was undone
    double db_per_value = 1;                   // of a logarithmic picture
    double looks = 1;                          // averaged speckle patterns, 1 to 100
    std::string why{};                         // the decision and its reason, one line
};

struct Brightness : BrightnessLaw {
    std::vector<float> linear;        // [b_scan][a_scan][depth], 0 or more; the floor where nothing was recorded
    std::vector<std::uint8_t> known;  // 1: recorded. 0: NaN, a constant in 32 rows or more, a dead A-scan
    double floor = 0, top = 0;        // 5th and 99th percentile of patch means
    double range_db = 0;              // between the darkest and the brightest positive voxel, as decided first
    double speckle_sd = 0;            // of ln(intensity) in patches; 0 if there are too few
};

struct BrightnessOptions {
    StoredAs stored_as = StoredAs::automatic;
    bool is_8_bit = false;  // voxels are codes of 8 bits without a quantity: always taken as a logarithmic picture
    // Decisions made on other B-scans; 0: decide here.
    double exponent = 0, db_per_value = 0;
};

// Converts `values`, [b_scan][a_scan][depth] as stored.
Brightness brightness_of(const std::vector<float>& values, const Size3& size, const BrightnessOptions& options);

// Returns whether the logarithm varies as in single-look speckle, so that intensities are exponentially distributed.
bool is_single_look(const Brightness& brightness);

// Returns the dB per value of a logarithmic picture of 8 or 16 bits: the whole range of codes is taken as 45 dB. Throws
// Error{bad_setting} for other types.
double db_per_value(const VolumeGrid& grid);

// States what the voxels of a volume hold, where its file does not. fourth_root becomes intensity (f32), log becomes
// db. automatic changes nothing. Throws Error{bad_setting} for complex voxels, and as db_per_value() does.
void state_quantity(Volume& volume, StoredAs stored_as);

// Word of a quantity, as in `stored_as`.
const char* word_for(StoredAs stored_as);

}  // namespace echolux
