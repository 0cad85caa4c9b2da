// Settings of the surroundings: sky picture, background, ground, cut faces, outlines, frame and title, and the shutter
// of movies.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compute/plan/described.h"

namespace echolux {

struct SkyPicture;

// Appearance of cut faces: off shows the volume behind them, gray and curve a section in these colours.
enum class Caps { off, gray, curve };

struct Studio {
    std::string sky_picture;
    double sky_turn_deg = 0;
    std::vector<double> background_lower_colour;  // empty: uniform background
    double ground_shadow = 0;
    double ground_gap_um = 0;  // distance of the ground below the volume
    Caps caps = Caps::off;
    double outline = 0;
    double outline_sharpness = 4;
    std::vector<double> outline_colour{0, 0, 0};
    std::string title;
    double picture_frame = 0;  // as a fraction of the shorter side
    double shutter = 0;        // exposure as a fraction of the frame interval
    std::int64_t shutter_pictures = 16;

    // Content of the file `sky_picture`.
    std::shared_ptr<const SkyPicture> sky_read;
};

template <>
const std::vector<Field<Studio>>& describe<Studio>();

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const Studio& studio);

}  // namespace echolux
