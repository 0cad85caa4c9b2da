#include "app/jobs/reconstruct_job.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "app/open/open_volume.h"
#include "compute/error.h"
#include "compute/plan/choices.h"
#include "compute/plan/describe.h"
#include "compute/reason.h"
#include "engine/acquire/scan_player.h"
#include "engine/analysis/intensity.h"
#include "engine/io/atomic_file.h"
#include "engine/io/file_name.h"
#include "engine/io/output_rule.h"
#include "engine/io/png_file.h"
#include "engine/io/volume_file.h"
#include "engine/offline/reconstruction.h"

namespace echolux {
namespace {

bool makes_picture(const ReconstructJob& job) {
    return job.b_scan || job.en_face;
}

void check_request(const ReconstructJob& job) {
    const bool png = lower_ending(job.output) == ".png";
    const auto refuse = [](const char* what, const std::string& where, const char* remedy) {
        throw Error(ErrorCode::bad_setting, what, where, remedy);
    };
    if (png && !makes_picture(job)) {
        refuse("a PNG holds one picture, not a volume", job.output.string(),
               "add `b_scan` N or `en_face` Z0:Z1, or name a volume file");
    }
    if (!png && makes_picture(job)) refuse("pictures are written as PNG", job.output.string(), "name it *.png");
    if (job.gray && !makes_picture(job)) {
        refuse("applies to pictures only: a volume keeps all values", "range",
               "leave it out, or use `convert` with `type` u8 and `range` LOW:HIGH on the volume");
    }
    if (job.b_scan && job.en_face)
        refuse("a picture shows either a B-scan or a projection", "b_scan", "give only one of them");
    const bool part_given = job.b_scans.begin != 0 || job.b_scans.end != 0;
    if (job.b_scan && part_given) refuse("cannot be combined with one B-scan", "part.blocks", "leave it out");
}

Interval rows(const ReconstructJob& job, const VolumeGrid& grid) {
    return {job.en_face->begin, job.en_face->end == 0 ? grid.depth : job.en_face->end};
}

// Checks everything else that can be rejected before the work starts.
void check_output(const ReconstructJob& job, const VolumeGrid& grid) {
    if (job.b_scan) check_b_scan(grid, *job.b_scan);
    if (job.en_face) check_en_face(grid, rows(job, grid).begin, rows(job, grid).end);
    if (!makes_picture(job)) return check_volume_output(job.output, grid.type);
    if (grid.type == VoxelType::f16) {
        throw Error(ErrorCode::bad_setting, "f16 voxels are for display only and cannot be written as a picture",
                    job.output.string(), "set recipe.voxel = f32");
    }
    check_can_be_written(job.output);
}

void check_repeats(const ReconstructJob& job, const Scan& scan) {
    if (job.repeats.empty()) return;
    if (lower_ending(job.repeats) != ".csv")
        throw Error(ErrorCode::bad_setting, "what aligning found is a table", job.repeats.string(), "name it *.csv");
    if (!scan.flow.align || scan.flow.method == FlowMethod::none || job.flow.empty()) {
        throw Error(ErrorCode::bad_setting, "no repeats are aligned", "repeats",
                    "name a volume with `flow`, and set flow.align = true");
    }
    check_can_be_written(job.repeats);
}

void check_flow(const ReconstructJob& job, const Scan& scan) {
    if (job.flow.empty()) return;
    if (scan.flow.method == FlowMethod::none) {
        throw Error(ErrorCode::bad_setting, "the scan computes no flow", "flow",
                    "set flow.method = doppler, or another one");
    }
    if (makes_picture(job)) {
        throw Error(ErrorCode::bad_setting, "flow is written beside a volume, not beside a picture", "flow",
                    "leave it out, or write a volume");
    }
    check_volume_output(job.flow, VoxelType::f32);
}

// Becomes "name_t003.png" for "name.png" if there are several volumes.
std::filesystem::path numbered(const std::filesystem::path& path, std::int64_t volume) {
    return path.parent_path() / fmt::format("{}_t{:03}{}", path.stem().string(), volume, path.extension().string());
}

// Returns all files that will be written.
std::vector<Output> outputs_of(const ReconstructJob& job, const Interval& volumes) {
    const bool has_several = volumes.end - volumes.begin > 1;
    std::vector<Output> outputs;
    const auto add = [&](const std::filesystem::path& path, bool is_picture) {
        const auto is_own = is_picture ? is_own_picture : is_own_volume;
        if (path.empty() || !has_several || (!is_picture && holds_time_points(path))) {
            outputs.push_back({path, is_own});
            return;
        }
        for (std::int64_t v = volumes.begin; v < volumes.end; ++v) outputs.push_back({numbered(path, v), is_own});
    };
    add(job.output, makes_picture(job));
    add(job.flow, false);
    outputs.push_back({job.repeats, is_own_repeats_table});
    return outputs;
}

// A picture of one B-scan requires only that B-scan.
ScanPart part_for(const ReconstructJob& job, std::int64_t volume, std::int64_t slices) {
    if (!job.b_scan) return {volume, job.b_scans.begin, job.b_scans.end};
    const std::int64_t position = *job.b_scan / slices;
    return {volume, position, position + 1};
}

void write_picture(const ReconstructJob& job, const std::filesystem::path& path, const Volume& volume,
                   std::int64_t slices) {
    const Interval depth = job.en_face ? rows(job, volume.grid) : Interval{};
    const Figure figure =
        job.b_scan ? b_scan_figure(volume, *job.b_scan % slices) : en_face_figure(volume, depth.begin, depth.end);
    Picture picture = gray_picture(figure, job.gray);
    picture.text = volume.provenance;
    write_png(path, picture);
}

// Destination of consecutive volumes: one file if the format holds several time points, otherwise one file per volume.
class VolumeFiles {
  public:
    VolumeFiles(std::filesystem::path path, const Interval& volumes, double step_s)
        : path_(std::move(path)), volumes_(volumes), step_s_(step_s) {}

