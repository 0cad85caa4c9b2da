// Noise in path-traced pictures: the picture that a window shows some time after the view has come to rest, and the
// difference between pictures.
#pragma once

#include <functional>

#include "render/renderer.h"

namespace echolux {

struct RestedPicture {
    Image image;
    std::int64_t paths = 0;  // per pixel
    double seconds = 0;      // time after which it was shown
};

// Returns the last picture that a window shows within `seconds` after the view has come to rest, or the final picture
// if it is earlier. A picture counts once it has been read. `poll` is called periodically and may throw to stop. Throws
// like Renderer::follow.
RestedPicture rested_picture(Renderer& renderer, const View& view, double seconds, const std::function<void()>& poll);

// Root mean square difference of colours in 8-bit steps. Both pictures must have the same size.
double rms_apart(const Image& a, const Image& b);

// Peak signal-to-noise ratio in dB relative to the correct picture; infinite if they are equal.
double psnr_db(const Image& image, const Image& right);

}  // namespace echolux
