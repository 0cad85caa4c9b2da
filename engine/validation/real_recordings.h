// Validation with recordings of eyes, skin and gel whose boundaries are known, from the device or drawn by people
// (docs/validation.md). Files are .npz with a B-scan `image` [row][a_scan], its pixel sizes, and boundaries in rows.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/io/volume_file.h"
#include "engine/validation/validation.h"

namespace echolux {

// A boundary with a known course.
struct KnownBoundary {
    std::string name;          // as in the preset
    std::vector<double> rows;  // NaN: unknown
};

// A B-scan as the file holds it, converted to linear intensity.
struct KnownRecording {
    std::string kind;  // name of the folder
    std::string file;
    std::string preset;
    Volume volume;  // f32, NaN without data
    std::vector<KnownBoundary> boundaries;
};

// Reads a recording. Throws Error{bad_file}.
KnownRecording read_known_recording(const std::filesystem::path& path);

// Compares found rows with the known ones. `is_ok`: the search marked the place as ok.
BoundaryErrors errors_of(const std::vector<float>& rows, const std::vector<bool>& is_ok, const KnownBoundary& known);

// Searches all recordings below `folder`/real with boundaries, and filters averaged ones with added speckle. Returns an
// empty section without such files. Throws Error{bad_file, cancelled}.
RealSection validated_recordings(ValidationRun& run, const std::filesystem::path& folder);

}  // namespace echolux
