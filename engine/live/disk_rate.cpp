#include "engine/live/disk_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compute/block_memory.h"
#include "compute/error.h"
#include "engine/live/striped_file.h"
#include "engine/scan/raw_bytes.h"

namespace echolux {
namespace {

using Path = std::filesystem::path;

constexpr double any_disk_bytes_per_s = 50e6;
constexpr std::int64_t piece_bytes = 16 << 20;  // as large as blocks are
constexpr double measured_s = 0.2;
constexpr int fewest_pieces = 4, most_pieces = 64;  // 1 GiB

// Files that are gone again, whatever happens.
class TryFiles {
  public:
    TryFiles(const std::vector<Path>& beside, std::int64_t stripe_bytes, const RecordingTools& tools) {
        std::vector<std::unique_ptr<DurableFile>> files;
        try {
            for (const Path& path : beside) {
                files.push_back(tools.open_raw(path.string() + ".try"));
                names_.push_back(path.string() + ".try");
            }
        } catch (...) {
            remove();
            throw;
        }
        file_ = as_one(std::move(files), stripe_bytes);
    }
    ~TryFiles() {
        file_.reset();
        remove();
    }
    TryFiles(const TryFiles&) = delete;
    TryFiles& operator=(const TryFiles&) = delete;

    DurableFile& file() { return *file_; }

  private:
    void remove() const noexcept {
        std::error_code ignored;
        for (const Path& name : names_) std::filesystem::remove(name, ignored);
    }

    std::vector<Path> names_;
    std::unique_ptr<DurableFile> file_;
};

// Of a recording of known length: what the disks are behind at its end.
bool are_made_up_for(const RecordingWanted& wanted, double arriving, double taken) {
    if (wanted.expected_bytes <= 0) return false;
    return static_cast<double>(wanted.expected_bytes) * (1 - taken / arriving) <=
           static_cast<double>(wanted.held_bytes);
}

}  // namespace

double bytes_per_s(const Scan& scan) {
    const SpectraLayout layout = spectra_layout(scan.file, scan.format, scan.geometry, scan.path.string());
    const std::int64_t lines = layout.frames_per_volume * scan.geometry.lines_per_frame();
    return static_cast<double>(layout.volume_bytes()) / static_cast<double>(lines) * scan.geometry.line_rate_hz;
}

// Without the first piece, for which room is found.
double measured_disk_rate(const std::vector<Path>& files, std::int64_t stripe_bytes, const RecordingTools& tools) {
    TryFiles beside(files, stripe_bytes, tools);
    const BlockMemory piece = block_memory(piece_bytes, MemoryKind::host);
    const std::span bytes(piece.data, static_cast<std::size_t>(piece_bytes));
    std::ranges::fill(bytes, std::byte{0x5a});
    beside.file().write(0, bytes);
    const double begin = tools.seconds();
    int pieces = 0;
    double seconds = 0;
    do {
        beside.file().write(++pieces * piece_bytes, bytes);
        seconds = tools.seconds() - begin;
    } while (pieces < fewest_pieces || (pieces < most_pieces && seconds < measured_s));
    return static_cast<double>(pieces) * static_cast<double>(piece_bytes) / std::max(seconds, 1e-9);
}

std::string check_disk_rate(const RecordingWanted& wanted, const Scan& recorded, const RecordingTools& tools) {
    const double arriving = bytes_per_s(recorded);
    if (arriving < any_disk_bytes_per_s) return {};
    const std::vector<Path> files = raw_files(recorded);
    const double taken = measured_disk_rate(files, recorded.file.stripe_bytes, tools);
    const char* const disks = files.size() == 1 ? "the disk takes" : "the disks together take";
    std::string rates =
        fmt::format("spectra come at {:.3g} GB/s, {} {:.3g} GB/s", 1e-9 * arriving, disks, 1e-9 * taken);
    if (taken >= arriving || are_made_up_for(wanted, arriving, taken)) return rates;
    throw Error(ErrorCode::output, rates, recorded.spectra.string(),
                "record to more disks with `stripes`, to a faster one, or at a lower line rate");
}

}  // namespace echolux
