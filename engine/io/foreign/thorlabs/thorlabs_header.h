// Header.xml of a Thorlabs .oct archive: its files (data/Intensity.data, data/Spectral0.data, ...), their sizes and the
// recording parameters. The only code that uses pugixml, which does not expand external entities.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "engine/io/foreign/thorlabs/zip_archive.h"

namespace echolux {

struct ThorlabsFile {
    std::string name;          // path in the archive, with slashes
    std::int64_t depth = 1;    // SizeZ: A-scan length, or samples per spectrum
    std::int64_t lines = 1;    // SizeX: A-scans, or all spectra of a B-scan
    std::int64_t b_scans = 1;  // SizeY
    std::int64_t bytes_per_value = 0;
    double range_depth_mm = 0, range_a_mm = 0, range_b_mm = 0;  // 0 if unknown
    std::int64_t reference_begin = 0, reference_end = 0;        // ApoRegion: lines without a sample
    std::int64_t scan_begin = 0, scan_end = 0;                  // ScanRegion: lines of the scan; end 0: all

    double pitch_mm(double range_mm, std::int64_t count) const {
        return range_mm > 0 && count > 0 ? range_mm / static_cast<double>(count) : 0;
    }
};

struct ThorlabsHeader {
    std::map<std::string, ThorlabsFile> files;                  // by name
    std::map<std::string, std::string> texts;                   // instrument, study, comment, ..., one line each
    std::int64_t a_scans = 0, b_scans = 0;                      // of the picture; 0: unknown
    double range_depth_mm = 0, range_a_mm = 0, range_b_mm = 0;  // of the picture; 0: unknown
    bool raw_is_signed = false;
    double electrons_per_count = 1;  // of the camera
    double refractive_index = 1;
    double centre_wavelength_nm = 0;  // 0 if unknown

    // Returns null if the archive lists no such file.
    const ThorlabsFile* file(const std::string& name) const;
};

// Parses the header. Throws Error{bad_file}.
ThorlabsHeader read_thorlabs_header(const ZipArchive& archive, const std::string& where);

}  // namespace echolux
