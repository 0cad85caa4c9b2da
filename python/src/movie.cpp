// Movies of volumes.

#include "python/src/bindings.h"
#include "python/src/settings.h"
#include "python/src/volume.h"

namespace echolux::python {
namespace {

void write(const Volume* volume, const std::string& input, const Shared<api::View>& view, const std::string& output,
           const std::string& path, std::int64_t frames, double seconds, const std::string& fps, bool overwrite,
           std::int64_t first, std::int64_t end, const std::string& drawn, const nb::object& progress) {
    const std::shared_ptr<const api::Volume> shown = volume == nullptr ? nullptr : volume->share();
    watched(progress, [=](const api::Progress& report) {
        auto movie = api::make<echolux_movie>();
        movie.path = path.c_str();
        movie.frames = frames;
        movie.seconds = seconds;
        if (!fps.empty()) movie.fps = fps.c_str();
        movie.overwrite = overwrite ? 1 : 0;
        movie.first_frame = first;
        movie.end_frame = end;
        if (!drawn.empty()) movie.drawn = drawn.c_str();
        view.locked([&](api::View& seen) { api::write_movie(shown.get(), input, seen, output, movie, report); });
        return true;
    });
}

}  // namespace

void bind_movie(nb::module_& module) {
    module.def("write_movie", &write, nb::arg("volume").none(), nb::arg("input"), nb::arg("view"), nb::arg("output"),
               nb::arg("path"), nb::arg("frames"), nb::arg("seconds"), nb::arg("fps"), nb::arg("overwrite"),
               nb::arg("first"), nb::arg("end"), nb::arg("drawn"), nb::arg("progress").none());
}

}  // namespace echolux::python
