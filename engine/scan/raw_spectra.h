// Raw spectra on disk: positions of the acquired B-scans in the bytes of a scan, striping of these bytes over files,
// headers of B-scans, and readers of bytes and B-scans. All positions are 64-bit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/indexing.h"
#include "compute/plan/params.h"

namespace echolux {

struct Scan;

// ---- Striping of a large file over several files on different disks: stripe i is in part i mod N, and the stripes of
// a part are contiguous. N disks then read and write N times as fast as one.

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

    std::size_t parts() const { return index(parts_); }

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

// ---- Positions of the acquired B-scans (frames) in a raw file, in 64-bit bytes. Computes and checks all sizes before
// the first sample is read.

// Keys of [scan] that locate the samples.
struct SpectraFile {
    std::string file;     // relative to the TOML file
    std::string stripes;  // further files of a striped scan: names separated by semicolons
    std::int64_t stripe_bytes = usual_stripe_bytes;
    std::int64_t offset_bytes = 0;        // before the first frame
    std::int64_t frame_offset_bytes = 0;  // before the first line of each frame
    std::int64_t trailer_bytes = 0;       // after the last line
};

// Sizes in bytes.
struct SpectraLayout {
    std::int64_t offset_bytes = 0;        // before the first frame
    std::int64_t frame_offset_bytes = 0;  // before the first line of each frame
    std::int64_t line_bytes = 0;          // distance between lines, with all channels
    std::int64_t frame_bytes = 0;         // lines of a frame, including gaps
    std::int64_t flyback_bytes = 0;       // lines after them, while the beam returns
    std::int64_t frames_per_volume = 0;   // including flyback frames
    std::int64_t frames = 0;              // in the file
    std::int64_t trailer_bytes = 0;       // after the last line

    std::int64_t frame_stride() const { return frame_offset_bytes + frame_bytes + flyback_bytes; }
    std::int64_t volume_bytes() const { return frame_stride() * frames_per_volume; }
    std::int64_t lines_of_frame(std::int64_t frame) const {  // first byte
        return offset_bytes + frame * frame_stride() + frame_offset_bytes;
    }
    std::int64_t file_bytes() const { return offset_bytes + frames * frame_stride() + trailer_bytes; }
};

// Computes the layout. Throws Error{bad_setting}, naming `where` and the key, if sizes are zero, too small for a line,
// or exceed 64 bits.
SpectraLayout spectra_layout(const SpectraFile& file, const RawFormat& format, const ScanGeometry& geometry,
                             const std::string& where);

// Compares the layout with the size of the raw file, which may hold additional whole volumes. Throws Error{bad_file}
// naming `spectra`; if the file is too short, also the volume, B-scan and A-scan at which it ends.
void check_file_size(const SpectraLayout& layout, const ScanGeometry& geometry, std::int64_t size,
                     const std::string& spectra);

// ---- The 32-byte header before each acquired B-scan, in the space reserved by scan.frame_offset_bytes. Its sequence
// number and checksum allow independent scripts to verify a recording (docs/simulator.md).

constexpr std::int64_t frame_header_bytes = 32;

// Computes a CRC-32 as in zlib and PNG. To continue over several pieces: crc = crc32_of(piece, crc).
std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t crc = 0);

// Computes the same checksum for many bytes on all threads.
std::uint32_t crc32_of_many(std::span<const std::byte> bytes);

// Returns the header in little-endian order: 8 bytes "ECHOLUX1", u64 sequence, f64 time of the first line in seconds,
// u32 size of the frame in bytes, u32 CRC-32 of these 28 bytes and the frame.
std::array<std::byte, frame_header_bytes> frame_header(std::uint64_t sequence, double time_s,
                                                       std::span<const std::byte> frame);

// Builds headers for repeated frames of one size. The checksum of each frame is computed only once, by the caller.
class FrameStamp {
  public:
    explicit FrameStamp(std::uint32_t frame_bytes);

    // `frame_crc` is the crc32_of() of the frame alone.
    std::array<std::byte, frame_header_bytes> header(std::uint64_t sequence, double time_s,
                                                     std::uint32_t frame_crc) const;

  private:
    std::uint32_t frame_bytes_;
    std::uint32_t joining_;  // zlib's operator that appends frame_bytes_ bytes
};

// ---- The raw bytes of a scan, in one file or striped over several. Uses pread with 64-bit offsets instead of a
// stream, so that reads share no state and need no extra copy.

// Reads are thread-safe.
class RawBytes {
  public:
    // Opens all files of the spectra. Throws Error{bad_file} naming a missing or irregular file.
    explicit RawBytes(const Scan& scan);
    ~RawBytes();
    RawBytes(const RawBytes&) = delete;
    RawBytes& operator=(const RawBytes&) = delete;

    // Returns the current size in bytes; for stripes, up to the first missing byte.
    std::int64_t size() const;

    // Returns the name of the file that would contain the first missing byte, for messages.
    std::string file_that_ends() const;

    // Fills `out` from byte `place`. Throws Error{bad_file} naming a file that ends early or cannot be read.
    void read(std::int64_t place, std::span<std::byte> out) const;

  private:
    struct File {
        std::string path;
        int descriptor = -1;
    };

    void open_all(const std::vector<std::filesystem::path>& paths);
    void close_all();
    std::int64_t end_with(std::size_t part) const;
    static void read_from(const File& file, std::int64_t place, std::span<std::byte> out);

    Striping striping_;
    std::vector<File> files_;
};

// As check_file_size(). If the spectra end early, the error names the file that is too short.
void check_size(const Scan& scan, const SpectraLayout& layout, const RawBytes& raw);

// Returns all files of the spectra in order.
std::vector<std::filesystem::path> raw_files(const Scan& scan);

// As file_hash(), independent of striping. Returns "missing" if the files cannot be read.
std::string raw_hash(const Scan& scan);

// Streams acquired B-scans from raw files of any size. Use it from one thread at a time.
class SpectraReader {
  public:
    explicit SpectraReader(const Scan& scan);
    ~SpectraReader();
    SpectraReader(const SpectraReader&) = delete;
    SpectraReader& operator=(const SpectraReader&) = delete;

    std::int64_t bytes_per_b_scan() const;  // per B-scan position: b_repeats acquired B-scans

    // Reads B-scan positions [first, first + b_scans) of `volume` into `out`, which has b_scans * bytes_per_b_scan()
    // bytes. The data includes line gaps, but no frame offsets or flyback. Throws Error{bad_file} if the file ends
    // early, has changed its size since it was opened, or cannot be read.
    void read(std::int64_t volume, std::int64_t first, std::int64_t b_scans, std::span<std::byte> out);

    // Reads the bytes as recorded, including frame offsets and flyback. The last B-scan of a volume includes the
    // flyback frames after it.
    std::int64_t recorded_bytes(std::int64_t first, std::int64_t b_scans) const;
    void read_recorded(std::int64_t volume, std::int64_t first, std::int64_t b_scans, std::span<std::byte> out);

  private:
    void check_request(std::int64_t volume, std::int64_t first, std::int64_t b_scans, bool fits) const;
    ScanGeometry geometry_;
    SpectraLayout layout_;
    std::unique_ptr<RawBytes> raw_;
    std::string path_;
    std::int64_t size_ = 0;  // when it was opened
};

}  // namespace echolux
