// Renders pictures into host memory.
#include "app/open/show_opened.h"
#include "library/call.h"
#include "library/convert.h"
#include "library/render/view.h"
#include "render/renderer.h"

using namespace echolux;
using namespace echolux::library;

struct echolux_renderer : Handle<Kind::renderer> {
    explicit echolux_renderer(const DeviceChoice& choice) : renderer(choice) {}
    Renderer renderer;
};

namespace {

OpenedVolume opened(const echolux_volume& volume) {
    OpenedVolume one;
    one.volume = *volume.volume;  // a view may flatten the volume, so copy it
    one.geometry = volume.geometry;
    return one;
}

}  // namespace

echolux_status echolux_view_create(echolux_view** view, echolux_error* error) {
    return guarded(error, [&] {
        required(view, "view") = nullptr;
        *view = new echolux_view;
    });
}

echolux_status echolux_view_free(echolux_view* view) {
    return free_handle(view);
}

echolux_status echolux_view_settings(echolux_view* view, echolux_settings** settings, echolux_error* error) {
    return guarded(error, [&] { required(settings, "settings") = &live_handle(view, "view").settings; });
}

echolux_status echolux_renderer_create(const char* device, echolux_renderer** renderer, echolux_error* error) {
    return guarded(error, [&] {
        required(renderer, "renderer") = nullptr;
        DeviceChoice choice;
        if (device != nullptr) choice.name = device;
        choice.on_message = [](const std::string&) {};  // the library does not print
        *renderer = new echolux_renderer(choice);
    });
}

echolux_status echolux_renderer_free(echolux_renderer* renderer) {
    return free_handle(renderer);
}

echolux_status echolux_render(echolux_renderer* renderer, const echolux_volume* volume, const echolux_volume* flow,
                              const echolux_view* view, void* pixels, size_t bytes, echolux_error* error) {
    return guarded(error, [&] {
        Renderer& draws = live_handle(renderer, "renderer").renderer;
        View seen = live_handle(view, "view").view;
        OpenedVolume shown = opened(live_handle(volume, "volume"));
        const auto needed = static_cast<std::size_t>(seen.width * seen.height * 4);
        auto* to = &required(static_cast<std::byte*>(pixels), "pixels");
        // Exact sizes catch pictures of a view whose size was changed.
        if (bytes != needed)
            throw BadArgument("a picture takes " + std::to_string(needed), "bytes", "width * height * 4");
        if (shown.volume.grid.type == VoxelType::complex64) {
            throw Error(ErrorCode::bad_setting, "a picture cannot show complex voxels", "volume", "convert it");
        }
        std::optional<Volume> moving;
        if (flow != nullptr) moving = *live_handle(flow, "flow").volume;
        SilentProgress silent;
        show_opened(draws, shown, moving, seen, silent);
        // Flow of an earlier picture may still be on the device.
        if (!moving) draws.clear_flow();
        draws.render(seen, PictureBits::eight,
                     // Rows arrive from the top, in parts.
                     [&](const PictureRows& rows) { to = std::copy(rows.pixels.begin(), rows.pixels.end(), to); });
    });
}
