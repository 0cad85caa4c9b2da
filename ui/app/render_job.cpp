#include "ui/app/render_job.h"

#include <chrono>
#include <utility>

#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/png_file.h"
#include "engine/settings.h"
#include "ui/app/key_frame_file.h"
#include "ui/app/open_volume.h"
#include "ui/app/picture_name.h"
#include "ui/app/picture_of.h"
#include "ui/app/transfer_file.h"

namespace echolux {
namespace {

// What the job's view is at its moment, with the files that it names.
View view_of(const RenderJob& job) {
    View view = job.view;
    if (!job.key_frames.empty()) view = read_key_frames(job.key_frames).at(std::move(view), job.at_s);
    load_transfer(view);
    check_view(view);
    return view;
}

std::map<std::string, std::string> picture_text(View view, const Volume& volume) {
    std::map<std::string, std::string> text = volume.provenance;
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
    const View view = view_of(job);
    check_can_be_written(job.output);
    if (!job.save_transfer.empty()) {
        check_transfer_name(job.save_transfer);
        check_can_be_written(job.save_transfer);
    }
    Renderer renderer(job.device);  // before the reconstruction: a missing device is known at once
    const OpenedVolume opened = open_volume(job.input, job.settings, job.part, progress);
    progress.begin("upload", opened.volume.grid.voxels(), "voxels");
    renderer.set_volume(voxels_in_memory(opened.volume.grid, opened.volume.voxels.data()),
                        [&](std::int64_t voxels) { progress.advance(voxels); });
    progress.end();
    const auto start = std::chrono::steady_clock::now();
    progress.begin("render", view.height, "rows");
    const Image image = renderer.render(view, [&](std::int64_t rows) { progress.advance(rows); });
    progress.end();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    Picture picture = picture_of(image);
    picture.text = picture_text(view, opened.volume);
    write_png(job.output, picture);
    if (!job.save_transfer.empty()) {
        write_transfer(job.save_transfer, curve_in_use(view, opened.volume.grid, renderer.transfer_function(view)));
    }
    return {renderer.device_name(), opened.figures, opened.warnings, seconds, image.pages};
}

}  // namespace echolux
