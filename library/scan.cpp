// Scans opened from files or described by the caller.
#include <array>
#include <utility>

#include "compute/plan/choices.h"
#include "engine/offline/reconstruction.h"
#include "library/call.h"

using namespace echolux;
using namespace echolux::library;

namespace {

// A calibration array by name, and the file name setting it may come from.
struct NamedVector {
    const char* name;
    std::vector<double> Calibration::*numbers;
    std::string CalibrationFiles::*file;  // nullptr if it cannot come from a file
};

const NamedVector& vector_of(const std::string& name) {
    using C = Calibration;
    using F = CalibrationFiles;
    static constexpr std::array<NamedVector, 10> all{{{"background", &C::background, &F::background},
                                                      {"dark", &C::dark, &F::dark},
                                                      {"k_positions", &C::k_positions, &F::k_map},
                                                      {"wavelengths_nm", &C::wavelengths_nm, &F::wavelengths},
                                                      {"k_polynomial", &C::k_polynomial, nullptr},
                                                      {"dispersion_rad", &C::dispersion_rad, &F::dispersion},
                                                      {"mask", &C::mask, &F::mask},
                                                      {"noise_floor", &C::noise_floor, &F::noise_floor},
                                                      {"k_jitter", &C::k_jitter, &F::k_jitter},
                                                      {"fast_axis", &C::fast_axis, &F::fast_axis}}};
    for (const NamedVector& one : all) {
        if (name == one.name) return one;
    }
    throw Error(ErrorCode::bad_setting, "there is no calibration of this name", name,
                "background, dark, k_positions, wavelengths_nm, k_polynomial, dispersion_rad, mask, noise_floor, "
                "k_jitter or fast_axis");
}

// Applies a setting. Calibration files are read again if a calibration setting changed. If that fails, nothing changes.
void change_scan(echolux_scan& handle, const std::string& key, const std::function<void()>& set) {
    const std::string_view section = section_of(key);
    if (handle.has_spectra() && (section == "scan" || section == "recording")) {
        throw Error(ErrorCode::bad_setting, "is fixed by the open file", key,
                    "pass it as an assignment to echolux_scan_open");
    }
    const Scan before = handle.scan;
    try {
        set();
        check(handle.scan.geometry, "scan");
        if (section == "calibration") load_calibration(handle.scan);
    } catch (...) {
        handle.scan = before;
        throw;
    }
}

std::string assigned(const char* key, std::int64_t number) {
    return std::string(key) + "=" + std::to_string(number);
}

}  // namespace

echolux_scan::echolux_scan(Scan described) : scan(std::move(described)) {
    bind(settings.settings, scan);
    settings.change = [this](const std::string& key, const std::function<void()>& set) {
        change_scan(*this, key, set);
    };
    settings.finish();
}

// Measures an open noise floor from the scan's file, because a plan needs a number.
ReconstructionSpec echolux_scan::spec(std::int64_t block_b_scans) const {
    ReconstructionSpec spec = scan.spec(block_b_scans > 0 ? block_b_scans : scan.geometry.b_scans);
    if (!needs_noise_floor(spec.recipe, spec.flow)) return spec;
    if (!has_spectra()) {
        throw Error(ErrorCode::bad_setting, "is not set, and there is no file to measure it from",
                    "recipe.noise_floor_db",
                    "set it to what echolux_measure_noise_floor returns, or set recipe.levels = fixed");
    }
    spec.recipe.noise_floor_db = noise_floor_of(scan);
    return spec;
}

echolux_status echolux_scan_open(const char* path, const char* const* assignments, size_t count, echolux_scan** scan,
                                 echolux_error* error) {
    return guarded(error, [&] {
        required(scan, "scan") = nullptr;
        const std::string file = text_argument(path, "path");
        *scan = new echolux_scan(open_scan(file, texts_argument(assignments, count, "assignments")));
    });
}

