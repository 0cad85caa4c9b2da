#include "engine/scan/raw_spectra.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plural.h"
#include "engine/io/regular_file.h"
#include "engine/scan/scan.h"

namespace echolux {

Striping::Piece Striping::piece_at(std::int64_t place, std::int64_t end) const {
    if (parts_ == 1) return {0, place, end - place};
    const std::int64_t stripe = place / stripe_, within = place % stripe_;
    return {index(stripe % parts_), stripe / parts_ * stripe_ + within, std::min(end - place, stripe_ - within)};
}

std::int64_t Striping::bytes_of(std::size_t part, std::int64_t end) const {
    if (parts_ == 1) return end;
    const std::int64_t row = stripe_ * parts_, before = stripe_ * static_cast<std::int64_t>(part);
    return end / row * stripe_ + std::clamp<std::int64_t>(end % row - before, 0, stripe_);
}

std::int64_t Striping::end_with(std::size_t part, std::int64_t part_bytes) const {
    if (parts_ == 1) return part_bytes;
    const std::int64_t stripe = part_bytes / stripe_ * parts_ + static_cast<std::int64_t>(part);
    return stripe * stripe_ + part_bytes % stripe_;
}

std::vector<std::string> stripe_names(std::string_view text) {
    std::vector<std::string> names;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(';'), text.size());
        names.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return names;
}

std::string text_of_stripes(const std::vector<std::filesystem::path>& names) {
    std::string text;
    for (const std::filesystem::path& name : names) text += (text.empty() ? "" : ";") + name.string();
    return text;
}

namespace {

// Integer arithmetic with overflow checks.
class Bytes {
  public:
    explicit Bytes(const std::string& where) : where_(where) {}

    std::int64_t product(std::int64_t a, std::int64_t b) const {
        std::int64_t result = 0;
        if (__builtin_mul_overflow(a, b, &result)) reject();
        return result;
    }

    std::int64_t sum(std::int64_t a, std::int64_t b) const {
        std::int64_t result = 0;
        if (__builtin_add_overflow(a, b, &result)) reject();
        return result;
    }

  private:
    [[noreturn]] void reject() const {
        throw Error(ErrorCode::bad_setting, "describes more bytes than any file can hold", where_ + ", [scan]",
                    "check samples, a_scans, b_scans, volumes and the repeats");
    }

    const std::string& where_;
};

void check_positive(std::int64_t number, const char* key, const std::string& where) {
    if (number > 0) return;
    throw Error(ErrorCode::bad_setting, "is missing or 0", where + ", scan." + key, "set it to at least 1");
}

// Returns the number of samples per spectrum that fits the file size if everything else is correct; 0 if there is none.
std::int64_t fitting_samples(const SpectraLayout& layout, const ScanGeometry& geometry, std::int64_t size) {
    const std::int64_t lines = layout.frames * geometry.lines_per_frame();
    const std::int64_t bytes =
        size - layout.offset_bytes - layout.trailer_bytes - layout.frames * layout.frame_offset_bytes;
    if (bytes <= 0 || bytes % lines != 0 || layout.line_bytes % geometry.samples != 0) return 0;
    const std::int64_t sample_bytes = layout.line_bytes / geometry.samples;  // of all channels
    return bytes / lines % sample_bytes == 0 ? bytes / lines / sample_bytes : 0;
}

std::string fitting_text(const SpectraLayout& layout, const ScanGeometry& geometry, std::int64_t size) {
    const std::int64_t samples = fitting_samples(layout, geometry, size);
    return samples == 0 ? "" : fmt::format(", which fits scan.samples = {} instead of {}", samples, geometry.samples);
}

}  // namespace

