#include "app/jobs/filter_job.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "app/open/files_read.h"
#include "app/seconds_since.h"
#include "compute/error.h"
#include "engine/io/own_files.h"
#include "engine/scan/settings.h"
#include "engine/scan/time_points.h"
#include "engine/speckle/filter_volume.h"

namespace echolux {
namespace {

std::string settings_of(const SpeckleFilter& filter) {
    SpeckleFilter bound = filter;
    Settings settings;
    settings.bind("filter", bound);
    return settings.toml(true);
}

Volume averaged(const FilterJob& job, FilteredFile& done, Progress& progress) {
    Compound compound;
    if (job.all_volumes) {
        const TimePoints series(job.input);
        if (series.count() == 1) {
            throw Error(ErrorCode::bad_setting, "holds one volume, which has no mean with others",
                        job.input.filename().string() + ", all_volumes", "leave it out to filter the volume");
        }
        progress.begin("average", series.count(), "volumes");
        for (std::int64_t t = 0; t < series.count(); ++t) {
            compound.add(series.read(t), job.filter.stored_as);
            progress.advance(1);
        }
        progress.end();
    } else {
        compound.add(open_volume(job, progress).volume, job.filter.stored_as);
        for (const std::filesystem::path& path : job.others)
            compound.add(open_volume(path, job.settings, job.part, progress).volume, job.filter.stored_as);
    }
    done.looks = compound.looks();
    done.effective_looks = compound.effective_looks(job.filter.looks);
    Volume volume = compound.mean(job.filter.stored_as);
    volume.provenance["looks"] = fmt::format("{}, as {:.2f} independent ones", done.looks, done.effective_looks);
    return volume;
}

Volume filtered_volume(const FilterJob& job, FilteredFile& done, Progress& progress) {
    OpenedVolume opened = open_volume(job, progress);
    done.warnings = std::move(opened.warnings);
    const auto start = std::chrono::steady_clock::now();
    done.used = filter_volume(opened.volume, job.filter, progress, job.backend);
    if (!done.used.refusal.empty()) done.warnings.push_back("filter: " + done.used.refusal);
    done.seconds = seconds_since(start);
    opened.volume.provenance["filter"] = settings_of(job.filter);
    opened.volume.provenance["filter.backend"] = done.used.processor == Backend::cuda ? "cuda" : "cpu";
    return std::move(opened.volume);
}

}  // namespace

FilteredFile run(const FilterJob& job, Progress& progress) {
    check_filter(job.filter);
    require_backend(job.backend);
    FileNames inputs = files_read(job);
    for (const std::filesystem::path& other : job.others) {
        const FileNames of_other = files_read(other, job.settings);
        inputs.insert(inputs.end(), of_other.begin(), of_other.end());
    }
    check_outputs({{job.output, is_own_volume}}, inputs, job.overwrites);
    check_volume_output(job.output, VoxelType::f32);
    FilteredFile done;
    const bool averages = job.all_volumes || !job.others.empty();
    const Volume volume = averages ? averaged(job, done, progress) : filtered_volume(job, done, progress);
    write_volume(job.output, volume, progress);
    return done;
}

}  // namespace echolux
