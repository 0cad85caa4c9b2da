// What is set up around the volume: the sky's picture, background, ground, cut faces, outlines, frame and title; and
// the shutter of movies.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compute/plan/describe.h"

namespace echolux {

struct SkyPicture;

// What is shown of faces that were cut open: the volume behind them, or a section in gray or in the curve's colours.
enum class Caps { off, gray, curve };

struct Studio {
    std::string sky_picture;
    double sky_turn_deg = 0;
    std::vector<double> background_lower_colour;  // empty: as above
    double ground_shadow = 0;
    double ground_gap_um = 0;
    Caps caps = Caps::off;
    double outline = 0;
    double outline_sharpness = 4;
    std::vector<double> outline_colour{0, 0, 0};
    std::string title;
    double picture_frame = 0;  // of the shorter side
    double shutter = 0;        // part of the time between two pictures of a movie
    std::int64_t shutter_pictures = 16;

    // What `sky_picture` names, once it was read.
    std::shared_ptr<const SkyPicture> sky_read;
};

template <>
const std::vector<Field<Studio>>& describe<Studio>();

// What its fields' ranges do not say. Throws Error{bad_setting} naming the key.
void check_part(const Studio& studio);

}  // namespace echolux
