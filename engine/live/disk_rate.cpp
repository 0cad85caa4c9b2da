#include "engine/live/disk_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include "compute/error.h"
#include "compute/place.h"
#include "engine/live/striped_file.h"
#include "engine/scan/raw_bytes.h"

namespace echolux {
namespace {

using Path = std::filesystem::path;

// Below this data rate, any disk is fast enough.
constexpr double any_disk_bytes_per_s = 50e6;
constexpr std::int64_t piece_bytes = 4 << 20;  // to each disk at a time
constexpr std::int64_t min_pieces = 8;         // min for a meaningful measurement
constexpr std::int64_t max_trial_bytes = std::int64_t{1} << 30;
constexpr double trial_s = 0.2;

// Opens one file next to each path. The names are removed at once, so the files disappear when closed, even if the
// program crashes.
std::unique_ptr<DurableFile> nameless_file(const std::vector<Path>& beside, std::int64_t stripe_bytes,
                                           const RecordingTools& tools) {
    std::vector<std::unique_ptr<DurableFile>> files;
    for (const Path& path : beside) {
        const Path name = path.string() + ".try";
        std::unique_ptr<DurableFile> file = tools.open_raw(name);
        std::error_code ignored;
        std::filesystem::remove(name, ignored);
        files.push_back(std::move(file));
    }
    return as_one(std::move(files), stripe_bytes);
}

// Returns random bytes, which a compressing file system cannot shrink, like spectra.
BlockMemory noise(std::int64_t bytes) {
    BlockMemory memory = block_memory(bytes, MemoryKind::host);
    std::mt19937_64 random;
    for (std::int64_t at = 0; at < bytes; at += 8) {
        const std::uint64_t word = random();
        std::memcpy(memory.data + at, &word, 8);
    }
    return memory;
}

// Returns how much a test may write. The disks must keep room for the recording and for other writers.
std::int64_t max_bytes_to_try(const std::vector<DiskRoom>& rooms) {
    std::int64_t bytes = max_trial_bytes;
    for (const DiskRoom& room : rooms) bytes = std::min(bytes, (room.free_bytes - room.wanted_bytes) / 2);
    return bytes;
}

// Returns whether the blocks that may be held cover what the disks lag behind at the end of a recording of known
// length.
bool pool_bridges_the_gap(const RecordingWanted& wanted, double arriving, double taken) {
    return static_cast<double>(wanted.expected_bytes) * (1 - taken / arriving) <=
           static_cast<double>(wanted.held_bytes);
}

}  // namespace

double bytes_per_s(const Scan& scan, double line_rate_hz) {
    const SpectraLayout layout = spectra_layout(scan.file, scan.format, scan.geometry, scan.path.string());
    const std::int64_t lines = layout.frames_per_volume * scan.geometry.lines_per_frame();
    return static_cast<double>(layout.volume_bytes()) / static_cast<double>(lines) * line_rate_hz;
}

// Writes one piece, then two, four and so on, and flushes each time. A slow disk ends the test early. On a fast disk
// the last round, which alone counts, is long enough.
std::optional<double> measured_disk_rate(const std::vector<Path>& files, std::int64_t stripe_bytes,
                                         std::int64_t max_bytes, const RecordingTools& tools) {
    const std::int64_t bytes = piece_bytes * std::ssize(files), max_pieces = max_bytes / bytes;
    if (max_pieces < min_pieces) return {};
    const std::unique_ptr<DurableFile> file = nameless_file(files, stripe_bytes, tools);
    const BlockMemory piece = noise(bytes);
    const double begin = tools.seconds();
    double rate = 0, now = begin;
    for (std::int64_t done = 0, round = 1; now - begin < trial_s && done + round <= max_pieces; round *= 2) {
        for (std::int64_t i = 0; i < round; ++i)
            file->write(bytes * done++, {piece.data, static_cast<std::size_t>(bytes)});
        file->sync();
        const double before = std::exchange(now, tools.seconds());
        rate = static_cast<double>(round * bytes) / std::max(now - before, 1e-9);
    }
    return rate;
}

std::string check_disk_rate(const RecordingWanted& wanted, const Scan& recorded, const std::vector<DiskRoom>& rooms,
                            const RecordingTools& tools) {
    const double arriving = bytes_per_s(recorded, wanted.line_rate_hz);
    if (arriving < any_disk_bytes_per_s) return {};
    const std::vector<Path> files = raw_files(recorded);
    const std::optional<double> taken =
        measured_disk_rate(files, recorded.file.stripe_bytes, max_bytes_to_try(rooms), tools);
    if (!taken) return {};
    const char* const disks = files.size() == 1 ? "the disk takes" : "the disks together take";
    std::string rates =
        fmt::format("spectra come at {:.3g} GB/s, {} {:.3g} GB/s", 1e-9 * arriving, disks, 1e-9 * *taken);
    if (*taken >= arriving) return rates;
    if (wanted.expected_bytes <= 0) return rates + ": blocks will be missing if they come without a pause";
    if (pool_bridges_the_gap(wanted, arriving, *taken)) return rates;
    throw Error(ErrorCode::output, rates, recorded.spectra.string(),
                "record to more disks with `stripes`, to a faster one, or at a lower line rate");
}

}  // namespace echolux
