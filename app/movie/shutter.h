// Motion blur: the mean of the pictures that are drawn while the shutter is open, of their light and not of its codes.
#pragma once

#include <cstdint>
#include <vector>

#include "render/picture.h"
#include "render/view/view.h"

namespace echolux {

// Moments of the pictures of one exposure, in pictures of the movie after it begins: the middles of equal parts.
// One, 0, where the shutter is shut at once.
std::vector<double> moments_of_exposure(const Studio& studio);

// One of so many pictures: together they have the paths of one, and noise of their own. Rays are not shared: the first
// few do not smooth edges yet.
View part_of_exposure(View view, std::size_t number, std::size_t pictures);

// Sums light, premultiplied by its alpha, so that what is the same in all pictures stays as it is, bit for bit.
class Exposure {
  public:
    void add(const Image& image);
    Image image() const;  // of at least one

  private:
    Image last_;
    std::vector<float> sums_;
    std::int64_t count_ = 0;
};

}  // namespace echolux
