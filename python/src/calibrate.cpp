// Calibration from arrays: means, noise, mirrors, dispersion.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/blocks.h"
#include "python/src/scan.h"

namespace echolux::python {
namespace {

using Numbers = std::vector<double>;

// Calls work(scan, block) with the B-scans of an array.
template <class Work>
auto with_block(const Scan& scan, nb::handle spectra, const Work& work) {
    const auto from = array_of<InArray>(spectra, "spectra");
    return scan.with([&](api::Scan& one) { return work(one, Arrangement(one).block_of(from)); });
}

Numbers mean_spectrum(const Scan& scan, nb::handle spectra) {
    return with_block(scan, spectra, [](const api::Scan& one, const echolux_block& block) {
        Numbers mean(static_cast<std::size_t>(one.shape().samples));
        api::checked(
            [&](auto* error) { return echolux_mean_spectrum(one.get(), &block, mean.data(), mean.size(), error); });
        return mean;
    });
}

Numbers noise_profile(const Scan& scan, nb::handle spectra) {
    return with_block(scan, spectra, [](const api::Scan& one, const echolux_block& block) {
        std::size_t count = 0;
        Numbers profile(static_cast<std::size_t>(one.shape().samples));
        api::checked([&](auto* error) {
            return echolux_noise_profile(one.get(), &block, profile.data(), profile.size(), &count, error);
        });
        profile.resize(count);
        return profile;
    });
}

Facts mirror(const Scan& scan, nb::handle spectra, const Numbers& background, std::int64_t begin, std::int64_t end) {
    const auto found = with_block(scan, spectra, [&](const api::Scan& one, const echolux_block& block) {
        return one.mirror(block, background, begin, end);
    });
    Facts all;
    all["bin"] = found.bin;
    all["bin_um"] = found.bin_um;
    all["level_db"] = found.level_db;
    all["snr_db"] = found.snr_db;
    all["fwhm_bins"] = found.fwhm_bins;
    all["lines"] = found.lines;
    all["bins"] = found.bins;
    all["is_opposite"] = found.is_opposite != 0;
    return all;
}

Facts mirrors(const Numbers& near, const Numbers& far, const Numbers& background, const Numbers& dark,
              bool opposite_sides, bool k_falls, double displacement_um, double centre_wavelength_nm) {
    for (const Numbers* other : {&far, &background, &dark}) {
        if (other->size() != near.size() && !(other == &dark && dark.empty()))
            refuse("have different lengths", "mirrors", "give spectra of the same samples");
    }
    auto given = api::make<echolux_mirrors>();
    given.samples = std::ssize(near);
    given.mirror_1 = near.data();
    given.mirror_2 = far.data();
    given.background = background.data();
    given.dark = dark.empty() ? nullptr : dark.data();
    given.opposite_sides = opposite_sides ? 1 : 0;
    given.k_falls = k_falls ? 1 : 0;
    given.displacement_um = displacement_um;
    given.centre_wavelength_nm = centre_wavelength_nm;
    Numbers k(near.size()), theta(near.size());
    auto found = api::make<echolux_mirrors_found>();
    found.k_positions = k.data();
    found.dispersion_rad = theta.data();
    released([&] { api::checked([&](auto* error) { return echolux_calibrate_mirrors(&given, &found, error); }); });
    const auto pair = [](const double(&two)[2]) { return nb::make_tuple(two[0], two[1]); };
    Facts all;
    all["k_positions"] = k;
    all["dispersion_rad"] = theta;
    all["a2_rad"] = found.a2_rad;
    all["a3_rad"] = found.a3_rad;
    all["depth_pitch_um"] = found.depth_pitch_um;
    all["bin"] = pair(found.bin);
    all["fwhm_before"] = pair(found.fwhm_before);
    all["fwhm"] = pair(found.fwhm);
    return all;
}

// Passes progress of the C interface to the C++ function in `user`. 1 stops the work.
int forward_progress(void* user, const char* task, std::int64_t done, std::int64_t total, const char*) {
    return (*static_cast<const api::Progress*>(user))(task, done, total) ? 0 : 1;
}

Facts dispersion(const Scan& scan, nb::handle spectra, double range_rad, std::int64_t lines, std::int64_t depth_begin,
                 std::int64_t depth_end, const std::string& device, const nb::object& progress) {
    const auto from = array_of<InArray>(spectra, "spectra");
    auto wanted = api::make<echolux_dispersion_search>();
    wanted.range_rad = range_rad;
    wanted.lines = lines;
    wanted.depth_begin = depth_begin;
    wanted.depth_end = depth_end;
    const echolux_device on = device_of(device);
    const auto found = watched(progress, [=](const api::Progress& report) {
        echolux_dispersion_search search = wanted;
        search.progress = forward_progress;
        search.user = const_cast<api::Progress*>(&report);
        return scan.locked([&](api::Scan& one) {
            const echolux_block block = Arrangement(one).block_of(from);
            auto best = api::make<echolux_dispersion_found>();
            api::checked(
                [&](auto* error) { return echolux_search_dispersion(one.get(), &block, &search, &on, &best, error); });
            return best;
        });
    });
    Facts all;
    all["a2_rad"] = found.a2_rad;
    all["a3_rad"] = found.a3_rad;
    all["entropy_before"] = found.entropy_before;
    all["entropy"] = found.entropy;
    all["is_sharp"] = found.is_sharp != 0;
    return all;
}

Facts roll_off(const Numbers& bins, const Numbers& levels_db, std::int64_t range) {
    if (bins.size() != levels_db.size()) refuse("have different lengths", "levels_db", "one level for each bin");
    auto found = api::make<echolux_roll_off>();
    api::checked([&](auto* error) {
        return echolux_fit_roll_off(bins.data(), levels_db.data(), bins.size(), range, &found, error);
    });
    Facts all;
    all["at_zero_db"] = found.at_zero_db;
    all["six_db_bin"] = found.six_db_bin > 0 ? nb::cast(found.six_db_bin) : nb::none();
    all["resolution"] = found.resolution;
    all["rms_db"] = found.rms_db;
    return all;
}

}  // namespace

void bind_calibrate(nb::module_& module) {
    module.def("mean_spectrum", &mean_spectrum, nb::arg("scan"), nb::arg("spectra"));
    module.def("noise_profile", &noise_profile, nb::arg("scan"), nb::arg("spectra"));
    module.def("mirror", &mirror, nb::arg("scan"), nb::arg("spectra"), nb::arg("background"), nb::arg("begin"),
               nb::arg("end"));
    module.def("mirrors", &mirrors, nb::arg("near"), nb::arg("far"), nb::arg("background"), nb::arg("dark"),
               nb::arg("opposite_sides"), nb::arg("k_falls"), nb::arg("displacement_um"),
               nb::arg("centre_wavelength_nm"));
    module.def("dispersion", &dispersion, nb::arg("scan"), nb::arg("spectra"), nb::arg("range_rad"), nb::arg("lines"),
               nb::arg("depth_begin"), nb::arg("depth_end"), nb::arg("device"), nb::arg("progress").none());
    module.def("roll_off", &roll_off, nb::arg("bins"), nb::arg("levels_db"), nb::arg("range"));
}

}  // namespace echolux::python
