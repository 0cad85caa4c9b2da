// Picture functions of a build without the renderer: all return ECHOLUX_UNSUPPORTED.
#include "library/call.h"

using namespace echolux;
using namespace echolux::library;

namespace {

echolux_status refuse(echolux_error* error) {
    return guarded(error, [] {
        throw Unsupported("this build has no renderer", "render", "build Echolux with ECHOLUX_RENDER=ON");
    });
}

}  // namespace

echolux_status echolux_view_create(echolux_view**, echolux_error* error) {
    return refuse(error);
}

echolux_status echolux_view_free(echolux_view*) {
    return ECHOLUX_OK;  // no view or renderer can exist
}

echolux_status echolux_view_settings(echolux_view*, echolux_settings**, echolux_error* error) {
    return refuse(error);
}

echolux_status echolux_renderer_create(const char*, echolux_renderer**, echolux_error* error) {
    return refuse(error);
}

echolux_status echolux_renderer_free(echolux_renderer*) {
    return ECHOLUX_OK;
}

echolux_status echolux_render(echolux_renderer*, const echolux_volume*, const echolux_volume*, const echolux_view*,
                              void*, size_t, echolux_error* error) {
    return refuse(error);
}

echolux_status echolux_write_movie(const echolux_volume*, const char*, const echolux_view*, const echolux_movie*,
                                   const char*, echolux_error* error) {
    return refuse(error);
}
