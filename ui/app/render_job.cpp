#include "ui/app/render_job.h"

#include <chrono>

#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/png_file.h"
#include "engine/settings.h"
#include "ui/app/open_volume.h"
#include "ui/app/picture_name.h"
#include "ui/app/picture_of.h"

namespace echolux {
namespace {

std::map<std::string, std::string> picture_text(const RenderJob& job, const Volume& volume) {
    std::map<std::string, std::string> text = volume.provenance;
    View view = job.view;
    Settings settings;
    settings.bind("view", view);
    text["view"] = settings.toml();
    return text;
}

}  // namespace

RenderedFile run(const RenderJob& job, Progress& progress) {
    if (!is_png_name(job.output)) {
        throw Error(ErrorCode::bad_setting, "pictures are written as PNG", job.output.string(), "name it *.png");
    }
    check_view(job.view);
    check_can_be_written(job.output);
    Renderer renderer(job.device);  // before the reconstruction: a missing device is known at once
    const OpenedVolume opened = open_volume(job.input, job.settings, job.part, progress);
    renderer.set_volume(opened.volume.grid, opened.volume.voxels.data());
    const auto start = std::chrono::steady_clock::now();
    progress.begin("render", job.view.height, "rows");
    Picture picture = picture_of(renderer.render(job.view, [&](std::int64_t rows) { progress.advance(rows); }));
    progress.end();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    picture.text = picture_text(job, opened.volume);
    write_png(job.output, picture);
    return {renderer.device_name(), opened.figures, opened.warnings, seconds};
}

}  // namespace echolux
