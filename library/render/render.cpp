// Views, and pictures and movies rendered into host memory and files.
#include "app/movie/movie_job.h"
#include "app/open/show_opened.h"
#include "app/transfer/transfer_file.h"
#include "compute/indexing.h"
#include "library/call.h"
#include "render/renderer.h"

using namespace echolux;
using namespace echolux::library;

// ---- View: the settings of section view. Files named by settings are read when they are set.

namespace {

void read_files(View& view) {
    if (view.transfer.empty()) view.transfer_curve.reset();
    load_transfer(view);
    load_channels(view);
}

}  // namespace

struct echolux_view : Handle<Kind::view> {
    echolux_view() {
        settings.settings.bind("view", view);
        settings.change = [this](const std::string& key, const std::function<void()>& set) {
            const View before = view;
            try {
                set();
                // Read files only if one of their settings has changed: a view is often set many times per second.
                if (key == "view.transfer" || key == "view.preset" || key == "view.sky_picture" ||
                    key.starts_with("view.channel_"))
                    read_files(view);
                check_view(view);
            } catch (...) {
                view = before;
                throw;
            }
        };
        settings.finish();
    }

    View view;
    echolux_settings settings;
};

// ---- Pictures

struct echolux_renderer : Handle<Kind::renderer> {
    explicit echolux_renderer(const GpuDevice& choice) : renderer(choice) {}
    Renderer renderer;
};

static OpenedVolume opened(const echolux_volume& volume) {
    OpenedVolume one;
    one.volume = *volume.volume;  // a view may flatten the volume, so copy it
    one.geometry = volume.geometry;
    return one;
}

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
    return guarded(error, [&] { required(settings, "settings") = &checked_handle(view, "view").settings; });
}

echolux_status echolux_renderer_create(const char* device, echolux_renderer** renderer, echolux_error* error) {
    return guarded(error, [&] {
        required(renderer, "renderer") = nullptr;
        GpuDevice choice;
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
        Renderer& draws = checked_handle(renderer, "renderer").renderer;
        View seen = checked_handle(view, "view").view;
        OpenedVolume shown = opened(checked_handle(volume, "volume"));
        const auto needed = index(seen.width * seen.height * 4);
        auto* to = &required(static_cast<std::byte*>(pixels), "pixels");
        // Exact sizes catch pictures of a view whose size was changed.
        if (bytes != needed)
            throw BadArgument("a picture takes " + std::to_string(needed), "bytes", "width * height * 4");
        if (shown.volume.grid.type == VoxelType::complex64) {
            throw Error(ErrorCode::bad_setting, "an image cannot show complex voxels", "volume", "convert it");
        }
        std::optional<Volume> moving;
        if (flow != nullptr) moving = *checked_handle(flow, "flow").volume;
        SilentProgress silent;
        show_opened(draws, shown, moving, seen, silent);
        // Flow of an earlier picture may still be on the device.
        if (!moving) draws.clear_flow();
        draws.render(seen, PictureBits::eight,
                     // Rows arrive from the top, in parts.
                     [&](const PictureRows& rows) { to = std::copy(rows.pixels.begin(), rows.pixels.end(), to); });
    });
}

// ---- Movies of volumes in memory and of files.

// Zeros and NULL keep the defaults of MovieSpec.
static MovieSpec spec_of(const echolux_movie& wanted) {
    MovieSpec spec;
    if (wanted.path != nullptr) spec.path = wanted.path;
    if (wanted.fps != nullptr) spec.fps = wanted.fps;
    if (wanted.frames < 0 || !(wanted.seconds >= 0)) throw BadArgument("cannot be negative", "movie");
    spec.frames = wanted.frames;
    spec.seconds = wanted.seconds;
    spec.first = wanted.first_frame;
    spec.end = wanted.end_frame;
    return spec;
}

echolux_status echolux_write_movie(const echolux_volume* volume, const char* input, const echolux_view* view,
                                   const echolux_movie* movie, const char* output, echolux_error* error) {
    return guarded(error, [&] {
        const echolux_movie wanted = copy_in_or_default(movie, "movie");
        if ((volume == nullptr) == (input == nullptr)) {
            throw BadArgument("a movie is of a volume or of a file", "volume", "give one of the two");
        }
        MovieJob job;
        if (volume != nullptr)
            // The job shares the voxels instead of copying them.
            job.shown = [shown = checked_handle(volume, "volume").volume] { return shown; };
        else
            job.input = input;
        job.view = checked_handle(view, "view").view;
        if (wanted.device != nullptr) job.device.name = wanted.device;
        job.device.on_message = [](const std::string&) {};  // the library does not print
        job.spec = spec_of(wanted);
        if (wanted.drawn != nullptr) job.drawn = wanted.drawn;
        job.output = text_argument(output, "output");
        job.overwrites = wanted.overwrite != 0;
        CallerProgress progress_shown(wanted.progress, wanted.user);
        run(job, progress_shown);
    });
}