echolux_status echolux_scan_create(const echolux_layout* layout, const char* const* assignments, size_t count,
                                   echolux_scan** scan, echolux_error* error) {
    return guarded(error, [&] {
        required(scan, "scan") = nullptr;
        const echolux_layout wanted = taken(layout, "layout");
        std::vector<std::string> all{assigned("scan.samples", wanted.samples), assigned("scan.a_scans", wanted.a_scans),
                                     assigned("scan.b_scans", wanted.b_scans)};
        if (wanted.sample_format != nullptr) all.push_back("scan.sample_format=" + std::string(wanted.sample_format));
        for (std::string& more : texts_argument(assignments, count, "assignments")) all.push_back(std::move(more));
        *scan = new echolux_scan(describe_scan({}, all, [](Scan&) {}));
    });
}

echolux_status echolux_scan_free(echolux_scan* scan) {
    return free_handle(scan);
}

echolux_status echolux_scan_settings(echolux_scan* scan, echolux_settings** settings, echolux_error* error) {
    return guarded(error, [&] { required(settings, "settings") = &live_handle(scan, "scan").settings; });
}

echolux_status echolux_scan_describe(const echolux_scan* scan, echolux_scan_shape* shape, echolux_error* error) {
    return guarded(error, [&] {
        const echolux_scan& handle = live_handle(scan, "scan");
        const ScanGeometry& geometry = handle.scan.geometry;
        echolux_scan_shape facts{};
        facts.samples = geometry.samples;
        facts.a_scans = geometry.a_scans;
        facts.b_scans = geometry.b_scans;
        facts.volumes = geometry.volumes;
        facts.a_repeats = geometry.a_repeats;
        facts.b_repeats = geometry.b_repeats;
        facts.line_bytes = line_bytes(handle.scan.format, geometry);
        facts.b_scan_bytes = facts.line_bytes * geometry.lines_per_b_scan() * geometry.b_repeats;
        facts.has_spectra = handle.has_spectra() ? 1 : 0;
        facts.was_recorded = handle.scan.recording.index.empty() ? 0 : 1;
        give(shape, facts, "shape");
    });
}

echolux_status echolux_scan_set_calibration(echolux_scan* scan, const char* name, const double* values, size_t count,
                                            echolux_error* error) {
    return guarded(error, [&] {
        echolux_scan& handle = live_handle(scan, "scan");
        const std::string wanted = text_argument(name, "name");
        const std::span<const double> numbers = numbers_argument(values, count, wanted.c_str());
        const NamedVector& vector = vector_of(wanted);
        (handle.scan.calibration.*vector.numbers).assign(numbers.begin(), numbers.end());
        if (vector.file != nullptr)
            (handle.scan.calibration_files.*vector.file).clear();  // otherwise it would be
                                                                   // loaded again
    });
}

echolux_status echolux_scan_get_calibration(const echolux_scan* scan, const char* name, double* values, size_t capacity,
                                            size_t* count, echolux_error* error) {
    return guarded(error, [&] {
        const Calibration& calibration = live_handle(scan, "scan").scan.calibration;
        give_numbers(calibration.*vector_of(text_argument(name, "name")).numbers, values, capacity, count);
    });
}

echolux_status echolux_scan_read(const echolux_scan* scan, int64_t volume, int64_t first, int64_t b_scans,
                                 void* spectra, size_t bytes, echolux_error* error) {
    return guarded(error, [&] {
        const echolux_scan& handle = live_handle(scan, "scan");
        if (!handle.has_spectra()) throw BadArgument("has no file of spectra", "scan", "open one");
        SpectraReader reader(handle.scan);
        const std::int64_t each = reader.bytes_per_b_scan();
        if (b_scans < 1 || static_cast<std::int64_t>(bytes) / each != b_scans ||
            static_cast<std::int64_t>(bytes) % each != 0) {
            throw BadArgument("is too small for so many B-scans", "bytes",
                              "give it " + std::to_string(each) + " bytes each");
        }
        auto* to = static_cast<std::byte*>(&required(static_cast<std::byte*>(spectra), "spectra"));
        reader.read(volume, first, b_scans, {to, bytes});
    });
}
