#include "app/jobs/convert_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/open/files_read.h"
#include "compute/error.h"
#include "engine/io/own_files.h"
#include "engine/io/volume_file.h"
#include "engine/offline/recoder.h"
#include "engine/scan/time_points.h"

namespace echolux {
namespace {

// One file with all time points is read in parts; of many files one is kept.
class Input {
  public:
    explicit Input(const std::filesystem::path& path) {
        std::error_code problem;
        const bool several =
            is_pattern(path) || (std::filesystem::is_directory(path, problem) && !is_volume_name(path));
        if (!several && !is_volume_name(path)) {
            throw Error(ErrorCode::bad_setting, "is not a volume", path.string(),
                        "`reconstruct` makes volumes from scans, `guess` examines unknown raw files");
        }
        if (!several) {
            file_ = std::make_unique<SeriesFile>(path);
            header_ = file_->header();
            return;
        }
        files_ = std::make_unique<TimePoints>(path);
        const Volume& first = volume(0);
        header_ = {first.grid, files_->count(), files_->step_s(), {}, first.provenance};
    }

    const SeriesHeader& header() const { return header_; }

    std::int64_t b_scans_together() const { return file_ ? file_->b_scans_together() : header_.grid.b_scans; }

    std::vector<std::byte> read(std::int64_t time_point, Interval b_scans) {
        if (file_) return file_->read(time_point, b_scans);
        const VolumeGrid& grid = volume(time_point).grid;
        const bool alike = grid.depth == header_.grid.depth && grid.a_scans == header_.grid.a_scans &&
                           grid.b_scans == header_.grid.b_scans && grid.type == header_.grid.type &&
                           grid.scale == header_.grid.scale && grid.offset == header_.grid.offset &&
                           grid.unit == header_.grid.unit && grid.quantity == header_.grid.quantity;
        if (alike) return volume_.voxels;
        throw Error(
            ErrorCode::bad_file,
            fmt::format("time point {} differs from the first in size, type or meaning of its codes", time_point),
            files_->name(), "time points of one series must be alike");
    }

  private:
    const Volume& volume(std::int64_t time_point) {
        if (time_point != kept_) volume_ = files_->read(time_point);
        kept_ = time_point;
        return volume_;
    }

    std::unique_ptr<SeriesFile> file_;
    std::unique_ptr<TimePoints> files_;
    Volume volume_;
    std::int64_t kept_ = -1;
    SeriesHeader header_;
};

Interval chosen_time_points(const ConvertJob& job, const SeriesHeader& header) {
    const Interval chosen{job.time_points.begin, job.time_points.end == 0 ? header.time_points : job.time_points.end};
    if (chosen.begin >= 0 && chosen.begin < chosen.end && chosen.end <= header.time_points) return chosen;
    throw Error(ErrorCode::bad_setting, fmt::format("the series has time points 0 to {}", header.time_points - 1),
                "time", "give the first, and the one after the last");
}

SeriesHeader header_of_output(const SeriesHeader& input, const VolumeGrid& grid, const Interval& time_points) {
    SeriesHeader header = input;
    header.grid = grid;
    header.time_points = time_points.end - time_points.begin;
    const bool part = header.time_points != input.time_points;
    if (part)
        header.provenance["time_points"] =
            fmt::format("{} to {} of {}", time_points.begin, time_points.end - 1, input.time_points);
    if (!input.times_s.empty()) {
        header.times_s.assign(input.times_s.begin() + time_points.begin, input.times_s.begin() + time_points.end);
    } else if (time_points.begin > 0 && input.step_s > 0) {
        for (std::int64_t t = time_points.begin; t < time_points.end; ++t) {
            header.times_s.push_back(static_cast<double>(t) * input.step_s);
        }
    }
    return header;
}

// In whole MiB, whatever the size of what was done.
class MebibyteProgress {
  public:
    MebibyteProgress(Progress& progress, const std::string& task, double bytes) : progress_(progress) {
        progress.begin(task, static_cast<std::int64_t>(bytes / mebibyte) + 1, "MiB");
    }

    void advance(std::size_t bytes) {
        bytes_ += static_cast<double>(bytes);
        const auto whole = static_cast<std::int64_t>(bytes_ / mebibyte);
        progress_.advance(whole - told_);
        told_ = whole;
    }

  private:
    static constexpr double mebibyte = 1048576;

    Progress& progress_;
    double bytes_ = 0;
    std::int64_t told_ = 0;
};

}  // namespace

void run(const ConvertJob& job, Progress& progress) {
    check_outputs({{job.output, is_own_volume}}, files_read(job.input), job.overwrites);
    Input input(job.input);
    const SeriesHeader& header = input.header();
    const Interval time_points = chosen_time_points(job, header);
    const Recoder recoder(header.grid, job.type.value_or(header.grid.type), job.range);
    SeriesWriter writer(job.output, header_of_output(header, recoder.grid(), time_points), job.storage);
    const std::int64_t b_scans = header.grid.b_scans, together = std::min(input.b_scans_together(), b_scans);
    MebibyteProgress done(
        progress, "convert",
        static_cast<double>(header.grid.bytes()) * static_cast<double>(time_points.end - time_points.begin));
    for (std::int64_t t = time_points.begin; t < time_points.end; ++t) {
        for (std::int64_t begin = 0; begin < b_scans; begin += together) {
            const std::vector<std::byte> voxels = input.read(t, {begin, std::min(begin + together, b_scans)});
            writer.write(recoder(voxels));
            done.advance(voxels.size());
        }
    }
    writer.finish();
    progress.end();
}

}  // namespace echolux
