// A recording that another one of its name is to replace. It steps aside into a folder of its own, where it opens as
// before, and is removed only when its successor has something on the disk: a camera that sends nothing, a disk that
// fails or a power cut never leave neither.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/live/recording_names.h"

namespace echolux {

class EarlierRecording {
  public:
    EarlierRecording() = default;  // there is none

    // Moves what is there of `files`, the folder `truth`, and the calibration files that the recording `scan_toml`
    // made, into the first of the folders NAME.before, NAME.before-2, ... that is not there yet. Stripes on other disks
    // stay where they are, and the recording that replaces it takes other names for its own. Throws Error{output}: all
    // is where it was.
    EarlierRecording(const std::filesystem::path& scan_toml, std::vector<std::filesystem::path> files,
                     const std::filesystem::path& truth);

    // Where it waits; empty: there is none.
    const std::filesystem::path& folder() const { return folder_; }

    // What it was asked to do, and then there is none; but for what cannot be moved back, which stays in folder().
    void put_back() noexcept;
    void remove() noexcept;

    // What remove() left of its stripes, and why, in one line; empty: nothing.
    std::string stripes_left() const;

  private:
    void end() noexcept;

    std::filesystem::path folder_;
    struct Moved {
        std::filesystem::path from, to;
    };
    std::vector<Moved> moved_;
    NamedStripes stripes_;
    bool is_removed_ = false;
};

}  // namespace echolux
