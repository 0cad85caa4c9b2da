// Headers before each B-scan of an unknown raw file. The size of the file leaves few ways to divide it into equal
// frames of a short header and whole lines; the right one is that in which lines of all frames lie on top of each
// other.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace echolux {

struct RawFrames {
    std::int64_t offset_bytes = 0;  // before the first
    std::int64_t header_bytes = 0;  // of each
    std::int64_t lines = 0;         // of each
    std::int64_t frames = 0;
};

// Whether some way to divide so many bytes has headers of a usual length.
class FrameSizes {
  public:
    explicit FrameSizes(std::int64_t file_bytes);

    std::vector<RawFrames> with_lines_of(std::int64_t line_bytes) const;

  private:
    struct Division {
        std::int64_t offset_bytes, frame_bytes, frames;
    };
    std::vector<Division> divisions_;
};

// `samples`: those at the beginning of the file, of `sample_bytes` each. Nothing: lines lie on top of each other at
// least as well without headers, `plain_offset_bytes` from the beginning.
std::optional<RawFrames> frames_in(const std::vector<float>& samples, std::int64_t sample_bytes, std::int64_t line,
                                   std::int64_t plain_offset_bytes, const FrameSizes& sizes);

}  // namespace echolux
