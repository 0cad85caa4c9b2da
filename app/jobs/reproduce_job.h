// Job of `echolux reproduce`: renders a picture again from the record it carries.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/jobs/render_job.h"
#include "engine/progress.h"

namespace echolux {

struct ReproduceJob {
    std::filesystem::path picture;
    std::filesystem::path input;   // new path of the input; empty: unchanged
    std::filesystem::path output;  // empty: beside the picture, named with "-again"
    GpuDevice device;
    bool overwrites = false;  // replaces any existing file
};

enum class Sameness { same, other, unknown };  // unknown: the picture has no fingerprint

struct ReproducedPicture {
    std::filesystem::path output;
    RenderedFile rendered;
    Sameness sameness = Sameness::unknown;
    std::vector<std::string> warnings;  // reasons for different bits: device, version, backend
};

// Throws what reading pictures and rendering throw, and Error{bad_file} if the picture has no record, or if its input
// was moved or changed.
ReproducedPicture run(const ReproduceJob& job, Progress& progress);

}  // namespace echolux
