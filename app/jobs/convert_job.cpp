#include "app/jobs/convert_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/jobs/convert_input.h"
#include "app/open/files_read.h"
#include "compute/error.h"
#include "engine/io/output_rule.h"
#include "engine/io/volume_file.h"
#include "engine/offline/recoder.h"

namespace echolux {
namespace {

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

// Reports in whole MiB, whatever the unit of the work.
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

Converted run(const ConvertJob& job, Progress& progress) {
    check_outputs({{job.output, is_own_volume}}, files_read(job.input), job.overwrites);
    ConvertInput input(job.input);
    const Interval time_points = chosen_time_points(job, input.header());
    const SeriesHeader header = input.header(time_points);
    const Recoder recoder(header.grid, job.type.value_or(header.grid.type), job.range);
    const SeriesHeader written = header_of_output(header, recoder.grid(), time_points);
    SeriesWriter writer(job.output, written, job.storage);
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
    return {input.parts(), lost_in(written, job.output)};
}

}  // namespace echolux
