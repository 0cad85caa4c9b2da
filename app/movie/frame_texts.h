// What each picture of a series of PNG files says of itself, as stills do: it can be opened, and made again, alone.
#pragma once

#include <string>

#include "app/movie/movie_scene.h"
#include "app/session/picture_record.h"

namespace echolux {

class FrameTexts {
  public:
    // `job` outlives it. Reads the input for its fingerprint.
    FrameTexts(const MovieJob& job, const std::string& device);

    PictureTexts of(const View& view, const ShownVolume& shown) const;

  private:
    const MovieJob& job_;
    PictureRecord record_;
};

}  // namespace echolux
