// Where the time points of a series lie: in one file or folder of a format that holds several, or one file each: all
// volumes of a folder, or those whose names fit a pattern (scan_*.nrrd), in the order in which people count.
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

// Whether the last part of a path stands for several files: it holds * (any text) or ? (any letter), and no file has
// that very name.
bool is_pattern(const std::filesystem::path& path);

// The files of a pattern or a folder, in the order in which people count; of another path itself. Throws
// Error{bad_file}: there are none.
std::vector<std::filesystem::path> volumes_of(const std::filesystem::path& path);

// Of who named a folder: the scan in it, where there is one, as of a recording.
std::string remedy_for_folder(const std::filesystem::path& folder, const std::string& otherwise);

// From any thread; reads wait for each other. Files that can be opened have volumes of one size and one kind of voxels:
// others are no series. Throws Error{bad_file, bad_setting, out_of_memory}.
class TimePoints {
  public:
    // `may_differ`: numbers of B-scans may, until require_one_size().
    explicit TimePoints(const std::filesystem::path& path, bool may_differ = false);
    ~TimePoints();

    std::int64_t count() const;
    double step_s() const;  // 0: unknown
    std::string name() const { return name_; }

    // As the file of the first one says.
    const VolumeGrid& grid() const { return first_->header().grid; }
    VolumeGrid grid(std::int64_t step) const;

    // Throws Error{bad_file} where numbers of B-scans differ.
    void require_one_size() const;

    // From the start of the series; evenly spaced where the file does not say, 0 where it does not know.
    double time_s(std::int64_t step) const;

    Volume read(std::int64_t step) const;

    // Packed voxels of a box, depth fastest, at the least cost that the format allows: by chunks, by whole B-scans.
    // Levels above 0 need reads_boxes(). Throws Error{bad_setting} for a box outside.
    std::vector<std::byte> read_part(std::int64_t step, std::size_t level, const VolumeBox& box) const;

    // What the files of these say of themselves: once where they agree, else of each in its order, "a.toml; b.toml".
    std::map<std::string, std::string> provenance(const Interval& steps) const;

    // The same in parts: levels ever coarser, the first is the whole; boxes at a cost that goes with their size.
    bool reads_boxes() const { return first_->reads_boxes(); }
    std::vector<VolumeGrid> levels(std::int64_t step) const;
    std::vector<std::byte> read_box(std::int64_t step, std::size_t level, const VolumeBox& box) const;

    static constexpr std::size_t max_open = 3;  // files: of the shown step, of the coming one, and of a look elsewhere

  private:
    struct OpenFile {
        std::int64_t step;
        std::shared_ptr<SeriesFile> file;
    };

    std::shared_ptr<SeriesFile> file_of(std::int64_t step) const;
    void require_alike(std::int64_t step, const VolumeGrid& grid, bool may_differ) const;
    std::int64_t within_file(std::int64_t step) const { return files_.empty() ? step : 0; }

    std::string name_;
    std::vector<std::filesystem::path> files_;  // one each; empty: all are in the first
    std::int64_t first_step_ = 0;               // that can be opened
    mutable std::mutex mutex_;                  // of what follows
    std::shared_ptr<SeriesFile> first_;
    mutable std::vector<OpenFile> open_;  // where each has a file: the one that was used last goes first
};

}  // namespace echolux