SpectraLayout spectra_layout(const SpectraFile& file, const RawFormat& format, const ScanGeometry& geometry,
                             const std::string& where) {
    check_positive(geometry.samples, "samples", where);
    check_positive(geometry.a_scans, "a_scans", where);
    check_positive(geometry.b_scans, "b_scans", where);
    RawFormat packed = format;
    packed.line_bytes = 0;
    const std::int64_t needed = line_bytes(packed, geometry);
    if (line_bytes(format, geometry) < needed) {
        throw Error(
            ErrorCode::bad_setting,
            fmt::format("expected at least {} (samples and channels of one line), got {}", needed, format.line_bytes),
            where + ", scan.line_bytes", "set it to 0 if lines follow without a gap");
    }
    const Bytes bytes(where);
    SpectraLayout layout;
    layout.offset_bytes = file.offset_bytes;
    layout.frame_offset_bytes = file.frame_offset_bytes;
    layout.trailer_bytes = file.trailer_bytes;
    layout.line_bytes = line_bytes(format, geometry);
    layout.frame_bytes = bytes.product(layout.line_bytes, bytes.product(geometry.a_scans, geometry.a_repeats));
    layout.flyback_bytes = bytes.product(layout.line_bytes, geometry.flyback_lines);
    layout.frames_per_volume = bytes.sum(bytes.product(geometry.b_scans, geometry.b_repeats), geometry.flyback_frames);
    layout.frames = bytes.product(layout.frames_per_volume, geometry.volumes);
    const std::int64_t stride =
        bytes.sum(bytes.sum(layout.frame_offset_bytes, layout.frame_bytes), layout.flyback_bytes);
    bytes.sum(bytes.sum(file.offset_bytes, file.trailer_bytes), bytes.product(stride, layout.frames));
    return layout;
}

void check_file_size(const SpectraLayout& layout, const ScanGeometry& geometry, std::int64_t size,
                     const std::string& spectra) {
    const std::int64_t expected = layout.file_bytes();
    if (size == expected) return;
    if (size == 0)
        throw Error(ErrorCode::bad_file, fmt::format("is empty, {} are expected", plural(expected, "bytes")), spectra);
    if (size > expected) {
        if (layout.trailer_bytes == 0 && (size - expected) % layout.volume_bytes() == 0) return;
        throw Error(ErrorCode::bad_file,
                    fmt::format("is {} long, {} more than the scan describes{}", plural(size, "bytes"), size - expected,
                                fitting_text(layout, geometry, size)),
                    spectra,
                    "check scan.samples, a_scans, b_scans, volumes and sample_format; skip a header with "
                    "scan.offset_bytes, a footer with scan.trailer_bytes");
    }
    const std::int64_t lines_end = expected - layout.trailer_bytes;
    if (size >= lines_end) {
        throw Error(ErrorCode::bad_file,
                    fmt::format("ends within its last {}: {} of {}", plural(layout.trailer_bytes, "bytes"), size,
                                plural(expected, "bytes")),
                    spectra, "copy the file again");
    }
    if (size < layout.offset_bytes) {
        throw Error(ErrorCode::bad_file,
                    fmt::format("ends before the first spectrum: {} of {}", size, plural(expected, "bytes")), spectra,
                    "check scan.offset_bytes, or copy the file again");
    }
    const std::int64_t frame = (size - layout.offset_bytes) / layout.frame_stride();
    const std::int64_t b_scan = frame % layout.frames_per_volume / geometry.b_repeats;
    const std::int64_t in_lines = std::max<std::int64_t>(0, size - layout.lines_of_frame(frame));
    throw Error(ErrorCode::bad_file,
                fmt::format("ends in volume {}, B-scan {}, A-scan {} (counted from 0): {} of {}{}",
                            frame / layout.frames_per_volume, std::min(b_scan, geometry.b_scans - 1),
                            std::min(in_lines / layout.line_bytes / geometry.a_repeats, geometry.a_scans - 1), size,
                            plural(expected, "bytes"), fitting_text(layout, geometry, size)),
                spectra,
                "check scan.samples and sample_format; set scan.volumes and scan.b_scans to what was recorded, or copy "
                "the file "
                "again");
}

static_assert(std::endian::native == std::endian::little, "headers are copied as memory stores them");

constexpr std::size_t checked_bytes = 28;  // all of the header except the checksum

