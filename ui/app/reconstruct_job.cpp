#include "ui/app/reconstruct_job.h"

#include <fmt/format.h>

#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/png_file.h"
#include "engine/io/volume_file.h"

namespace echolux {
namespace {

bool makes_picture(const ReconstructJob& job) {
    return job.b_scan || job.en_face;
}

// Everything that can be refused before the work starts.
void check_output(const ReconstructJob& job, const Reconstruction& reconstruction) {
    const bool png = job.output.extension() == ".png";
    if (png && !makes_picture(job)) {
        throw Error(ErrorCode::bad_setting, "a PNG holds one picture, not a volume", job.output.string(),
                    "add --b-scan N or --en-face Z0:Z1, or name a volume file");
    }
    if (!png && makes_picture(job)) {
        throw Error(ErrorCode::bad_setting, "pictures are written as PNG", job.output.string(), "name it *.png");
    }
    const VolumeGrid grid = reconstruction.grid({});
    if (job.b_scan) check_b_scan(grid, *job.b_scan);
    if (job.en_face) check_en_face(grid, job.en_face->begin, job.en_face->end);
    if (!png) check_volume_name(job.output, grid.type);
    check_can_be_written(job.output);
}

// "name.nrrd" becomes "name_t003.nrrd" where several volumes are written.
std::filesystem::path numbered(const std::filesystem::path& path, std::int64_t volume) {
    std::string name = path.filename().string();
    const std::size_t dot = name.ends_with(".nii.gz") ? name.size() - 7 : name.rfind('.');
    name.insert(dot, fmt::format("_t{:03}", volume));
    return path.parent_path() / name;
}

// A picture of one B-scan needs no more than this B-scan.
ScanPart part_for(const ReconstructJob& job, std::int64_t volume, std::int64_t slices_per_b_scan) {
    if (!job.b_scan) return {volume, job.b_scans.begin, job.b_scans.end};
    const std::int64_t position = *job.b_scan / slices_per_b_scan;
    return {volume, position, position + 1};
}

void write(const ReconstructJob& job, const std::filesystem::path& path, const Volume& volume,
           std::int64_t slices_per_b_scan) {
    if (!makes_picture(job)) return write_volume(path, volume);
    const Figure figure = job.b_scan ? b_scan_figure(volume, *job.b_scan % slices_per_b_scan)
                                     : en_face_figure(volume, job.en_face->begin, job.en_face->end);
    Picture picture = gray_picture(figure, job.gray);
    picture.text = volume.provenance;
    write_png(path, picture);
}

}  // namespace

ReconstructedFiles run(const ReconstructJob& job, Progress& progress) {
    Reconstruction reconstruction(open_scan(job.scan, job.settings), job.backend);
    check_output(job, reconstruction);
    const ScanGeometry& geometry = reconstruction.scan().geometry;
    const std::int64_t slices_per_b_scan = reconstruction.grid({}).b_scans / geometry.b_scans;
    const std::int64_t first = job.volume.value_or(0);
    const std::int64_t last = job.volume.value_or(geometry.volumes - 1);
    ReconstructedFiles done;
    done.warnings = reconstruction.warnings();
    for (std::int64_t v = first; v <= last; ++v) {
        const Volume volume = reconstruction.run(part_for(job, v, slices_per_b_scan), progress);
        done.files.push_back(last > first ? numbered(job.output, v) : job.output);
        write(job, done.files.back(), volume, slices_per_b_scan);
    }
    done.figures = reconstruction.figures();
    return done;
}

}  // namespace echolux
