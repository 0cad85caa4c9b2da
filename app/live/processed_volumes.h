// Volumes that were reconstructed live, written as files beside the work, on a thread of its own. Where they lie on a
// graphics device, the thread that draws has begun to copy them, and that thread waits for the copy. A disk that is too
// slow leaves volumes out and counts them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "compute/error.h"
#include "engine/io/volume_file.h"

namespace echolux {

// Before a source starts. Throws Error{output, bad_setting}: the folder holds volumes already, which would be mixed
// with the new ones; the folder it is made in is missing; it has the name of a volume.
void check_processed_folder(const std::filesystem::path& folder);

struct ProcessedStats {
    std::int64_t volumes = 0;   // written
    std::int64_t left_out = 0;  // the disk was behind
    std::int64_t bytes = 0;
    double read_back_s = 0;  // that writing waited for voxels; pictures never do
    double write_s = 0;
    std::optional<Error> problem;  // that ended the writing
};

class ProcessedVolumes {
  public:
    // Files volume_000000.nrrd ... in `folder`, which is made. Throws Error{output}.
    explicit ProcessedVolumes(std::filesystem::path folder);
    ~ProcessedVolumes();  // writes what waits

    // Whether one more has room: worth reading back.
    bool has_room() const;

    // `voxels` waits for them. Never waits.
    void add(std::int64_t number, const VolumeGrid& grid, std::function<std::vector<std::byte>()> voxels,
             std::map<std::string, std::string> provenance = {});

    // One was not even read back.
    void leave_out();

    // Writes what waits and ends.
    ProcessedStats finish();

  private:
    static constexpr std::size_t max_waiting = 4;

    struct Waiting {
        std::int64_t number;
        VolumeGrid grid;
        std::function<std::vector<std::byte>()> voxels;
        std::map<std::string, std::string> provenance;  // what was done to it since it was reconstructed
    };

    void work();
    void write(Waiting waiting);

    std::filesystem::path folder_;
    mutable std::mutex mutex_;
    std::condition_variable comes_;
    std::deque<Waiting> waiting_;
    bool ends_ = false;
    ProcessedStats stats_;
    std::thread thread_;
};

}  // namespace echolux
