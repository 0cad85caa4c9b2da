// Stands in for tiff_reader.cpp and tiff_writer.cpp where Echolux is built without libtiff.
#include "compute/error.h"
#include "engine/io/tiff_file.h"

namespace echolux {
namespace {

[[noreturn]] void refuse(const std::string& where) {
    throw Error(ErrorCode::bad_setting, "this build knows no TIFF volumes", where,
                "use .nii.gz, or build with -DECHOLUX_TIFF=ON");
}

}  // namespace

std::unique_ptr<ImageReader> open_tiff(const std::filesystem::path& path) {
    refuse(path.string());
}

std::unique_ptr<ImageWriter> create_tiff(const std::filesystem::path&, const ImageHeader&, const ImageStorage&,
                                         const std::string& where) {
    refuse(where);
}

}  // namespace echolux
