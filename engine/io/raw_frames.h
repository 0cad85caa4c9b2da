// Finds headers before each B-scan of an unknown raw file. Few divisions of the file size give equal frames that
// consist of a short header and whole lines. In the correct one, the lines of all frames are aligned.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace echolux {

// Layout of a file with headers before each B-scan.
struct RawFrames {
    std::int64_t offset_bytes = 0;  // before the first frame
    std::int64_t header_bytes = 0;  // per frame
    std::int64_t lines = 0;         // per frame
    std::int64_t frames = 0;
};

// Divisions of a file size into equal frames.
class FrameSizes {
  public:
    explicit FrameSizes(std::int64_t file_bytes);

    // Returns the divisions with whole lines of this size and a header of a typical length.
    std::vector<RawFrames> with_lines_of(std::int64_t line_bytes) const;

  private:
    struct Division {
        std::int64_t offset_bytes, frame_bytes, frames;
    };
    std::vector<Division> divisions_;
};

// Finds the best division. `samples` are those at the beginning of the file, `sample_bytes` bytes each; `line` is the
// length of a line in samples. Returns std::nullopt if lines are aligned equally well without headers, starting at
// `plain_offset_bytes`.
std::optional<RawFrames> frames_in(const std::vector<float>& samples, std::int64_t sample_bytes, std::int64_t line,
                                   std::int64_t plain_offset_bytes, const FrameSizes& sizes);

}  // namespace echolux
