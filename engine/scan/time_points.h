// The time points of a series. They are in one file or folder of a format that supports several, or in one file each:
// all volumes of a folder, or those whose names match a pattern (scan_*.nrrd), in natural order.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/interval.h"
#include "engine/io/volume_file.h"

namespace echolux {

// Returns whether the last component of a path is a pattern: it contains * (any text) or ? (any character), and no such
// file exists.
bool is_pattern(const std::filesystem::path& path);

// Returns the files of a pattern or folder in natural order, or the path itself for other paths. Throws Error{bad_file}
// if there are none.
std::vector<std::filesystem::path> volumes_of(const std::filesystem::path& path);

// Returns a remedy for a folder given by mistake: suggests the scan in it if there is one, as in a recording's folder.
std::string remedy_for_folder(const std::filesystem::path& folder, const std::string& otherwise);

// Thread-safe; reads are serialised. All readable files must have the same size and voxel type. Throws Error{bad_file,
// bad_setting, out_of_memory}.
class TimePoints {
  public:
    // `may_differ` allows different numbers of B-scans until require_one_size().
    explicit TimePoints(const std::filesystem::path& path, bool may_differ = false);
    ~TimePoints();

    std::int64_t count() const;
    double step_s() const;  // 0 if unknown
    std::string name() const { return name_; }

    // Grid of the first readable file.
    const VolumeGrid& grid() const { return first_->header().grid; }
    VolumeGrid grid(std::int64_t step) const;

    // Throws Error{bad_file} if numbers of B-scans differ.
    void require_one_size() const;

    // Returns the time since the start of the series: as stored in the file, else evenly spaced, else 0.
    double time_s(std::int64_t step) const;

    // Reads one time point.
    Volume read(std::int64_t step) const;

    // Returns the voxels of a box without gaps, depth fastest, in the cheapest way for the format: by chunks or whole
    // B-scans. Levels above 0 require reads_boxes(). Throws Error{bad_setting} for a box outside the volume.
    std::vector<std::byte> read_part(std::int64_t step, std::size_t level, const VolumeBox& box) const;

    // Returns the provenance of these steps. Values that differ between files are joined in order: "a.toml; b.toml".
    std::map<std::string, std::string> provenance(const Interval& steps) const;

    // Access to parts: resolution levels, of which the first is the whole volume, and boxes at a cost proportional to
    // their size.
    bool reads_boxes() const { return first_->reads_boxes(); }
    std::vector<VolumeGrid> levels(std::int64_t step) const;
    std::vector<std::byte> read_box(std::int64_t step, std::size_t level, const VolumeBox& box) const;

    static constexpr std::size_t max_open = 3;  // open files: shown step, next step, and one for another use

  private:
    struct OpenFile {
        std::int64_t step;
        std::shared_ptr<SeriesFile> file;
    };

    std::shared_ptr<SeriesFile> file_of(std::int64_t step) const;
    void require_alike(std::int64_t step, const VolumeGrid& grid, bool may_differ) const;
    std::int64_t within_file(std::int64_t step) const { return files_.empty() ? step : 0; }

    std::string name_;
    std::vector<std::filesystem::path> files_;  // one per time point; empty: all are in one file
    std::int64_t first_step_ = 0;               // first that can be opened
    mutable std::mutex mutex_;                  // protects the members below
    std::shared_ptr<SeriesFile> first_;
    mutable std::vector<OpenFile> open_;  // most recently used first
};

}  // namespace echolux