std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t crc) {
    return static_cast<std::uint32_t>(::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// Smaller pieces than this are not worth a thread.
std::uint32_t crc32_of_many(std::span<const std::byte> bytes) {
    constexpr std::size_t fewest = std::size_t{1} << 18;
    std::array<std::uint32_t, 64> crcs{};
    const std::size_t count = std::clamp<std::size_t>(bytes.size() / fewest, 1, crcs.size());
    if (count == 1) return crc32_of(bytes);
    const std::size_t length = (bytes.size() + count - 1) / count;
    const auto piece = [&](std::size_t i) {
        const std::size_t begin = std::min(i * length, bytes.size());
        return bytes.subspan(begin, std::min(length, bytes.size() - begin));
    };
    parallel_for(0, static_cast<std::int64_t>(count), [&](std::int64_t i) {
        const auto index = static_cast<std::size_t>(i);
        crcs.at(index) = crc32_of(piece(index));
    });
    std::uint32_t crc = crcs[0];
    for (std::size_t i = 1; i < count; ++i) {
        crc = static_cast<std::uint32_t>(::crc32_combine(crc, crcs.at(i), static_cast<z_off_t>(piece(i).size())));
    }
    return crc;
}

std::array<std::byte, frame_header_bytes> frame_header(std::uint64_t sequence, double time_s,
                                                       std::span<const std::byte> frame) {
    return FrameStamp(static_cast<std::uint32_t>(frame.size())).header(sequence, time_s, crc32_of(frame));
}

FrameStamp::FrameStamp(std::uint32_t frame_bytes)
    : frame_bytes_(frame_bytes),
      joining_(static_cast<std::uint32_t>(::crc32_combine_gen(static_cast<z_off_t>(frame_bytes)))) {}

std::array<std::byte, frame_header_bytes> FrameStamp::header(std::uint64_t sequence, double time_s,
                                                             std::uint32_t frame_crc) const {
    std::array<std::byte, frame_header_bytes> header{};
    std::memcpy(header.data(), "ECHOLUX1", 8);
    std::memcpy(header.data() + 8, &sequence, 8);
    std::memcpy(header.data() + 16, &time_s, 8);
    std::memcpy(header.data() + 24, &frame_bytes_, 4);
    const std::uint32_t own = crc32_of(std::span(header).first(checked_bytes));
    const auto joined = static_cast<std::uint32_t>(::crc32_combine_op(own, frame_crc, joining_));
    std::memcpy(header.data() + checked_bytes, &joined, 4);
    return header;
}

static std::int64_t size_of(int descriptor, const std::string& path) {
    struct stat status {};
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        throw Error(ErrorCode::bad_file, "is not a file", path);
    }
    return status.st_size;
}

std::vector<std::filesystem::path> raw_files(const Scan& scan) {
    std::vector<std::filesystem::path> files{scan.spectra};
    files.insert(files.end(), scan.stripes.begin(), scan.stripes.end());
    return files;
}

std::string raw_hash(const Scan& scan) try {
    const RawBytes raw(scan);
    const std::int64_t size = raw.size();
    Fingerprint print;
    std::vector<std::byte> piece(std::size_t{1} << 20);
    for (std::int64_t place = 0; place < size; place += std::ssize(piece)) {
        const std::int64_t count = std::min<std::int64_t>(std::ssize(piece), size - place);
        const auto some = std::span(piece).first(index(count));
        raw.read(place, some);
        print.add(some);
    }
    return print.text();
} catch (const Error&) {
    return "missing";
}

RawBytes::RawBytes(const Scan& scan) : striping_(1 + scan.stripes.size(), scan.file.stripe_bytes) {
    try {
        open_all(raw_files(scan));
    } catch (...) {
        close_all();
        throw;
    }
}

RawBytes::~RawBytes() {
    close_all();
}

void RawBytes::open_all(const std::vector<std::filesystem::path>& paths) {
    files_.reserve(paths.size());
    for (const std::filesystem::path& path : paths) {
        File& file = files_.emplace_back(File{path.string()});
        file.descriptor = open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // opening a pipe must not block
        if (file.descriptor < 0) {
            throw Error(ErrorCode::bad_file, fmt::format("cannot be opened: {}", std::strerror(errno)), file.path);
        }
        size_of(file.descriptor, file.path);
    }
}

void RawBytes::close_all() {
    for (const File& file : files_) {
        if (file.descriptor >= 0) close(file.descriptor);
    }
}

std::int64_t RawBytes::end_with(std::size_t part) const {
    return striping_.end_with(part, size_of(files_[part].descriptor, files_[part].path));
}

std::int64_t RawBytes::size() const {
    std::int64_t size = std::numeric_limits<std::int64_t>::max();
    for (std::size_t part = 0; part < files_.size(); ++part) size = std::min(size, end_with(part));
    return size;
}

std::string RawBytes::file_that_ends() const {
    std::size_t first = 0;
    for (std::size_t part = 1; part < files_.size(); ++part) {
        if (end_with(part) < end_with(first)) first = part;
    }
    if (files_.size() == 1) return files_[first].path;
    return fmt::format("{}, part {} of {} of the spectra", files_[first].path, first + 1, files_.size());
}

void check_size(const Scan& scan, const SpectraLayout& layout, const RawBytes& raw) {
    const std::int64_t size = raw.size();
    // A running recording may grow after its last whole block was found.
    if (scan.recording.was_cut() && size > layout.file_bytes()) return;
    const bool ends_early = size < layout.file_bytes();
    check_file_size(layout, scan.geometry, size, ends_early ? raw.file_that_ends() : scan.spectra.string());
}

void RawBytes::read(std::int64_t place, std::span<std::byte> out) const {
    const std::int64_t end = place + std::ssize(out);
    while (place < end) {
        const Striping::Piece piece = striping_.piece_at(place, end);
        read_from(files_[piece.part], piece.place, out.first(index(piece.bytes)));
        out = out.subspan(index(piece.bytes));
        place += piece.bytes;
    }
}

void RawBytes::read_from(const File& file, std::int64_t place, std::span<std::byte> out) {
    while (!out.empty()) {
        const ssize_t got = pread(file.descriptor, out.data(), out.size(), place);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            throw Error(ErrorCode::bad_file, fmt::format("cannot be read: {}", std::strerror(errno)), file.path);
        }
        if (got == 0) {
            throw Error(ErrorCode::bad_file, fmt::format("ends at byte {} while it was read", place), file.path);
        }
        out = out.subspan(index(got));
        place += got;
    }
}

