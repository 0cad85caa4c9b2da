// Volumes that are read some B-scans at a time, so that a series need not fit into memory: one file with all its time
// points, volumes of a folder or pattern as time points, parts of a volume written by `echolux reconstruct --blocks`,
// which are joined, or a volume in memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/interval.h"
#include "engine/io/volume_file.h"

namespace echolux {

class TimePoints;

class ConvertInput {
  public:
    // Throws Error{bad_setting, bad_file} if there is no volume, the volumes do not form a series, or parts leave gaps.
    explicit ConvertInput(const std::filesystem::path& path);
    explicit ConvertInput(std::shared_ptr<const Volume> held);
    ~ConvertInput();

    // Header for the chosen time points. Texts that differ between files are joined.
    SeriesHeader header(const Interval& time_points) const;
    const SeriesHeader& header() const { return header_; }

    std::int64_t b_scans_together() const;

    // Reads whole B-scans of a time point. Throws Error{bad_file}.
    std::vector<std::byte> read(std::int64_t time_point, Interval b_scans);

    // Number of files that were joined per time point; 1 means not joined.
    std::int64_t parts() const { return parts_; }

  private:
    struct Part;

    void find_parts();
    static void require_joined(const std::vector<Part>& parts, const std::string& name);
    const Volume& volume(std::int64_t step);

    std::shared_ptr<const Volume> held_;
    std::unique_ptr<SeriesFile> file_;
    std::unique_ptr<TimePoints> files_;
    std::vector<Part> order_;  // the files of all time points, if they are parts
    std::int64_t parts_ = 1;
    Volume volume_;
    std::int64_t kept_ = -1;  // time point held in volume_
    SeriesHeader header_;
};

}  // namespace echolux
