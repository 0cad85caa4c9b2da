// Parts that the operations on positions in mm share: the geometry of an input, and the TOML that calibrations write.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "app/operations/operation.h"
#include "engine/geometry/beam_map.h"
#include "engine/io/file_name.h"
#include "engine/io/output_rule.h"
#include "engine/scan/scan.h"

namespace echolux {

// The scan that a volume comes from, and its geometry.
struct KnownGeometry {
    ScanGeometry scan;
    BeamGeometry beam;
    std::vector<double> fast_axis;  // positions of scan.fast_axis = file

    // Reads the sections [scan] and [geometry] of a TOML file, or a scan of another format. Throws Error{bad_file,
    // bad_setting}.
    void take_file(const std::string& name) {
        if (lower_ending(name) != ".toml") return take_scan(open_scan(name));
        Settings settings;
        settings.bind("scan", scan);
        settings.bind("geometry", beam);
        std::vector<TomlEntry> entries = toml_entries(name);
        std::erase_if(entries, [&](const TomlEntry& entry) {
            const std::string_view section = section_of(entry.name);
            return section != "geometry" && (section != "scan" || settings.field(entry.name) == nullptr);
        });
        if (entries.empty()) {
            throw Error(ErrorCode::bad_file, "has neither [scan] nor [geometry]", name, "name a scan or a calibration");
        }
        settings.take(entries);
        if (scan.fast_axis == FastAxis::file && fast_axis.empty()) take_scan(open_scan(name));
    }

  private:
    void take_scan(const Scan& opened) {
        scan = opened.geometry;
        fast_axis = opened.calibration.fast_axis;
    }
};

// From the settings that the volume stores, then the input itself if it is a scan, then `files`.
inline KnownGeometry known_geometry(const VolumeInput& input, const Volume& volume, const VolumeInput& files) {
    KnownGeometry known;
    take_stored_geometry(volume.provenance, input.name(), known.scan, known.beam);
    if (!input.is_in_memory() && lower_ending(input.names.front()) == ".toml") known.take_file(input.names.front());
    for (const std::string& name : files.names) known.take_file(name);
    return known;
}

inline InputText geometry_files(std::string_view help) {
    return {.name = "scan",
            .help = help,
            .is_required = false,
            .takes_many = true,
            .takes_scans = false,
            .is_file = true,
            .placeholder = "FILE.toml"};
}

// ---- Results of calibrations

inline constexpr std::string_view geometry_heading = "# Geometry of an instrument for Echolux\n";

inline OutputText geometry_output() {
    return {.name = "output",
            .kind = OutputKind::table,
            .help = "TOML file with a section [geometry], for `scan` of dewarping or for the scan file",
            .placeholder = "FILE.toml",
            .is_own = [](const std::filesystem::path& path) { return begins_with(path, geometry_heading); },
            .endings = {".toml"}};
}

// Writes the values that differ from their defaults, and prints them if no file is named.
inline void write_geometry(Context& context, OperationOutput& output, BeamGeometry geometry) {
    Settings settings;
    settings.bind("geometry", geometry);
    const std::string toml = settings.toml();
    if (output.is_wanted())
        context.write(output, std::string(geometry_heading) + toml);
    else
        context.answer(toml.substr(0, toml.find_last_not_of('\n') + 1));
}

}  // namespace echolux
