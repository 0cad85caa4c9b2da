// Striping of a large file over several files on different disks: stripe i is in part i mod N, and the stripes of a
// part are contiguous. N disks then read and write N times as fast as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace echolux {

// Default for recordings: a multiple of the alignment of disks, and small compared with a block.
inline constexpr std::int64_t usual_stripe_bytes = std::int64_t{1} << 20;

inline constexpr std::int64_t max_stripe_bytes = std::int64_t{1} << 30;
inline constexpr std::size_t max_parts = 64;  // including the first file

// Maps between bytes of the whole and of its parts.
class Striping {
  public:
    // With a single part, all bytes are in that file.
    explicit Striping(std::size_t parts = 1, std::int64_t stripe_bytes = usual_stripe_bytes)
        : parts_(static_cast<std::int64_t>(parts)), stripe_(stripe_bytes) {}

    std::size_t parts() const { return static_cast<std::size_t>(parts_); }

    // A contiguous range in one part.
    struct Piece {
        std::size_t part = 0;
        std::int64_t place = 0;  // offset in the part
        std::int64_t bytes = 0;
    };

    // Returns the first contiguous piece of [place, end).
    Piece piece_at(std::int64_t place, std::int64_t end) const;

    // Returns how many of the first `end` bytes are in the part.
    std::int64_t bytes_of(std::size_t part, std::int64_t end) const;

    // Returns the end of the whole if the part has `part_bytes` bytes and the others are long enough.
    std::int64_t end_with(std::size_t part, std::int64_t part_bytes) const;

  private:
    std::int64_t parts_;
    std::int64_t stripe_;
};

// Split and join scan.stripes, whose names are separated by semicolons.
std::vector<std::string> stripe_names(std::string_view text);
std::string text_of_stripes(const std::vector<std::filesystem::path>& names);

}  // namespace echolux
