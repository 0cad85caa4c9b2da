#include "ui/app/reconstruct_job.h"

#include <fmt/format.h>

#include "compute/error.h"
#include "engine/flow_values.h"
#include "engine/io/atomic_file.h"
#include "engine/io/png_file.h"
#include "engine/io/volume_file.h"
#include "ui/app/picture_name.h"

namespace echolux {
namespace {

bool makes_picture(const ReconstructJob& job) {
    return job.b_scan || job.en_face;
}

void check_request(const ReconstructJob& job) {
    const bool png = is_png_name(job.output);
    const auto refuse = [](const char* what, const std::string& where, const char* remedy) {
        throw Error(ErrorCode::bad_setting, what, where, remedy);
    };
    if (png && !makes_picture(job)) {
        refuse("a PNG holds one picture, not a volume", job.output.string(),
               "add --b-scan N or --en-face Z0:Z1, or name a volume file");
    }
    if (!png && makes_picture(job)) refuse("pictures are written as PNG", job.output.string(), "name it *.png");
    if (job.b_scan && job.en_face) refuse("a picture shows a B-scan or a projection", "--b-scan", "give one of them");
    const bool part_given = job.b_scans.begin != 0 || job.b_scans.end != 0;
    if (job.b_scan && part_given) refuse("one B-scan needs no part of the volume", "--blocks", "leave it out");
}

Interval rows(const ReconstructJob& job, const VolumeGrid& grid) {
    return {job.en_face->begin, job.en_face->end == 0 ? grid.depth : job.en_face->end};
}

// Everything else that can be refused before the work starts.
void check_output(const ReconstructJob& job, const VolumeGrid& grid) {
    if (job.b_scan) check_b_scan(grid, *job.b_scan);
    if (job.en_face) check_en_face(grid, rows(job, grid).begin, rows(job, grid).end);
    if (!makes_picture(job)) check_volume_name(job.output, grid.type);
    if (makes_picture(job) && grid.type == VoxelType::f16) {
        throw Error(ErrorCode::bad_setting, "f16 voxels are for the screen, no picture is made of them",
                    job.output.string(), "set recipe.voxel = f32");
    }
    check_can_be_written(job.output);
}

void check_flow(const ReconstructJob& job, const Scan& scan) {
    if (job.flow.empty()) return;
    if (scan.flow.method == FlowMethod::none) {
        throw Error(ErrorCode::bad_setting, "the scan asks for no flow", "--flow",
                    "set flow.method = doppler, or another one");
    }
    if (makes_picture(job)) {
        throw Error(ErrorCode::bad_setting, "flow is written beside a volume", "--flow", "leave out the picture");
    }
    check_volume_name(job.flow, VoxelType::f32);
    check_can_be_written(job.flow);
}

// "name.nrrd" becomes "name_t003.nrrd" where several volumes are written.
std::filesystem::path numbered(const std::filesystem::path& path, std::int64_t volume) {
    std::filesystem::path stem = path.stem();
    std::string ending = path.extension().string();
    if (ending == ".gz" || ending == ".GZ") {  // .nii.gz
        ending = stem.extension().string() + ending;
        stem = stem.stem();
    }
    return path.parent_path() / fmt::format("{}_t{:03}{}", stem.string(), volume, ending);
}

// A picture of one B-scan needs no more than this B-scan.
ScanPart part_for(const ReconstructJob& job, std::int64_t volume, std::int64_t slices_per_b_scan) {
    if (!job.b_scan) return {volume, job.b_scans.begin, job.b_scans.end};
    const std::int64_t position = *job.b_scan / slices_per_b_scan;
    return {volume, position, position + 1};
}

void write(const ReconstructJob& job, const std::filesystem::path& path, const Volume& volume,
           std::int64_t slices_per_b_scan, Progress& progress) {
    if (!makes_picture(job)) {
        constexpr std::int64_t mebibyte = 1 << 20;
        progress.begin("write " + path.filename().string(), volume.grid.bytes() / mebibyte + 1, "MiB");
        write_volume(path, volume);
        return progress.end();  // written is written: no asking whether to stop after that
    }
    const Interval depth = job.en_face ? rows(job, volume.grid) : Interval{};
    const Figure figure = job.b_scan ? b_scan_figure(volume, *job.b_scan % slices_per_b_scan)
                                     : en_face_figure(volume, depth.begin, depth.end);
    Picture picture = gray_picture(figure, job.gray);
    picture.text = volume.provenance;
    write_png(path, picture);
}

}  // namespace

ReconstructedFiles run(const ReconstructJob& job, Progress& progress) {
    check_request(job);
    Scan scan = open_scan(job.scan, job.settings);
    const VolumeGrid whole = planned_grid(scan);
    check_output(job, whole);
    check_flow(job, scan);
    Reconstruction reconstruction(std::move(scan), job.backend);
    const ScanGeometry& geometry = reconstruction.scan().geometry;
    const std::int64_t slices_per_b_scan = whole.b_scans / geometry.b_scans;
    const std::int64_t first = job.volume.value_or(0);
    const std::int64_t last = job.volume.value_or(geometry.volumes - 1);
    ReconstructedFiles done;
    done.warnings = reconstruction.warnings();
    for (std::int64_t v = first; v <= last; ++v) {
        const ScanPart part = part_for(job, v, slices_per_b_scan);
        const auto named = [&](const std::filesystem::path& path) { return last > first ? numbered(path, v) : path; };
        if (job.flow.empty()) {
            done.files.push_back(named(job.output));
            write(job, done.files.back(), reconstruction.run(part, progress), slices_per_b_scan, progress);
            continue;
        }
        const FlowedVolume volume = reconstruction.run_with_flow(part, progress);
        done.files.push_back(named(job.output));
        write(job, done.files.back(), volume.structure, slices_per_b_scan, progress);
        done.files.push_back(named(job.flow));
        write(job, done.files.back(), flow_values(volume.flow.value()), slices_per_b_scan, progress);
    }
    done.figures = reconstruction.figures();
    return done;
}

}  // namespace echolux
