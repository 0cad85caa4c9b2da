// Structs behind the opaque handles. Each begins with a tag of its kind that is cleared when it is freed. This detects
// wrong and freed handles as far as possible, since freed memory may have been reused.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compute/reconstructor.h"
#include "echolux/echolux.h"
#include "engine/io/volume_file.h"
#include "engine/scan/scan.h"
#include "engine/scan/time_points.h"

namespace echolux::library {

// One tag per kind. It is changed to `freed` before the memory is released.
enum class Kind : std::uint64_t {
    freed = 0,
    scan = 0x6563686f6c757801,
    settings,
    reconstructor,
    volume,
    series,
    view,
    renderer,
    live,
    simulation,
    validation,
    batch,
    tissue,
    surfaces,
    registration,
    vessel_flow
};

// Base of all handles: the tag holds its kind while it is alive.
template <Kind kind>
struct Handle {
    static constexpr Kind its_kind = kind;
    volatile Kind is = kind;  // volatile: keep the last write before the memory is released

    Handle() = default;
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() { is = Kind::freed; }
};

}  // namespace echolux::library

struct echolux_settings : echolux::library::Handle<echolux::library::Kind::settings> {
    // Texts of a field, kept for echolux_settings_describe().
    struct Texts {
        std::string key, unit, help, default_text;
        std::vector<std::string> choices;
        std::vector<const char*> choice_pointers;
    };

    echolux::Settings settings;
    std::vector<Texts> texts;
    // Runs `set`, and restores all settings if it throws.
    std::function<void(const std::string& key, const std::function<void()>& set)> change;

    void finish();  // call after all fields are bound
    const echolux::BoundField& field(const char* key) const;
};

struct echolux_scan : echolux::library::Handle<echolux::library::Kind::scan> {
    explicit echolux_scan(echolux::Scan described);

    bool has_spectra() const { return !scan.spectra.empty(); }

    // Returns the spec with an open noise floor measured. Throws Error{bad_setting} without a file to measure it from.
    echolux::ReconstructionSpec spec(std::int64_t block_b_scans) const;

    echolux::Scan scan;
    echolux_settings settings;
    std::shared_ptr<const echolux::Stages> stages;  // may be null
};

struct echolux_volume : echolux::library::Handle<echolux::library::Kind::volume> {
    explicit echolux_volume(std::shared_ptr<const echolux::Volume> held) : volume(std::move(held)) {}

    std::shared_ptr<const echolux::Volume> volume;
    double time_s = 0;
    std::int64_t number = 0;
    std::vector<std::string> warnings;
    echolux::ScanGeometry geometry;  // of the scan it was reconstructed from
};

struct echolux_series : echolux::library::Handle<echolux::library::Kind::series> {
    explicit echolux_series(const std::string& path) : points(path) {}
    echolux::TimePoints points;
};
