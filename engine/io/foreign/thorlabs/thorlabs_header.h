// Header.xml of a Thorlabs .oct archive: which files it holds (data/Intensity.data, data/Spectral0.data, ...), of which
// sizes, and how they were recorded. The only door to pugixml, which knows no entities to expand.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "engine/io/foreign/thorlabs/zip_archive.h"

namespace echolux {

struct ThorlabsFile {
    std::string name;          // in the archive, with slashes
    std::int64_t depth = 1;    // SizeZ: of A-scans, or samples of a spectrum
    std::int64_t lines = 1;    // SizeX: A-scans, or all spectra of a B-scan
    std::int64_t b_scans = 1;  // SizeY
    std::int64_t bytes_per_value = 0;
    double range_depth_mm = 0, range_a_mm = 0, range_b_mm = 0;  // 0: unknown
    std::int64_t reference_begin = 0, reference_end = 0;        // ApoRegion: lines without a sample
    std::int64_t scan_begin = 0, scan_end = 0;                  // ScanRegion: lines of the scan; end 0: all

    double pitch_mm(double range_mm, std::int64_t count) const {
        return range_mm > 0 && count > 0 ? range_mm / static_cast<double>(count) : 0;
    }
};

struct ThorlabsHeader {
    std::map<std::string, ThorlabsFile> files;                  // by name
    std::map<std::string, std::string> texts;                   // instrument, study, comment, ... on one line each
    std::int64_t a_scans = 0, b_scans = 0;                      // of the picture; 0: unknown
    double range_depth_mm = 0, range_a_mm = 0, range_b_mm = 0;  // of the picture; 0: unknown
    bool raw_is_signed = false;
    double electrons_per_count = 1;  // of the camera
    double refractive_index = 1;
    double centre_wavelength_nm = 0;  // 0: unknown

    const ThorlabsFile* file(const std::string& name) const;
};

// Throws Error{bad_file}.
ThorlabsHeader read_thorlabs_header(const ZipArchive& archive, const std::string& where);

}  // namespace echolux
