// Built without FFmpeg's headers: series of PNG files are all that there is.
#include "compute/error.h"
#include "engine/io/movie/encoder.h"

namespace echolux {

std::unique_ptr<MovieWriter> make_encoder(const std::filesystem::path& path, const char*, const MovieFormat&) {
    throw Error(ErrorCode::bad_setting, "this build makes no movies but series of pictures", path.string(),
                "name it frame_%04d.png, or build with ECHOLUX_MOVIES");
}

}  // namespace echolux
