// Motion blur: averages pictures drawn while the shutter is open, in linear light rather than in sRGB codes.
#pragma once

#include <cstdint>
#include <vector>

#include "render/picture.h"
#include "render/view/view.h"

namespace echolux {

// Times of the pictures of one exposure, in movie frames from its beginning: the middles of equal parts. With a closed
// shutter only 0.
std::vector<double> moments_of_exposure(const Studio& studio);

// Settings of one of `pictures` pictures: together they have as many paths as one, with independent noise. Rays are not
// divided, because a picture needs the first few for smooth edges.
View part_of_exposure(View view, std::size_t number, std::size_t pictures);

// Sums light premultiplied by alpha. Pixels that are the same in all pictures keep their exact values.
class Exposure {
  public:
    void add(const Image& image);
    Image image() const;  // requires at least one picture

  private:
    Image last_;
    std::vector<float> sums_;
    std::int64_t count_ = 0;
};

}  // namespace echolux
