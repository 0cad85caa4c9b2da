// Without libzip and pugixml: see thorlabs_oct.h.
#include "compute/error.h"
#include "engine/io/foreign/thorlabs_oct.h"

namespace echolux {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path) {
    throw Error(ErrorCode::bad_setting, "Thorlabs archives are not part of this build (ECHOLUX_THORLABS is off)",
                path.string(), "install libzip-dev and libpugixml-dev, and build again");
}

}  // namespace

std::unique_ptr<ImageReader> open_thorlabs(const std::filesystem::path& path) {
    refuse(path);
}

bool is_thorlabs_oct(const std::filesystem::path& path) {
    return path.extension() == ".oct";
}

void describe_thorlabs(const std::filesystem::path& path, Scan&) {
    refuse(path);
}

}  // namespace echolux
