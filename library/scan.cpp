// Scans opened from files or described by the caller, and the settings of scans and views.
#include <cmath>
#include <utility>

#include "compute/plan/choices.h"
#include "compute/plan/describe.h"
#include "engine/offline/reconstruction.h"
#include "library/call.h"

using namespace echolux;
using namespace echolux::library;

// ---- Scans

namespace {

// A calibration array, and the setting that names its file.
struct NamedVector {
    std::vector<double> Calibration::*numbers;
    const Field<CalibrationFiles>* file;  // nullptr if it cannot come from a file
};

NamedVector vector_of(const std::string& name) {
    for (const CalibrationPart& part : calibration_parts()) {
        if (name == part.array) return {part.numbers, &part.file};
    }
    if (name == "k_polynomial") return {&Calibration::k_polynomial, nullptr};
    throw Error(ErrorCode::bad_setting, "there is no calibration of this name", name,
                "background, dark, k_positions, wavelengths_nm, k_polynomial, dispersion_rad, mask, noise_floor, "
                "k_jitter or fast_axis");
}

// Applies a setting. Calibration files are read again if a calibration setting changed. If that fails, nothing changes.
// The layout of an open file is fixed, because its size has been checked against it.
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
        const echolux_layout wanted = copy_in(layout, "layout");
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
    return guarded(error, [&] { required(settings, "settings") = &checked_handle(scan, "scan").settings; });
}

echolux_status echolux_scan_describe(const echolux_scan* scan, echolux_scan_shape* shape, echolux_error* error) {
    return guarded(error, [&] {
        const echolux_scan& handle = checked_handle(scan, "scan");
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
        copy_out(shape, facts, "shape");
    });
}

echolux_status echolux_scan_set_calibration(echolux_scan* scan, const char* name, const double* values, size_t count,
                                            echolux_error* error) {
    return guarded(error, [&] {
        echolux_scan& handle = checked_handle(scan, "scan");
        const std::string wanted = text_argument(name, "name");
        const std::span<const double> numbers = numbers_argument(values, count, wanted.c_str());
        const NamedVector vector = vector_of(wanted);
        (handle.scan.calibration.*vector.numbers).assign(numbers.begin(), numbers.end());
        // Otherwise the file would be loaded again.
        if (vector.file != nullptr) vector.file->set(handle.scan.calibration_files, std::string());
    });
}

echolux_status echolux_scan_get_calibration(const echolux_scan* scan, const char* name, double* values, size_t capacity,
                                            size_t* count, echolux_error* error) {
    return guarded(error, [&] {
        const Calibration& calibration = checked_handle(scan, "scan").scan.calibration;
        copy_numbers_out(calibration.*vector_of(text_argument(name, "name")).numbers, values, capacity, count);
    });
}

echolux_status echolux_scan_read(const echolux_scan* scan, int64_t volume, int64_t first, int64_t b_scans,
                                 void* spectra, size_t bytes, echolux_error* error) {
    return guarded(error, [&] {
        const echolux_scan& handle = checked_handle(scan, "scan");
        if (!handle.has_spectra()) throw BadArgument("has no file of spectra", "scan", "open one");
        SpectraReader reader(handle.scan);
        const std::int64_t each = reader.bytes_per_b_scan();
        // Division, because b_scans * each could overflow.
        if (b_scans < 1 || static_cast<std::int64_t>(bytes) / each != b_scans ||
            static_cast<std::int64_t>(bytes) % each != 0) {
            throw BadArgument("is too small for so many B-scans", "bytes",
                              "give it " + std::to_string(each) + " bytes each");
        }
        auto* to = static_cast<std::byte*>(&required(static_cast<std::byte*>(spectra), "spectra"));
        reader.read(volume, first, b_scans, {to, bytes});
    });
}

// ---- Settings of a scan or view by key: texts and numbers in, descriptions out.

// The value as text without quotation marks.
static std::string unquoted(const Value& value) {
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr ? *text : spelled(value);
}

// A flag is 0 or 1.
static double number_of(const BoundField& field) {
    const Value value = field.get();
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
    if (const auto* number = std::get_if<double>(&value)) return *number;
    throw Error(ErrorCode::bad_setting, "is not a number", field.key(), "use echolux_settings_get_text");
}

