#include "engine/live/earlier_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/file_lock.h"
#include "engine/live/recording_calibration.h"
#include "engine/live/recording_names.h"
#include "engine/simulate/truth.h"

namespace echolux {
namespace {

using Path = std::filesystem::path;

// Returns whether the path is a folder; a link to a folder does not belong to us.
bool is_folder(const Path& path) {
    std::error_code unknown;
    return std::filesystem::is_directory(std::filesystem::symlink_status(path, unknown));
}

// Returns the first unused folder of NAME.before, NAME.before-2, ...
Path free_folder(const Path& scan_toml) {
    const std::string name = scan_toml.stem().string() + ".before";
    Path folder = scan_toml.parent_path() / name;
    for (int number = 2; is_taken(folder); ++number)
        folder = scan_toml.parent_path() / fmt::format("{}-{}", name, number);
    return folder;
}

// Flushes the names in both folders so that no name is lost by a power cut.
void flush_names(const Path& folder) {
    make_durable(folder);
    make_durable(folder.parent_path());
}

// Removes only the simulator's files from a truth folder. Other files stay, and the folder with them.
void remove_moved(const Path& path) {
    std::error_code ignored;
    if (is_folder(path)) {
        for (const Path& file : truth_files(path)) std::filesystem::remove(file, ignored);
    }
    std::filesystem::remove(path, ignored);
}

}  // namespace

EarlierRecording::EarlierRecording(const Path& scan_toml, std::vector<Path> files, const Path& truth) {
    stripes_ = stripes_named_by(scan_toml);
    for (const Path& path : calibration_made_by(scan_toml)) files.push_back(path);
    std::erase_if(files, [](const Path& path) { return !is_taken(path); });
    if (is_folder(truth) && std::ranges::any_of(truth_files(truth), is_taken)) files.push_back(truth);
    if (files.empty()) return;
    const Path folder = free_folder(scan_toml);
    std::error_code problem;
    if (!std::filesystem::create_directory(folder, problem)) {
        const std::string why = problem ? problem.message() : "another program created it first";
        throw Error(ErrorCode::output, "cannot be made: " + why, folder.string());
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
    return fmt::format("stripes of the recording that was replaced are left, since they {}: {}", why,
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

}  // namespace echolux
