// Files of a recording and the disks that hold them: names, calibration, an earlier recording of the same name,
// stripes, and room and speed of the disks.
#pragma once

#include <barrier>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/io/durable_file.h"
#include "engine/scan/raw_spectra.h"
#include "engine/scan/scan.h"

namespace echolux {

struct RecordingRequest;
struct RecordingTools;

// ---- File names of a recording, and checks whether they may be written. Stripes are stored next to the raw file's
// name, one in each additional folder. Existing stripes belong to the user and stay, and a recording that replaces
// another uses new names for its own.

// Checks the name before a source starts. Throws Error{output} if a folder is missing, because an unmounted disk must
// not become the root disk, if a recording of this name is running, or if files of this name exist and may not be
// replaced.
void check_recording_name(const std::filesystem::path& scan_toml, bool replace,
                          const std::vector<std::filesystem::path>& stripe_folders = {});

// Returns whether anything of this name exists, even a dangling link.
bool is_taken(const std::filesystem::path& path);

// Reads only the wanted keys of a recording's file, because the rest may be damaged or of a later version. Throws
// Error{bad_file, bad_setting}.
Scan scan_of_keys(const std::filesystem::path& scan_toml, bool (*is_wanted)(const std::string& key));

// Returns NAME.raw for NAME.toml and ".raw".
std::filesystem::path file_of_recording(const std::filesystem::path& scan_toml, const std::string& ending);

// Returns all files that a recording of this name may have, except calibration files and stripes. The last one is the
// folder for the truth of simulated sources; each recording has its own.
std::vector<std::filesystem::path> files_of_recording(const std::filesystem::path& scan_toml);
// Returns the folder for the truth of simulated sources.
std::filesystem::path truth_of_recording(const std::filesystem::path& scan_toml);

// Returns the absolute paths NAME.stripe-2.raw, NAME.stripe-3.raw and so on in `folders`. With `takes_free_names`,
// skips names that exist. Throws Error{output} if a folder is missing, and Error{bad_setting} if a folder is named
// twice, if there are too many, or if a name cannot be written to scan.stripes.
std::vector<std::filesystem::path> stripes_of_recording(const std::filesystem::path& scan_toml,
                                                        const std::vector<std::filesystem::path>& folders,
                                                        bool takes_free_names = false);

// Stripes that the recording `scan_toml` lists and that follow its naming. Empty if it is not a recording or cannot be
// read.
struct NamedStripes {
    std::vector<std::filesystem::path> files;
    // False if scan_toml was copied or moved from where it was recorded; its stripes may then belong to the original.
    bool are_its_own = false;
};
NamedStripes stripes_named_by(const std::filesystem::path& scan_toml);

// ---- Calibration of a recording is copied to files next to it, so that the recording is complete. Existing files
// belong to the user: they are not replaced or removed, and a copy gets another name.

// Writes the calibration loaded in `scan`, flushed to disk, to new files next to `scan.path`. Names them in
// `scan.calibration_files` and appends them to `made`, even if a later file fails. Throws Error{output}.
void copy_calibration(Scan& scan, std::vector<std::filesystem::path>& made);

// Returns the files that the recording `scan_toml` wrote in this way. Empty if it is not a recording or cannot be read.
std::vector<std::filesystem::path> calibration_made_by(const std::filesystem::path& scan_toml);

// ---- An earlier recording that a new one of the same name will replace. It is moved to its own folder, where it can
// still be opened, and removed only after its successor has data on the disk. A silent camera, a failing disk or a
// power cut therefore never destroy both.

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

// ---- One file in stripes on several disks that write in parallel, with one thread per disk. It behaves as a single
// file: a write returns when every disk has written its part.

// Use from one thread.
class StripedFile final : public DurableFile {
  public:
    // `files` are two or more new, empty files.
    StripedFile(std::vector<std::unique_ptr<DurableFile>> files, std::int64_t stripe_bytes);
    ~StripedFile() override;
    StripedFile(const StripedFile&) = delete;
    StripedFile& operator=(const StripedFile&) = delete;

    // Every part is extended as if no earlier write had been left out.
    void write(std::int64_t place, std::span<const std::byte> bytes) override;
    // The functions of DurableFile, applied to every part.
    bool reserve(std::int64_t end) override;
    void sync() override;
    void end_at(std::int64_t size) override;

  private:
    struct Part {
        std::unique_ptr<DurableFile> file;
        std::int64_t end = 0;  // end of the last successful write
        std::exception_ptr problem = {};
    };

    void each(std::function<void(std::size_t part)> work);
    void work_on(std::size_t part) noexcept;
    void write_part(std::size_t part, std::int64_t place, std::span<const std::byte> bytes);

    Striping striping_;
    std::vector<Part> parts_;
    std::function<void(std::size_t)> work_;  // empty: the threads end
    std::barrier<> turn_;                    // for all threads and the writer: work_ is set, work_ is done
    std::vector<std::jthread> threads_;      // for all parts except the first
};

// Returns a single file unchanged, or several files as a striped one.
std::unique_ptr<DurableFile> as_one(std::vector<std::unique_ptr<DurableFile>> files, std::int64_t stripe_bytes);

// ---- Free space on the disks of a recording. Files on the same disk share its free space.

struct DiskRoom {
    std::filesystem::path file;  // the first file on this disk
    // for the recording
    std::int64_t wanted_bytes = 0;
    std::int64_t free_bytes = 0;
};

// Returns the disks of `files`, which hold `bytes` in total. Omits disks whose free space is unknown.
std::vector<DiskRoom> disk_rooms(const std::vector<std::filesystem::path>& files, const Striping& striping,
                                 std::int64_t bytes);

// Throws Error{output} with the name of a file on the disk that has too little space.
void check_room(const std::vector<DiskRoom>& rooms);

// ---- Measures whether the disks are fast enough for the spectra before a recording begins, so that the user does not
// find out afterwards.

// Returns the data rate of spectra as stored in the scan's file.
double bytes_per_s(const Scan& scan, double line_rate_hz);

// Writes and flushes for a fraction of a second to unnamed files next to each of `files`, which are stripes if there
// are several. Returns bytes per second, or nullopt if `max_bytes` is too small for a measurement. Throws
// Error{output}.
std::optional<double> measured_disk_rate(const std::vector<std::filesystem::path>& files, std::int64_t stripe_bytes,
                                         std::int64_t max_bytes, const RecordingTools& tools);

// Returns a message with both rates, and the consequence if the disks are slower. Empty if the data rate is so low that
// any disk is fast enough, or if there is no room for a test. Throws Error{output} if a recording of known length
// arrives faster than the disks can write and the held blocks cannot buffer the difference.
std::string check_disk_rate(const RecordingRequest& wanted, const Scan& recorded, const std::vector<DiskRoom>& rooms,
                            const RecordingTools& tools);

}  // namespace echolux
