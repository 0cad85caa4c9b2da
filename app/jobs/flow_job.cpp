#include "app/jobs/flow_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <span>

#include "app/figure/figure_format.h"
#include "app/figure/plot_panels.h"
#include "app/jobs/convert_input.h"
#include "app/jobs/flow_plot.h"
#include "app/jobs/flow_views.h"
#include "app/open/files_read.h"
#include "app/open/open_volume.h"
#include "app/open/said_of.h"
#include "compute/error.h"
#include "engine/analysis/intensity.h"
#include "engine/flow/time_series.h"
#include "engine/io/atomic_file.h"
#include "engine/io/output_rule.h"
#include "engine/scan/settings.h"

namespace echolux {
namespace {

void require_growing(const std::vector<double>& times_s, const std::string& path) {
    const auto here = std::ranges::adjacent_find(times_s, std::greater_equal{});
    if (here == times_s.end()) return;
    throw Error(ErrorCode::bad_file,
                fmt::format("the times of its volumes do not grow: after {:g} s comes {:g} s", *here, *std::next(here)),
                path, "give the time between volumes as `step_s`");
}

// Concatenates the time points of all inputs.
class VelocitySeries {
  public:
    explicit VelocitySeries(const std::vector<std::filesystem::path>& paths) : path_(paths.front().string()) {
        for (const std::filesystem::path& path : paths) {
            if (is_scan_name(path)) {
                throw Error(ErrorCode::bad_setting, "is a scan: flow is measured in volumes of velocities",
                            path.string(), "`reconstruct` makes them, with flow.method = doppler");
            }
            inputs_.push_back(std::make_unique<ConvertInput>(path));
            const SeriesHeader& header = inputs_.back()->header();
            said_of(path.filename().string(), "volume", [&] { require_velocities(header.grid); });
            require_alike(grid(), header.grid, path.string());
            for (std::int64_t t = 0; t < header.time_points; ++t) points_.push_back({inputs_.back().get(), t});
        }
    }

    // The result reads from this object.
    VelocityVolumes volumes(double step_s) const {
        const SeriesHeader& first = inputs_.front()->header();
        VelocityVolumes all;
        all.grid = grid();
        all.count = std::ssize(points_);
        all.read = [this](std::int64_t number) { return read(number); };
        all.step_s = step_s > 0 ? step_s : first.step_s;
        if (inputs_.size() == 1 && step_s == 0) {
            require_growing(first.times_s, path_);
            all.times_s = first.times_s;
        }
        return all;
    }

  private:
    const VolumeGrid& grid() const { return inputs_.front()->header().grid; }

    std::vector<float> read(std::int64_t number) const {
        const auto& [input, time_point] = points_.at(static_cast<std::size_t>(number));
        return axial_velocities({grid(), input->read(time_point, {0, grid().b_scans}), {}});
    }

    struct Point {
        ConvertInput* input;
        std::int64_t time_point;
    };
    std::string path_;  // of the first input
    std::vector<std::unique_ptr<ConvertInput>> inputs_;
    std::vector<Point> points_;
};

// Adds the structure of the same volumes as linear intensities.
void add_structure(VelocityVolumes& volumes, const std::filesystem::path& path) {
    if (path.empty()) return;
    const auto input = std::make_shared<ConvertInput>(path);
    const VolumeGrid grid = input->header().grid;
    require_structure_of(volumes, grid, input->header().time_points, path.string());
    volumes.structure = grid;
    volumes.power = [input, grid](std::int64_t number) {
        return linear_intensity({grid, input->read(number, {0, grid.b_scans}), {}});
    };
}

void write_lines(const std::filesystem::path& path, const std::string& text) {
    OutputFile file(path);
    file.write(std::as_bytes(std::span(text)));
    file.commit();
}

}  // namespace

MeasuredFlow run(const FlowJob& job, Progress& progress) {
    FileNames inputs = job.structure.empty() ? FileNames{} : files_read(job.structure);
    for (const std::filesystem::path& input : job.inputs)
        std::ranges::copy(files_read(input), std::back_inserter(inputs));
    check_outputs({{job.table, is_own_flow_table, {".csv"}},
                   {job.plot, is_own_figure},
                   {job.arrows, is_own_flow_view, {".toml"}},
                   {job.streaks, is_own_flow_view, {".toml"}}},
                  inputs, job.overwrites);
    check_plot_name(job.plot);
    FlowSpec spec = job.spec;
    Settings settings;
    settings.bind("cross_section", spec.recipe);
    for (const std::string& assignment : job.settings) settings.set_assignment(assignment);
    const VelocitySeries series(job.inputs);
    VelocityVolumes volumes = series.volumes(job.step_s);
    add_structure(volumes, job.structure);
    const MeasuredFlow measured = measured_flow(volumes, spec, progress);
    if (!job.table.empty()) write_lines(job.table, table_of(measured));
    if (!job.arrows.empty()) write_lines(job.arrows, view_with_arrows(measured.arrows));
    if (!job.streaks.empty()) write_lines(job.streaks, view_with_streaks(measured));
    if (!job.plot.empty()) plot_flow(job.plot, measured);
    return measured;
}

bool is_own_flow_table(const std::filesystem::path& path) {
    return begins_with(path, flow_heading);
}

}  // namespace echolux