// ---- Streams raw spectra. Without gaps between frames, a request is a single read.

SpectraReader::SpectraReader(const Scan& scan)
    : geometry_(scan.geometry), layout_(spectra_layout(scan.file, scan.format, scan.geometry, scan.path.string())),
      raw_(std::make_unique<RawBytes>(scan)), path_(scan.spectra.string()), size_(raw_->size()) {
    check_size(scan, layout_, *raw_);
}

SpectraReader::~SpectraReader() = default;

std::int64_t SpectraReader::bytes_per_b_scan() const {
    return layout_.frame_bytes * geometry_.b_repeats;
}

void SpectraReader::read(std::int64_t volume, std::int64_t first, std::int64_t b_scans, std::span<std::byte> out) {
    check_request(volume, first, b_scans, std::ssize(out) == b_scans * bytes_per_b_scan());
    const bool gapless = layout_.frame_stride() == layout_.frame_bytes;
    const std::int64_t piece = gapless ? std::ssize(out) : layout_.frame_bytes;
    std::int64_t frame = volume * layout_.frames_per_volume + first * geometry_.b_repeats;
    for (std::size_t done = 0; done < out.size(); ++frame) {
        raw_->read(layout_.lines_of_frame(frame), out.subspan(done, index(piece)));
        done += index(piece);
    }
}

std::int64_t SpectraReader::recorded_bytes(std::int64_t first, std::int64_t b_scans) const {
    const bool is_last = first + b_scans == geometry_.b_scans;
    return (b_scans * geometry_.b_repeats + (is_last ? geometry_.flyback_frames : 0)) * layout_.frame_stride();
}

void SpectraReader::read_recorded(std::int64_t volume, std::int64_t first, std::int64_t b_scans,
                                  std::span<std::byte> out) {
    check_request(volume, first, b_scans, std::ssize(out) == recorded_bytes(first, b_scans));
    const std::int64_t frame = volume * layout_.frames_per_volume + first * geometry_.b_repeats;
    raw_->read(layout_.lines_of_frame(frame) - layout_.frame_offset_bytes, out);
}

void SpectraReader::check_request(std::int64_t volume, std::int64_t first, std::int64_t b_scans, bool fits) const {
    const bool inside =
        volume >= 0 && volume < geometry_.volumes && first >= 0 && b_scans >= 0 && b_scans <= geometry_.b_scans - first;
    if (!inside || !fits) {
        throw Error(
            ErrorCode::bad_setting,
            fmt::format("the scan has no {} from {} on in volume {}", plural(b_scans, "B-scans"), first, volume),
            path_);
    }
    const std::int64_t size = raw_->size();
    if (size != size_) {
        throw Error(ErrorCode::bad_file,
                    fmt::format("changed from {} to {} while it was read", size_, plural(size, "bytes")), path_,
                    "wait until the recording is complete");
    }
}

}  // namespace echolux