    void add(const Volume& volume, std::int64_t number, Progress& progress) {
        constexpr std::int64_t mebibyte = 1 << 20;
        const bool several = volumes_.end - volumes_.begin > 1, together = several && holds_time_points(path_);
        if (!together || !writer_) files_.push_back(several && !together ? numbered(path_, number) : path_);
        progress.begin("write " + files_.back().filename().string(), volume.grid.bytes() / mebibyte + 1, "MiB");
        if (!together) {
            write_volume(files_.back(), volume);
        } else {
            if (!writer_) start_series(volume);
            writer_->write(volume.voxels);
            if (number + 1 == volumes_.end) writer_->finish();
        }
        progress.end();  // the file is complete: too late for cancelling
    }

    const std::vector<std::filesystem::path>& files() const { return files_; }

  private:
    void start_series(const Volume& first) {
        SeriesHeader header{first.grid, volumes_.end - volumes_.begin, step_s_, {}, first.provenance};
        header.provenance["volume"] = fmt::format("{} to {}", volumes_.begin, volumes_.end - 1);
        writer_ = std::make_unique<SeriesWriter>(path_, std::move(header));
    }

    std::filesystem::path path_;
    Interval volumes_;
    double step_s_;
    std::vector<std::filesystem::path> files_;
    std::unique_ptr<SeriesWriter> writer_;
};

}  // namespace

ReconstructedFiles run(const ReconstructJob& job, Progress& progress) {
    check_request(job);
    Scan scan = open_scan(job.scan, job.settings);
    const std::int64_t first = job.volume.value_or(0);
    const Interval volumes{first, job.volume ? first + 1 : scan.geometry.volumes};
    check_outputs(outputs_of(job, volumes), files_read(job.scan, job.settings), job.overwrites);
    const VolumeGrid whole = planned_grid(scan);
    check_output(job, whole);
    check_flow(job, scan);
    check_repeats(job, scan);
    Reconstruction reconstruction(std::move(scan), job.backend);
    const ScanGeometry& geometry = reconstruction.scan().geometry;
    const std::int64_t slices = slices_per_b_scan(whole, geometry);
    const double step_s = volume_seconds(reconstruction.scan());
    VolumeFiles structures(job.output, volumes, step_s), flows(job.flow, volumes, step_s);
    ReconstructedFiles done;
    done.volumes = geometry.volumes;
    done.warnings = reconstruction.warnings();
    if (job.flow.empty() && !makes_picture(job) && reconstruction.scan().flow.method != FlowMethod::none) {
        done.warnings.push_back(fmt::format("flow.method: {} is not written; name a volume for it with `flow`",
                                            std::get<std::string>(value_of(reconstruction.scan().flow, "method"))));
    }
    std::vector<RepeatReport> reports;  // of all volumes
    std::string table = repeats_table_heading();
    for (std::int64_t v = volumes.begin; v < volumes.end; ++v) {
        const ScanPart part = part_for(job, v, slices);
        if (makes_picture(job)) {
            done.files.push_back(volumes.end - volumes.begin > 1 ? numbered(job.output, v) : job.output);
            write_picture(job, done.files.back(), reconstruction.run(part, progress), slices);
        } else if (job.flow.empty()) {
            structures.add(reconstruction.run(part, progress), v, progress);
        } else {
            const FlowedVolume volume = reconstruction.run_with_flow(part, progress);
            structures.add(volume.structure, v, progress);
            flows.add(flow_values(volume.flow.value()), v, progress);
            table += repeats_table_rows({v, part.begin, geometry.b_repeats, volume.repeats}, volume.structure.grid);
            reports.insert(reports.end(), volume.repeats.begin(), volume.repeats.end());
        }
    }
    for (const VolumeFiles* made : {&structures, &flows}) {
        done.files.insert(done.files.end(), made->files().begin(), made->files().end());
    }
    if (!job.repeats.empty()) {
        write_text(job.repeats, table);
        done.files.push_back(job.repeats);
    }
    if (const std::string left_out = left_out_of(reports, geometry.b_repeats, scan.flow.align); !left_out.empty())
        done.warnings.push_back(left_out);
    done.stats = reconstruction.stats();
    return done;
}

}  // namespace echolux
