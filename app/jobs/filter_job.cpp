#include "app/jobs/filter_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "app/open/open_volume.h"
#include "app/seconds_since.h"
#include "compute/error.h"
#include "engine/io/output_rule.h"
#include "engine/scan/settings.h"
#include "engine/scan/time_points.h"

namespace echolux {
namespace {

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
    return mean_of(compound, job.filter);
}

Volume filtered_input(const FilterJob& job, FilteredFile& done, Progress& progress) {
    OpenedVolume opened = open_volume(job, progress);
    FilteredVolume made = with_file_context(job.input.filename().string(), "volume", [&] {
        return filtered_volume(std::move(opened.volume), job.filter, job.backend, progress);
    });
    done.warnings = std::move(opened.warnings);
    std::ranges::move(made.warnings, std::back_inserter(done.warnings));
    done.seconds = made.seconds;
    done.used = made.used;
    return std::move(made.volume);
}

}  // namespace

FilteredVolume filtered_volume(Volume volume, const SpeckleFilter& filter, const BackendChoice& backend,
                               Progress& progress) {
    const std::vector<float> power = power_of(volume, filter.stored_as);
    if (std::ranges::none_of(power, [](float value) { return value > 0; })) {
        throw Error(ErrorCode::bad_setting, "holds nothing: no voxel is above zero", "volume", "choose another volume");
    }
    FilteredVolume done;
    const auto start = std::chrono::steady_clock::now();
    done.used = filter_volume(volume, filter, progress, backend);
    done.seconds = seconds_since(start);
    if (!done.used.refusal.empty()) done.warnings.push_back("filter: " + done.used.refusal);
    volume.provenance["filter"] = section_toml("filter", filter);
    volume.provenance["filter.backend"] = done.used.backend == Backend::cuda ? "cuda" : "cpu";
    done.volume = std::move(volume);
    return done;
}

Volume mean_of(const Compound& looks, const SpeckleFilter& filter) {
    Volume volume = looks.mean(filter.stored_as);
    volume.provenance["looks"] =
        fmt::format("{}, as {:.2f} independent ones", looks.looks(), looks.effective_looks(filter.looks));
    return volume;
}

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
    const Volume volume = averages ? averaged(job, done, progress) : filtered_input(job, done, progress);
    write_volume(job.output, volume, progress);
    return done;
}

}  // namespace echolux
