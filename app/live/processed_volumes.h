// Writes live volumes to files on its own thread. For volumes on a graphics device, the drawing thread starts the copy
// and this thread waits for it. If the disk is too slow, volumes are skipped and counted.
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

// Call before a source starts. Throws Error{output, bad_setting} if the folder already contains volumes, which would be
// mixed with the new ones, if its parent is missing, or if it has the name of a volume file.
void check_processed_folder(const std::filesystem::path& folder);

struct ProcessedStats {
    std::int64_t volumes = 0;   // written
    std::int64_t left_out = 0;  // skipped because the disk was too slow
    std::int64_t bytes = 0;
    double read_back_s = 0;  // time spent waiting for voxels; pictures never wait
    double write_s = 0;
    std::optional<Error> problem;  // error that ended writing
};

class ProcessedVolumes {
  public:
    // Writes volume_000000.nrrd ... to `folder`, which is created. Throws Error{output}.
    explicit ProcessedVolumes(std::filesystem::path folder);
    ~ProcessedVolumes();  // writes all queued volumes

    // Returns true if there is room for another volume, so reading it back is worthwhile.
    bool has_room() const;

    // `voxels` returns the voxels and may wait. This function never waits.
    void add(std::int64_t number, const VolumeGrid& grid, std::function<std::vector<std::byte>()> voxels,
             std::map<std::string, std::string> provenance = {});

    // Counts one volume that was not even read back.
    void leave_out();

    // Writes all queued volumes and ends the thread.
    ProcessedStats finish();

  private:
    static constexpr std::size_t max_waiting = 4;

    struct Waiting {
        std::int64_t number;
        VolumeGrid grid;
        std::function<std::vector<std::byte>()> voxels;
        std::map<std::string, std::string> provenance;  // processing steps after reconstruction
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
