// Stands in for the GenICam source where the program was built without Aravis.
#include "compute/error.h"
#include "engine/acquire/source_kinds.h"

namespace echolux {

std::unique_ptr<Source> open_genicam(const SourceWanted& wanted) {
    throw Error(ErrorCode::device, "this program was built without cameras", wanted.name,
                "install libaravis-dev and build again with ECHOLUX_GENICAM=ON");
}

std::vector<std::string> genicam_cameras() {
    return {};
}

}  // namespace echolux
