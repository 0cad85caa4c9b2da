// Stands in for the folder zarr/ where Echolux is built without Blosc and Zstandard.
#include "compute/error.h"
#include "engine/io/zarr/ome_zarr.h"

namespace echolux {
namespace {

[[noreturn]] void refuse(const std::string& where) {
    throw Error(ErrorCode::bad_setting, "this build knows no OME-Zarr folders", where,
                "use .nii.gz, or build with -DECHOLUX_ZARR=ON");
}

}  // namespace

bool is_zarr(const std::filesystem::path&) {
    return false;
}

std::unique_ptr<ImageReader> open_ome_zarr(const std::filesystem::path& path) {
    refuse(path.string());
}

std::unique_ptr<ImageWriter> create_ome_zarr(const std::filesystem::path&, const ImageHeader&, const ImageStorage&,
                                             const std::string& where) {
    refuse(where);
}

}  // namespace echolux
