#include "app/jobs/tissue_shown.h"

#include <algorithm>

#include "app/jobs/register_job.h"
#include "compute/error.h"
#include "engine/registration/registration.h"
#include "engine/scan/settings.h"
#include "engine/speckle/speckle_filter.h"

namespace echolux {
namespace {

void filter_in_place(Volume& volume, const SpeckleFilter& filter, Progress& progress) {
    filter_volume(volume, filter, progress);
    volume.provenance["filter"] = section_toml("filter", filter);
}

}  // namespace

StabilisedVolume stabilised(const Volume& volume, const Volume* reference, const RegistrationSettings& wanted,
                            Progress& progress) {
    StabilisedVolume done;
    RegistrationSettings settings = wanted;
    if (settings.crosses == 0) settings.crosses = crosses_of(volume.provenance);
    const std::int64_t crosses = reference == nullptr ? settings.crosses : 0;  // crosses stay in place
    const PowerVolume power = power_of(volume);
    PowerVolume of_reference;
    if (reference != nullptr) of_reference = power_of(*reference);
    const VolumeGrid& grid = reference == nullptr ? volume.grid : reference->grid;
    Volume made;
    const auto put = [&](RegisteredMean mean, const auto& moved) {
        if (std::ranges::none_of(rows_of_raster(done.rows, crosses), &RowShift::is_valid)) {
            throw Error(ErrorCode::bad_setting,
                        crosses > 0            ? "no B-scan fits those across"
                        : reference == nullptr ? "no B-scan fits its neighbours"
                                               : "no B-scan fits the reference",
                        "registration", "is it more than noise? Larger ranges may help");
        }
        mean.add(moved, done.rows);
        done.used = mean.b_scans_used() - crosses;
        made = mean.volume();
    };
    const BackendChoice any{.backend = crosses > 0 ? Backend::cpu : Backend::automatic};  // crosses need the CPU
    progress.begin("register", volume.grid.b_scans, "B-scans");
    on_gpu_or_cpu(
        any,
        [&] {
            const PowerCopy there(power, any);
            done.rows = reference == nullptr
                            ? align_neighbours(there.on_gpu(), settings, progress, *registration_on_gpu(any))
                            : Reference(PowerCopy(of_reference, any).on_gpu(), settings, any)
                                  .register_rows(there.on_gpu(), progress);
            put(RegisteredMean(grid, any), there.on_gpu());
        },
        [&] {
            done.rows = reference == nullptr ? align_neighbours(power, settings, progress)
                                             : Reference(of_reference, settings).register_rows(power, progress);
            put(RegisteredMean(grid), power);
        });
    progress.end();
    made.provenance = volume.provenance;
    made.provenance["registration"] = section_toml("registration", settings);
    made.provenance["registration.b_scans_used"] =
        fmt::format("{} of {}", done.used, rows_of_raster(done.rows, crosses).size());
    done.volume = std::make_shared<const Volume>(std::move(made));
    return done;
}

std::shared_ptr<const Volume> filtered_copy(const Volume& volume, const SpeckleFilter& filter, Progress& progress) {
    auto copy = std::make_shared<Volume>(volume);
    filter_in_place(*copy, filter, progress);
    return copy;
}

Volume TissueShown::of(Volume volume, Progress& progress) {
    if (!changes_volumes()) return volume;
    if (tissue_.registration_display.shown) {
        if (tissue_.registration_display.reference >= 0 && !reference_) {
            VolumeSource source = source_;
            source.part.volume = tissue_.registration_display.reference;
            reference_ = std::make_shared<const Volume>(open_volume(source, progress).volume);
        }
        volume = *stabilised(volume, reference_.get(), tissue_.registration, progress).volume;
    }
    if (tissue_.filter_display.shown) filter_in_place(volume, tissue_.filter, progress);
    return volume;
}

}  // namespace echolux
