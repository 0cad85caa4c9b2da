#include "ui/app/render_job.h"

#include <chrono>
#include <optional>
#include <utility>

#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/png_file.h"
#include "engine/settings.h"
#include "render/probe.h"
#include "ui/app/height_maps.h"
#include "ui/app/key_frame_file.h"
#include "ui/app/open_volume.h"
#include "ui/app/picture_name.h"
#include "ui/app/picture_of.h"
#include "ui/app/scan_poses.h"
#include "ui/app/seconds_since.h"
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

void check_picture_name(const std::filesystem::path& output) {
    if (is_png_name(output)) return;
    throw Error(ErrorCode::bad_setting, "pictures are written as PNG", output.string(), "name it *.png");
}

void check_outputs(const RenderJob& job) {
    if (!job.output.empty()) {
        check_picture_name(job.output);
        check_can_be_written(job.output);
    }
    if (!job.save_transfer.empty()) {
        check_transfer_name(job.save_transfer);
        check_can_be_written(job.save_transfer);
    }
}

// `done` gets the seconds of the picture alone, the volume being on the device.
void write_picture(Renderer& renderer, const std::filesystem::path& output, const View& view, const Volume& volume,
                   Progress& progress, RenderedFile& done) {
    const auto start = std::chrono::steady_clock::now();
    progress.begin("render", view.height, "rows");
    const Image image = renderer.render(view, [&](std::int64_t rows) { progress.advance(rows); });
    progress.end();
    done.seconds = seconds_since(start);
    done.pages = image.pages;
    Picture picture = picture_of(image);
    picture.text = picture_text(view, volume);
    write_png(output, picture);
}

std::optional<Volume> flow_of(const RenderJob& job, const View& view) {
    if (job.flow.empty()) return {};
    if (!view.flatten.empty()) {
        throw Error(ErrorCode::bad_setting, "flow is not flattened", "--flow, view.flatten", "leave one of them out");
    }
    return read_volume(job.flow);
}

}  // namespace

RenderedFile run(const RenderJob& job, Progress& progress) {
    const View view = view_of(job);
    check_outputs(job);
    for (const auto& [x, y] : job.probes) check_pixel(view, x, y);
    const std::optional<Volume> flow = flow_of(job, view);
    Renderer renderer(job.device);  // before the reconstruction: a missing device is known at once
    OpenedVolume opened = open_volume(job.input, job.settings, job.part, progress);
    const HeightMaps heights = prepared_heights(view, opened.volume);
    renderer.set_poses(poses_of(opened.geometry, opened.volume.grid.b_scans));
    progress.begin("upload", opened.volume.grid.voxels(), "voxels");
    renderer.set_volume(voxels_in_memory(opened.volume.grid, opened.volume.voxels.data()),
                        [&](std::int64_t voxels) { progress.advance(voxels); });
    progress.end();
    renderer.set_heights(heights);
    const std::optional<Volume>& shown_flow = flow ? flow : opened.flow;
    if (shown_flow && view.flatten.empty()) renderer.set_flow(shown_flow->grid, shown_flow->voxels.data());
    RenderedFile done{renderer.device_name(), opened.figures, opened.warnings, {}, 0, {}};
    if (!job.output.empty()) write_picture(renderer, job.output, view, opened.volume, progress, done);
    for (const auto& [x, y] : job.probes) done.probes.push_back(renderer.probe(view, x, y));
    if (!job.save_transfer.empty()) {
        write_transfer(job.save_transfer, curve_in_use(view, opened.volume.grid, renderer.transfer_function(view)));
    }
    return done;
}

}  // namespace echolux
