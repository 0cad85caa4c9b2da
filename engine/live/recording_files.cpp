#include "engine/live/recording_files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "compute/voxel_target.h"
#include "engine/io/atomic_file.h"
#include "engine/io/durable_file.h"
#include "engine/live/recording_writer.h"
#include "engine/scan/raw_spectra.h"
#include "engine/scan/scan.h"
#include "engine/scan/settings.h"
#include "engine/simulate/truth.h"

namespace echolux {

namespace {

using Path = std::filesystem::path;

// Throws if the path exists.
void refuse_existing(const Path& path) {
    std::error_code unknown;
    if (!std::filesystem::exists(path, unknown)) return;
    refuse_running_recording(path);
    throw Error(ErrorCode::output, "already exists", path.string(),
                "choose another name, or replace it with `overwrite`");
}

std::string beginning_of_name(const Path& scan_toml) {
    return scan_toml.stem().string() + ".stripe-";
}

// Returns NAME.stripe-2.raw for number 1, then NAME.stripe-2-2.raw and so on.
Path stripe_name(const Path& folder, const Path& scan_toml, std::size_t part, int number) {
    const std::string which = number == 1 ? "" : fmt::format("-{}", number);
    return folder / fmt::format("{}{}{}.raw", beginning_of_name(scan_toml), part, which);
}

// Returns the absolute path of an existing folder. Throws if it does not exist.
Path checked_folder(const Path& folder) {
    std::error_code problem;
    Path whole = std::filesystem::absolute(folder, problem).lexically_normal();
    if (!std::filesystem::is_directory(whole, problem)) {
        throw Error(ErrorCode::output, "there is no folder " + whole.string(), "stripes",
                    "create the folder first, or mount its disk");
    }
    return whole;
}

// Rejects a folder that is named twice, since its stripes would compete for one disk, and too many folders.
void check_named_once(const std::vector<Path>& folders) {
    if (folders.size() >= max_parts) {
        throw Error(ErrorCode::bad_setting, "names " + plural(folders.size(), "folders"), "stripes",
                    fmt::format("name at most {}", max_parts - 1));
    }
    for (auto folder = folders.begin(); folder != folders.end(); ++folder) {
        const auto is_same = [&](const Path& other) {
            std::error_code missing;
            return std::filesystem::equivalent(*folder, other, missing);
        };
        if (std::any_of(folders.begin(), folder, is_same))
            throw Error(ErrorCode::bad_setting, "is named twice", folder->string(), "name a folder on each disk once");
    }
}

// scan.stripes separates names by semicolons.
void check_valid_in_toml(const Path& stripe) {
    if (stripe.string().find(';') == std::string::npos) return;
    throw Error(ErrorCode::bad_setting, "has a semicolon in its name", stripe.string(), "choose another name");
}

// Returns whether a recording would use this name for a stripe.
bool is_stripe_name(const Path& path, const Path& scan_toml) {
    const std::string stem = path.stem().string(), beginning = beginning_of_name(scan_toml);
    return path.extension() == ".raw" && stem.starts_with(beginning) && stem.size() > beginning.size() &&
           stem.find_first_not_of("0123456789-", beginning.size()) == std::string::npos;
}

}  // namespace

bool is_taken(const Path& path) {
    std::error_code unknown;
    return std::filesystem::exists(std::filesystem::symlink_status(path, unknown));
}

Scan scan_of_keys(const Path& scan_toml, bool (*is_wanted)(const std::string& key)) {
    Scan scan;
    Settings settings;
    bind(settings, scan);
    std::vector<TomlEntry> entries = toml_entries(scan_toml);
    std::erase_if(entries, [&](const TomlEntry& entry) { return !is_wanted(entry.name); });
    settings.take(entries);
    return scan;
}

Path file_of_recording(const Path& scan_toml, const std::string& ending) {
    return scan_toml.parent_path() / (scan_toml.stem().string() + ending);
}

Path truth_of_recording(const Path& scan_toml) {
    return file_of_recording(scan_toml, ".truth");
}

std::vector<Path> files_of_recording(const Path& scan_toml) {
    return {scan_toml, file_of_recording(scan_toml, ".raw"), file_of_recording(scan_toml, ".index.csv"),
            truth_of_recording(scan_toml)};
}

void check_recording_name(const Path& scan_toml, bool replace, const std::vector<Path>& stripe_folders) {
    std::error_code problem;
    const Path folder = std::filesystem::absolute(scan_toml, problem).parent_path();
    if (!std::filesystem::is_directory(folder, problem)) {
        throw Error(ErrorCode::output, "there is no folder " + folder.string(), scan_toml.string(),
                    "create the folder first, or mount its disk");
    }
    const std::vector<Path> stripes = stripes_of_recording(scan_toml, stripe_folders);
    for (const Path& path : files_of_recording(scan_toml)) refuse_running_recording(path);
    if (replace) return;
    for (const Path& path : files_of_recording(scan_toml)) refuse_existing(path);
    for (const Path& path : stripes) refuse_existing(path);
}

std::vector<Path> stripes_of_recording(const Path& scan_toml, const std::vector<Path>& folders, bool takes_free_names) {
    check_named_once(folders);
    std::vector<Path> names;
    for (const Path& folder : folders) {
        const Path whole = checked_folder(folder);
        const std::size_t part = names.size() + 2;
        int number = 1;
        while (takes_free_names && is_taken(stripe_name(whole, scan_toml, part, number))) ++number;
        names.push_back(stripe_name(whole, scan_toml, part, number));
        check_valid_in_toml(names.back());
    }
    return names;
}

NamedStripes stripes_named_by(const Path& scan_toml) {
    NamedStripes stripes;
    try {
        const Scan scan = scan_of_keys(scan_toml, [](const std::string& key) {
            return key == "recording.index" || key == "recording.folder" || key == "scan.stripes";
        });
        if (scan.recording.index.empty()) return {};
        for (const std::string& name : stripe_names(scan.file.stripes)) {
            if (is_stripe_name(name, scan_toml)) stripes.files.push_back(scan_toml.parent_path() / name);
        }
        std::error_code missing;
        stripes.are_its_own = std::filesystem::equivalent(
            scan.recording.folder, std::filesystem::absolute(scan_toml, missing).parent_path(), missing);
    } catch (const Error&) {
        return {};
    }
    return stripes;
}

// Returns NAME.k_map.f64 for number 1, then NAME.k_map-2.f64 and so on.
static Path copy_name(const Path& scan_toml, std::string_view kind, int number) {
    const std::string which = number == 1 ? "" : fmt::format("-{}", number);
    return scan_toml.parent_path() / fmt::format("{}.{}{}.f64", scan_toml.stem().string(), kind, which);
}

// Returns the first unused name of a calibration copy.
static Path free_name(const Path& scan_toml, std::string_view kind) {
    std::error_code unknown;
    for (int number = 1;; ++number) {
        Path name = copy_name(scan_toml, kind, number);
        if (!std::filesystem::exists(std::filesystem::symlink_status(name, unknown))) return name;
    }
}

// Returns whether a recording would use this name, so that only its own copies are removed later.
static bool is_copy_name(const Path& name, const Path& scan_toml, std::string_view kind) {
    const std::string begins = copy_name(scan_toml, kind, 1).stem().string(), stem = name.stem().string();
    if (name.has_parent_path() || name.extension() != ".f64" || !stem.starts_with(begins)) return false;
    const std::string number = stem.substr(begins.size());
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    return number.empty() ||
           (number.size() > 1 && number[0] == '-' && std::all_of(number.begin() + 1, number.end(), is_digit));
}

void copy_calibration(Scan& scan, std::vector<Path>& made) {
    for (const CalibrationPart& part : calibration_parts()) {
        const std::vector<double>& numbers = scan.calibration.*part.numbers;
        part.file.set(scan.calibration_files, std::string());
        if (numbers.empty()) continue;
        const Path path = free_name(scan.path, part.key());
        OutputFile file(path);
        file.write(std::as_bytes(std::span(numbers)));
        made.push_back(path);
        file.commit();
        part.file.set(scan.calibration_files, path.filename().string());
    }
}

std::vector<Path> calibration_made_by(const Path& scan_toml) {
    std::vector<Path> files;
    try {
        const Scan scan = scan_of_keys(scan_toml, [](const std::string& key) {
            return key.starts_with("recording.") || key.starts_with("calibration.");
        });
        if (scan.recording.index.empty()) return {};
        for (const CalibrationPart& part : calibration_parts()) {
            const Path name = part.file_name(scan.calibration_files);
            if (is_copy_name(name, scan_toml, part.key())) files.push_back(scan_toml.parent_path() / name);
        }
    } catch (const Error&) {
        return {};
    }
    return files;
}

// Returns whether the path is a folder; a link to a folder does not belong to us.
static bool is_folder(const Path& path) {
    std::error_code unknown;
    return std::filesystem::is_directory(std::filesystem::symlink_status(path, unknown));
}

// Returns the first unused folder of NAME.before, NAME.before-2, ...
static Path free_folder(const Path& scan_toml) {
    const std::string name = scan_toml.stem().string() + ".before";
    Path folder = scan_toml.parent_path() / name;
    for (int number = 2; is_taken(folder); ++number)
        folder = scan_toml.parent_path() / fmt::format("{}-{}", name, number);
    return folder;
}

// Flushes the names in both folders so that no name is lost by a power cut.
static void flush_names(const Path& folder) {
    make_durable(folder);
    make_durable(folder.parent_path());
}

// Removes only the simulator's files from a truth folder. Other files stay, and the folder with them.
static void remove_moved(const Path& path) {
    std::error_code ignored;
    if (is_folder(path)) {
        for (const Path& file : truth_files(path)) std::filesystem::remove(file, ignored);
    }
    std::filesystem::remove(path, ignored);
}

EarlierRecording::EarlierRecording(const Path& scan_toml, std::vector<Path> files, const Path& truth) {
    stripes_ = stripes_named_by(scan_toml);
    for (const Path& path : calibration_made_by(scan_toml)) files.push_back(path);
    std::erase_if(files, [](const Path& path) { return !is_taken(path); });
    if (is_folder(truth) && std::ranges::any_of(truth_files(truth), is_taken)) files.push_back(truth);
    if (files.empty()) return;
    const Path folder = free_folder(scan_toml);
    std::error_code problem;
    if (!std::filesystem::create_directory(folder, problem)) {
        const std::string why = problem ? problem.message() : "another program created it in the meantime";
        throw Error(ErrorCode::output, "cannot be created: " + why, folder.string());
    }
    try {
        folder_ = folder;
        moved_.reserve(files.size());  // noting a move must not run out of memory
        for (const Path& path : files) {
            Moved move{path, folder / path.filename()};
            std::filesystem::rename(move.from, move.to);
            moved_.push_back(std::move(move));
        }
        flush_names(folder);
    } catch (const std::exception& error) {
        put_back();
        throw Error(ErrorCode::output, fmt::format("the existing recording cannot be renamed: {}", error.what()),
                    scan_toml.string(), "choose another name");
    }
}

// The folder is removed only after its names are flushed. Otherwise a power cut could lose the files.
void EarlierRecording::put_back() noexcept {
    // A new recording uses these names: leave the complete earlier one where it is.
    if (std::ranges::any_of(moved_, [](const Moved& move) { return is_locked(move.from); })) return;
    std::erase_if(moved_, [](const Moved& move) {
        std::error_code problem;
        std::filesystem::rename(move.to, move.from, problem);
        return !problem;
    });
    try {
        if (!folder_.empty()) flush_names(folder_);
        if (moved_.empty()) end();
    } catch (const std::exception&) {  // the empty folder stays
        if (moved_.empty()) folder_.clear();
    }
}

void EarlierRecording::remove() noexcept {
    for (const Moved& move : moved_) remove_moved(move.to);
    if (stripes_.are_its_own) {
        std::erase_if(stripes_.files, [](const Path& stripe) {
            if (is_locked(stripe)) return false;  // a recording in another folder uses the name again
            std::error_code problem;
            std::filesystem::remove(stripe, problem);
            return !problem;
        });
    }
    is_removed_ = true;
    end();
}

std::string EarlierRecording::stripes_left() const {
    if (!is_removed_ || stripes_.files.empty()) return {};
    const char* const why = stripes_.are_its_own ? "cannot be removed" : "may belong to a recording in another folder";
    return fmt::format("stripes of the replaced recording remain, since they {}: {}", why,
                       text_of_stripes(stripes_.files));
}

// Other files in the folder stay, and so does the folder then.
void EarlierRecording::end() noexcept {
    if (folder_.empty()) return;
    std::error_code ignored;
    std::filesystem::remove(folder_, ignored);
    moved_.clear();
    folder_.clear();
}

StripedFile::StripedFile(std::vector<std::unique_ptr<DurableFile>> files, std::int64_t stripe_bytes)
    : striping_(files.size(), stripe_bytes), turn_(static_cast<std::ptrdiff_t>(files.size())) {
    for (auto& file : files) parts_.push_back({std::move(file)});
    threads_.reserve(parts_.size());
    try {
        for (std::size_t part = 1; part < parts_.size(); ++part) {
            threads_.emplace_back([this, part] {
                for (;;) {
                    turn_.arrive_and_wait();
                    if (!work_) return;
                    work_on(part);
                    turn_.arrive_and_wait();
                }
            });
        }
    } catch (...) {  // no more threads: leave the barrier for the missing ones
        for (std::size_t part = 1 + threads_.size(); part < parts_.size(); ++part) turn_.arrive_and_drop();
        turn_.arrive_and_wait();
        throw;
    }
}

StripedFile::~StripedFile() {
    work_ = {};
    turn_.arrive_and_wait();
}

// Runs `work` on all disks in parallel. When all are done, rethrows the first part's exception.
void StripedFile::each(std::function<void(std::size_t)> work) {
    work_ = std::move(work);
    turn_.arrive_and_wait();
    work_on(0);
    turn_.arrive_and_wait();
    std::exception_ptr problem;
    for (Part& part : parts_) {
        const std::exception_ptr its = std::exchange(part.problem, {});
        if (!problem) problem = its;
    }
    if (problem) std::rethrow_exception(problem);
}

void StripedFile::work_on(std::size_t part) noexcept {
    try {
        work_(part);
    } catch (...) {
        parts_[part].problem = std::current_exception();
    }
}

void StripedFile::write(std::int64_t place, std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    each([=, this](std::size_t part) { write_part(part, place, bytes); });
}

void StripedFile::write_part(std::size_t part, std::int64_t place, std::span<const std::byte> bytes) {
    Part& one = parts_[part];
    const std::int64_t end = place + std::ssize(bytes);
    for (std::int64_t at = place; at < end;) {
        const Striping::Piece piece = striping_.piece_at(at, end);
        if (piece.part == part) {
            one.file->write(piece.place, bytes.subspan(index(at - place), index(piece.bytes)));
            one.end = piece.place + piece.bytes;
        }
        at += piece.bytes;
    }
    const std::int64_t length = striping_.bytes_of(part, end);
    if (one.end >= length) return;
    constexpr std::byte zero{};
    one.file->write(length - 1, {&zero, 1});
    one.end = length;
}

bool StripedFile::reserve(std::int64_t end) {
    bool has_room = true;
    for (std::size_t part = 0; part < parts_.size(); ++part)
        has_room &= parts_[part].file->reserve(striping_.bytes_of(part, end));
    return has_room;
}

void StripedFile::sync() {
    each([this](std::size_t part) { parts_[part].file->sync(); });
}

void StripedFile::end_at(std::int64_t size) {
    for (std::size_t part = 0; part < parts_.size(); ++part) parts_[part].file->end_at(striping_.bytes_of(part, size));
}

std::unique_ptr<DurableFile> as_one(std::vector<std::unique_ptr<DurableFile>> files, std::int64_t stripe_bytes) {
    if (files.size() == 1) return std::move(files.front());
    return std::make_unique<StripedFile>(std::move(files), stripe_bytes);
}

// Returns the bytes available to the user, -1 if unknown.
static std::int64_t free_bytes(const Path& folder) {
    std::error_code unknown;
    const std::uintmax_t bytes = std::filesystem::space(folder, unknown).available;
    constexpr std::uintmax_t max = std::numeric_limits<std::int64_t>::max();
    return unknown ? -1 : static_cast<std::int64_t>(std::min(bytes, max));
}

// Returns the device that a folder is on. Files on one device share its free space.
static std::optional<dev_t> device_of(const Path& folder) {
    struct stat status {};
    if (stat(folder.c_str(), &status) != 0) return {};
    return status.st_dev;
}

std::vector<DiskRoom> disk_rooms(const std::vector<Path>& files, const Striping& striping, std::int64_t bytes) {
    std::map<dev_t, DiskRoom> rooms;
    for (std::size_t part = 0; part < files.size(); ++part) {
        std::error_code unknown;
        const Path folder = std::filesystem::absolute(files[part], unknown).parent_path();
        const std::optional<dev_t> device = device_of(folder);
        const std::int64_t free = free_bytes(folder);
        if (!device || free < 0) continue;
        DiskRoom& room = rooms.try_emplace(*device, DiskRoom{files[part]}).first->second;
        room.wanted_bytes += striping.bytes_of(part, bytes);
        room.free_bytes = free;
    }
    std::vector<DiskRoom> found;
    for (auto& [device, room] : rooms) found.push_back(std::move(room));
    return found;
}

void check_room(const std::vector<DiskRoom>& rooms) {
    for (const DiskRoom& room : rooms) {
        if (room.free_bytes >= room.wanted_bytes) continue;
        throw Error(ErrorCode::output,
                    fmt::format("needs {:.4g} GB, {:.4g} GB are free", 1e-9 * static_cast<double>(room.wanted_bytes),
                                1e-9 * static_cast<double>(room.free_bytes)),
                    room.file.string(), "record for a shorter time, or to another disk");
    }
}

// Below this data rate, any disk is fast enough.
constexpr double any_disk_bytes_per_s = 50e6;
constexpr std::int64_t piece_bytes = 4 << 20;  // to each disk at a time
constexpr std::int64_t min_pieces = 8;         // min for a meaningful measurement
constexpr std::int64_t max_trial_bytes = std::int64_t{1} << 30;
constexpr double trial_s = 0.2;

// Opens one file next to each path. The names are removed at once, so the files disappear when closed, even if the
// program crashes.
static std::unique_ptr<DurableFile> nameless_file(const std::vector<Path>& beside, std::int64_t stripe_bytes,
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
static BlockMemory noise(std::int64_t bytes) {
    BlockMemory memory = block_memory(bytes, MemoryKind::host);
    std::mt19937_64 random;
    for (std::int64_t at = 0; at < bytes; at += 8) {
        const std::uint64_t word = random();
        std::memcpy(memory.data + at, &word, 8);
    }
    return memory;
}

// Returns how much a test may write. The disks must keep room for the recording and for other writers.
static std::int64_t max_bytes_to_try(const std::vector<DiskRoom>& rooms) {
    std::int64_t bytes = max_trial_bytes;
    for (const DiskRoom& room : rooms) bytes = std::min(bytes, (room.free_bytes - room.wanted_bytes) / 2);
    return bytes;
}

// Returns whether the blocks that may be held cover what the disks lag behind at the end of a recording of known
// length.
static bool pool_bridges_the_gap(const RecordingRequest& wanted, double arriving, double taken) {
    return static_cast<double>(wanted.expected_bytes) * (1 - taken / arriving) <=
           static_cast<double>(wanted.held_bytes);
}

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
        for (std::int64_t i = 0; i < round; ++i) file->write(bytes * done++, {piece.data, index(bytes)});
        file->sync();
        const double before = std::exchange(now, tools.seconds());
        rate = static_cast<double>(round * bytes) / std::max(now - before, 1e-9);
    }
    return rate;
}

std::string check_disk_rate(const RecordingRequest& wanted, const Scan& recorded, const std::vector<DiskRoom>& rooms,
                            const RecordingTools& tools) {
    const double arriving = bytes_per_s(recorded, wanted.line_rate_hz);
    if (arriving < any_disk_bytes_per_s) return {};
    const std::vector<Path> files = raw_files(recorded);
    const std::optional<double> taken =
        measured_disk_rate(files, recorded.file.stripe_bytes, max_bytes_to_try(rooms), tools);
    if (!taken) return {};
    const char* const disks = files.size() == 1 ? "the disk sustains" : "the disks together sustain";
    std::string rates =
        fmt::format("spectra arrive at {:.3g} GB/s, {} {:.3g} GB/s", 1e-9 * arriving, disks, 1e-9 * *taken);
    if (*taken >= arriving) return rates;
    if (wanted.expected_bytes <= 0) return rates + ": blocks will be lost in continuous acquisition";
    if (pool_bridges_the_gap(wanted, arriving, *taken)) return rates;
    throw Error(ErrorCode::output, rates, recorded.spectra.string(),
                "record to more disks with `stripes`, to a faster one, or at a lower line rate");
}

}  // namespace echolux
