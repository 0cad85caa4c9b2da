// What `echolux convert` reads: one file with all its time points, in parts; volumes of a folder or pattern, a time
// point each; or the parts of a volume that `echolux reconstruct --blocks` wrote, which are joined.
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
    // Throws Error{bad_setting, bad_file}: no volume, volumes that are no series, parts that leave gaps.
    explicit ConvertInput(const std::filesystem::path& path);
    ~ConvertInput();

    // Of all time points that are chosen; of them texts are joined where files differ.
    SeriesHeader header(const Interval& time_points) const;
    const SeriesHeader& header() const { return header_; }

    std::int64_t b_scans_together() const;

    // Whole B-scans of a time point. Throws Error{bad_file}.
    std::vector<std::byte> read(std::int64_t time_point, Interval b_scans);

    // How many files each time point was joined of; 1: none was.
    std::int64_t parts() const { return parts_; }

  private:
    struct Part;

    void find_parts();
    static void require_joined(const std::vector<Part>& parts, const std::string& name);
    const Volume& volume(std::int64_t step);

    std::unique_ptr<SeriesFile> file_;
    std::unique_ptr<TimePoints> files_;
    std::vector<Part> order_;  // of the files of all time points, where they are parts
    std::int64_t parts_ = 1;
    Volume volume_;
    std::int64_t kept_ = -1;  // which is in volume_
    SeriesHeader header_;
};

}  // namespace echolux
