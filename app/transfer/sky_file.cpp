#include "app/transfer/sky_file.h"

#include <utility>

#include "engine/io/png_file.h"
#include "render/sky_picture.h"

namespace echolux {

void load_sky(View& view) {
    view.sky_read.reset();
    if (view.sky_picture.empty()) return;
    const Picture picture = read_png(view.sky_picture);
    view.sky_read = std::make_shared<const SkyPicture>(
        sky_picture(picture.width, picture.height, picture.channels, picture.pixels));
}

}  // namespace echolux