// Converts a number to the type of the field, which checks its range later.
static Value value_of_number(const BoundField& field, double number) {
    if (std::isnan(number)) throw Error(ErrorCode::bad_setting, "NaN is not a value", field.key());
    if (std::holds_alternative<bool>(field.default_value) && (number == 0 || number == 1)) return number != 0;
    return number;
}

// Prepares the texts that callers get as const char*, which are valid as long as the handle. The pointers in
// choice_pointers are taken last: `texts` must not grow after that.
void echolux_settings::finish() {
    for (const BoundField& field : settings.fields()) {
        Texts one{field.key(), std::string(field.unit), std::string(field.help), unquoted(field.default_value), {}, {}};
        for (const std::string_view choice : field.choices) one.choices.emplace_back(choice);
        texts.push_back(std::move(one));
    }
    for (Texts& one : texts) {
        for (const std::string& choice : one.choices) one.choice_pointers.push_back(choice.c_str());
    }
}

const BoundField& echolux_settings::field(const char* key) const {
    const std::string wanted = text_argument(key, "key");
    for (const BoundField& field : settings.fields()) {
        if (field.key() == wanted) return field;
    }
    throw Error(ErrorCode::bad_setting, "unknown key", wanted, "echolux_settings_describe lists all keys");
}

echolux_status echolux_settings_count(const echolux_settings* settings, size_t* count, echolux_error* error) {
    return guarded(error,
                   [&] { required(count, "count") = checked_handle(settings, "settings").settings.fields().size(); });
}

echolux_status echolux_settings_describe(const echolux_settings* settings, size_t index, echolux_setting* setting,
                                         echolux_error* error) {
    return guarded(error, [&] {
        const echolux_settings& all = checked_handle(settings, "settings");
        if (index >= all.texts.size()) throw BadArgument("there are fewer settings", "index");
        const BoundField& field = all.settings.fields()[index];
        const echolux_settings::Texts& texts = all.texts[index];
        echolux_setting one{};
        one.key = texts.key.c_str();
        one.unit = texts.unit.c_str();
        one.help = texts.help.c_str();
        one.default_text = texts.default_text.c_str();
        one.type = static_cast<std::int32_t>(field.default_value.index());  // same order as ECHOLUX_FLAG ...
        one.effect = static_cast<std::int32_t>(field.effect);
        one.low = field.low;
        one.high = field.high;
        one.choices = texts.choice_pointers.empty() ? nullptr : texts.choice_pointers.data();
        one.choice_count = texts.choice_pointers.size();
        copy_out(setting, one, "setting");
    });
}

echolux_status echolux_settings_find(const echolux_settings* settings, const char* key, size_t* index,
                                     echolux_error* error) {
    return guarded(error, [&] {
        const echolux_settings& all = checked_handle(settings, "settings");
        required(index, "index") = static_cast<size_t>(&all.field(key) - all.settings.fields().data());
    });
}

echolux_status echolux_settings_set_text(echolux_settings* settings, const char* key, const char* value,
                                         echolux_error* error) {
    return guarded(error, [&] {
        echolux_settings& all = checked_handle(settings, "settings");
        const std::string name = text_argument(key, "key"), text = text_argument(value, "value");
        all.change(name, [&] { all.settings.set(name, text, "settings"); });
    });
}

echolux_status echolux_settings_get_text(const echolux_settings* settings, const char* key, char* buffer, size_t size,
                                         size_t* needed, echolux_error* error) {
    return guarded(error, [&] {
        copy_text_out(unquoted(checked_handle(settings, "settings").field(key).get()), buffer, size, needed);
    });
}

echolux_status echolux_settings_set_number(echolux_settings* settings, const char* key, double value,
                                           echolux_error* error) {
    return guarded(error, [&] {
        echolux_settings& all = checked_handle(settings, "settings");
        const BoundField& field = all.field(key);
        const std::vector<TomlEntry> entry{{field.key(), value_of_number(field, value), "settings"}};
        all.change(field.key(), [&] { all.settings.take(entry); });
    });
}

echolux_status echolux_settings_get_number(const echolux_settings* settings, const char* key, double* value,
                                           echolux_error* error) {
    return guarded(error,
                   [&] { required(value, "value") = number_of(checked_handle(settings, "settings").field(key)); });
}

echolux_status echolux_settings_toml(const echolux_settings* settings, int all, char* buffer, size_t size,
                                     size_t* needed, echolux_error* error) {
    return guarded(error, [&] {
        copy_text_out(checked_handle(settings, "settings").settings.toml(all != 0), buffer, size, needed);
    });
}
