// The job behind `echolux reproduce`: a picture is made again from what it says of itself.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/jobs/render_job.h"
#include "engine/progress.h"

namespace echolux {

struct ReproduceJob {
    std::filesystem::path picture;
    std::filesystem::path input;   // where its input is now; empty: where it was
    std::filesystem::path output;  // empty: beside the picture, its name with "-again"
    DeviceChoice device;
    bool overwrites = false;  // replaces what is there, whoever made it
};

enum class Sameness { same, other, unknown };  // unknown: the picture carries no fingerprint

struct ReproducedPicture {
    std::filesystem::path output;
    RenderedFile rendered;
    Sameness sameness = Sameness::unknown;
    std::vector<std::string> warnings;  // why its bits may be others: device, version, backend
};

// Throws what reading pictures and rendering throw, and Error{bad_file}: the picture says nothing of how it was made,
// or its input has moved or changed.
ReproducedPicture run(const ReproduceJob& job, Progress& progress);

}  // namespace echolux
