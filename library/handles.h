// What stands behind the opaque handles. Each begins with a word that tells its kind while it lives, so that a handle
// that was freed, or is of another kind, is told apart as well as memory that may be somebody else's allows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compute/stages.h"
#include "echolux/echolux.h"
#include "engine/io/volume_file.h"
#include "engine/scan/scan.h"
#include "engine/scan/time_points.h"

namespace echolux::library {

// One a kind; changed to `freed` before the memory goes.
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

template <Kind kind>
struct Handle {
    static constexpr Kind its_kind = kind;
    volatile Kind is = kind;  // volatile: the last write before the memory goes is not left out

    Handle() = default;
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() { is = Kind::freed; }
};

}  // namespace echolux::library

struct echolux_settings : echolux::library::Handle<echolux::library::Kind::settings> {
    // The texts of a field, kept for echolux_settings_describe().
    struct Texts {
        std::string key, unit, help, default_text;
        std::vector<std::string> choices;
        std::vector<const char*> choice_pointers;
    };

    echolux::Settings settings;
    std::vector<Texts> texts;
    std::function<void(const std::string& key, const std::function<void()>& set)> change;  // sets all or nothing

    void finish();  // everything is bound
    const echolux::BoundField& field(const char* key) const;
};

struct echolux_scan : echolux::library::Handle<echolux::library::Kind::scan> {
    explicit echolux_scan(echolux::Scan described);

    bool has_spectra() const { return !scan.spectra.empty(); }

    // With a noise floor that is open measured. Throws Error{bad_setting} where there is nothing to measure it from.
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
    echolux::ScanGeometry geometry;  // of the scan that it was made from
};

struct echolux_series : echolux::library::Handle<echolux::library::Kind::series> {
    explicit echolux_series(const std::string& path) : points(path) {}
    echolux::TimePoints points;
};
