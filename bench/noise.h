// How much noise is left in traced pictures: what a window shows some time after the view has come to rest, and how far
// pictures are apart.
#pragma once

#include <functional>

#include "render/renderer.h"

namespace echolux {

struct RestedPicture {
    Image image;
    std::int64_t paths = 0;  // per pixel
    double seconds = 0;      // after which it was seen
};

// The last picture that a window shows within `seconds` after the view has come to rest, or the final one. Each counts
// from when it has been read. `poll` is called now and then, and may throw to stop. Throws what Renderer::follow
// throws.
RestedPicture rested_picture(Renderer& renderer, const View& view, double seconds, const std::function<void()>& poll);

// Root of the mean square difference of colours, in steps of 8 bits. Of pictures of one size.
double rms_apart(const Image& a, const Image& b);

// Peak signal to noise ratio of a picture beside one that is right, in dB; infinite where they are the same.
double psnr_db(const Image& image, const Image& right);

}  // namespace echolux
