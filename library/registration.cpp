// Registered volumes: the position of each B-scan, the mean of all volumes, and each volume at its registered position.
#include "engine/registration/registration.h"
#include "app/jobs/register_job.h"
#include "library/tissue.h"

using namespace echolux;
using namespace echolux::library;

struct echolux_registration : Handle<Kind::registration> {
    RegisteredSeries made;
    RegistrationSettings settings;
    std::vector<std::shared_ptr<const Volume>> volumes;

    // B-scans that run across the others have zero shift and are not part of a volume.
    std::vector<RowShift> rows() const {
        std::vector<RowShift> all;
        for (const auto& of_volume : made.rows) {
            all.insert(all.end(), static_cast<std::size_t>(made.summary.crosses), RowShift{.quality = 1});
            all.insert(all.end(), of_volume.begin(), of_volume.end());
        }
        return all;
    }
};

namespace {

VolumesToRegister to_register(const echolux_registration& one, const Volume* reference, std::int64_t number,
                              const BackendChoice& backend) {
    VolumesToRegister all;
    all.count = std::ssize(one.volumes);
    all.read = [&one](std::int64_t i) { return power_of(*one.volumes.at(static_cast<std::size_t>(i))); };
    all.crosses = [&one](std::int64_t i) {
        return crosses_of(one.volumes.at(static_cast<std::size_t>(i))->provenance);
    };
    if (reference != nullptr) all.reference = [reference] { return raster_of(*reference); };
    all.reference_volume = number;
    all.reference_name = "another volume";
    all.backend = backend;
    all.provenance = one.volumes.front()->provenance;
    return all;
}

// NaN for B-scans without a position.
void give_shifts(double* to, const std::vector<RowShift>& rows, double RowShift::*part) {
    if (to == nullptr) return;
    for (const RowShift& row : rows) *to++ = row.is_valid() ? row.*part : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

echolux_status echolux_register(const echolux_volume* const* volumes, size_t count, const echolux_volume* reference,
                                int64_t reference_volume, const echolux_tissue* tissue, const echolux_device* device,
                                echolux_progress progress, void* user, echolux_registration** registration,
                                echolux_error* error) {
    return guarded(error, [&] {
        required(registration, "registration") = nullptr;
        auto one = std::make_unique<echolux_registration>();
        one->settings = recipes_of(tissue).registration;
        // The handle shares the volumes: results are computed from them on request.
        for (const echolux_volume* volume : volumes_argument(volumes, count, "volumes"))
            one->volumes.push_back(volume->volume);
        const Volume* to = reference == nullptr ? nullptr : live_handle(reference, "reference").volume.get();
        CallerProgress told(progress, user);
        one->made = registered(to_register(*one, to, reference_volume, backend_of(device)), one->settings, told);
        *registration = one.release();
    });
}

echolux_status echolux_registration_free(echolux_registration* registration) {
    return free_handle(registration);
}

echolux_status echolux_registration_shifts(const echolux_registration* registration, const echolux_shifts* shifts,
                                           echolux_error* error) {
    return guarded(error, [&] {
        const std::vector<RowShift> rows = live_handle(registration, "registration").rows();
        const echolux_shifts to = taken(shifts, "shifts");
        require_count(to.count, rows.size());
        give_shifts(to.z, rows, &RowShift::z);
        give_shifts(to.x, rows, &RowShift::x);
        give_shifts(to.y, rows, &RowShift::y);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (to.quality != nullptr) to.quality[i] = rows[i].quality;
            if (to.reasons != nullptr) to.reasons[i] = static_cast<std::uint8_t>(rows[i].reason);
            if (to.saccades != nullptr) to.saccades[i] = rows[i].is_saccade ? 1 : 0;
        }
    });
}

const char* echolux_shift_reason(int32_t reason) {
    if (reason < 0 || reason > static_cast<int32_t>(RowReason::out_of_range)) return nullptr;
    return name_of(static_cast<RowReason>(reason)).data();  // string literal, so it ends with 0
}

echolux_status echolux_registration_table(const echolux_registration* registration, char* buffer, size_t size,
                                          size_t* needed, echolux_error* error) {
    return guarded(error, [&] {
        const RegisteredSeries& made = live_handle(registration, "registration").made;
        give_text(csv_of(made.rows, made.grid), buffer, size, needed);
    });
}

echolux_status echolux_registration_mean(const echolux_registration* registration, echolux_volume** mean,
                                         echolux_error* error) {
    return guarded(error, [&] {
        required(mean, "mean") = nullptr;
        *mean = new_volume(*live_handle(registration, "registration").made.mean);
    });
}

echolux_status echolux_registration_volume(const echolux_registration* registration, int64_t number,
                                           echolux_volume** volume, echolux_error* error) {
    return guarded(error, [&] {
        required(volume, "volume") = nullptr;
        const echolux_registration& one = live_handle(registration, "registration");
        if (number < 0 || number >= std::ssize(one.volumes)) throw BadArgument("there is no such volume", "number");
        const auto i = static_cast<std::size_t>(number);
        *volume = new_volume(placed_volume(without_crosses(power_of(*one.volumes[i]), one.made.summary.crosses),
                                           one.made.rows[i], one.made.grid, one.settings, one.volumes[i]->provenance)
                                 .volume);
    });
}

echolux_status echolux_registration_warnings(const echolux_registration* registration, char* buffer, size_t size,
                                             size_t* needed, echolux_error* error) {
    return guarded(error, [&] {
        give_text(lines_of(live_handle(registration, "registration").made.summary.warnings), buffer, size, needed);
    });
}
