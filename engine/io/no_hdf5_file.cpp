// Stands in for hdf5_reader.cpp and hdf5_writer.cpp where Echolux is built without HDF5.
#include "compute/error.h"
#include "engine/io/hdf5_file.h"

namespace echolux {
namespace {

[[noreturn]] void refuse(const std::string& where) {
    throw Error(ErrorCode::bad_setting, "this build knows no HDF5 files", where,
                "use .nii.gz, or build with -DECHOLUX_HDF5=ON");
}

}  // namespace

std::unique_ptr<ImageReader> open_hdf5(const std::filesystem::path& path) {
    refuse(path.string());
}

std::unique_ptr<ImageReader> open_hdf5_dataset(const std::filesystem::path& path, const std::string&) {
    refuse(path.string());
}

std::unique_ptr<ImageWriter> create_hdf5(const std::filesystem::path&, const ImageHeader&, const ImageStorage&,
                                         const std::string& where) {
    refuse(where);
}

}  // namespace echolux
