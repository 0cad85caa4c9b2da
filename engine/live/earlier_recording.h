// An earlier recording that a new one of the same name will replace. It is moved to its own folder, where it can still
// be opened, and removed only after its successor has data on the disk. A silent camera, a failing disk or a power cut
// therefore never destroy both.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/live/recording_names.h"

namespace echolux {

// Owns the moved files until they are put back or removed.
class EarlierRecording {
  public:
    EarlierRecording() = default;  // no earlier recording

    // Moves the existing ones of `files`, the folder `truth` and the calibration files written by the recording
    // `scan_toml` to the first unused folder of NAME.before, NAME.before-2, ... Stripes on other disks stay in place;
    // the new recording uses other names for its own. Throws Error{output} after moving everything back.
    EarlierRecording(const std::filesystem::path& scan_toml, std::vector<std::filesystem::path> files,
                     const std::filesystem::path& truth);

    // Returns the folder of the earlier recording, empty if there is none.
    const std::filesystem::path& folder() const { return folder_; }

    // Moves the files back, or removes them. There is no earlier recording afterwards, except for files that cannot be
    // moved back, which stay in folder().
    void put_back() noexcept;
    void remove() noexcept;

    // Returns one line about stripes that remove() left, and why; empty if there are none.
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
