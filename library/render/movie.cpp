// Movies of volumes in memory and of files.
#include "app/movie/movie_job.h"

#include "library/call.h"
#include "library/convert.h"
#include "library/render/view.h"

using namespace echolux;
using namespace echolux::library;

namespace {

// Zeros and NULL keep the defaults of MovieSpec.
MovieSpec spec_of(const echolux_movie& wanted) {
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

}  // namespace

echolux_status echolux_write_movie(const echolux_volume* volume, const char* input, const echolux_view* view,
                                   const echolux_movie* movie, const char* output, echolux_error* error) {
    return guarded(error, [&] {
        const echolux_movie wanted = taken_or_default(movie, "movie");
        if ((volume == nullptr) == (input == nullptr)) {
            throw BadArgument("a movie is of a volume or of a file", "volume", "give one of the two");
        }
        MovieJob job;
        if (volume != nullptr)
            // The job shares the voxels instead of copying them.
            job.shown = [shown = live_handle(volume, "volume").volume] { return shown; };
        else
            job.input = input;
        job.view = live_handle(view, "view").view;
        if (wanted.device != nullptr) job.device.name = wanted.device;
        job.device.on_message = [](const std::string&) {};  // the library does not print
        job.spec = spec_of(wanted);
        if (wanted.drawn != nullptr) job.drawn = wanted.drawn;
        job.output = text_argument(output, "output");
        job.overwrites = wanted.overwrite != 0;
        CallerProgress told(wanted.progress, wanted.user);
        run(job, told);
    });
}
