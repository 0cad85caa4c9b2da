// Stands in for itk_image.cpp where Echolux is built without ITK: such files are refused, saying what can be used.
#include "compute/error.h"
#include "engine/io/itk_image.h"

namespace echolux {
namespace {

[[noreturn]] void refuse(const std::string& where) {
    throw Error(ErrorCode::bad_setting, "this build knows no NRRD, TIFF or MetaImage files", where,
                "use .nii or .nii.gz, or build with -DECHOLUX_ITK=ON");
}

}  // namespace

ImageHeader read_itk(const std::filesystem::path& path, ItkFormat, std::vector<std::byte>&) {
    refuse(path.string());
}

void write_itk(const std::filesystem::path&, ItkFormat, const ImageHeader&, const std::vector<std::byte>&,
               const std::string& where) {
    refuse(where);
}

}  // namespace echolux
