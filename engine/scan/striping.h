// The bytes of one large file as they lie in stripes in several, each on a disk of its own: stripe i in part i mod N,
// one behind the other there. So N disks take and give them N times as fast as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace echolux {

// Of a recording: a multiple of what disks ask for, and a small part of a block.
inline constexpr std::int64_t usual_stripe_bytes = std::int64_t{1} << 20;

inline constexpr std::int64_t max_stripe_bytes = std::int64_t{1} << 30;
inline constexpr std::size_t max_parts = 64;  // files, the first one included

class Striping {
  public:
    // One part: the file itself, whatever the stripes.
    explicit Striping(std::size_t parts = 1, std::int64_t stripe_bytes = usual_stripe_bytes)
        : parts_(static_cast<std::int64_t>(parts)), stripe_(stripe_bytes) {}

    std::size_t parts() const { return static_cast<std::size_t>(parts_); }

    struct Piece {
        std::size_t part = 0;
        std::int64_t place = 0;  // in the part
        std::int64_t bytes = 0;
    };

    // The first piece of [place, end).
    Piece piece_at(std::int64_t place, std::int64_t end) const;

    // How many of the first `end` bytes lie in the part.
    std::int64_t bytes_of(std::size_t part, std::int64_t end) const;

    // Up to where bytes may be there, of which a part holds so many.
    std::int64_t end_with(std::size_t part, std::int64_t part_bytes) const;

  private:
    std::int64_t parts_;
    std::int64_t stripe_;
};

// scan.stripes, names with semicolons between them, taken apart and put together.
std::vector<std::string> stripe_names(std::string_view text);
std::string text_of_stripes(const std::vector<std::filesystem::path>& names);

}  // namespace echolux
