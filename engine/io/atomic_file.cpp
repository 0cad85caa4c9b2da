// Complete files only: see atomic_file.h.
#include "engine/io/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>  // renameat2

#include <cerrno>
#include <fstream>
#include <random>
#include <utility>

#include "compute/error.h"

namespace echolux {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::error_code& problem) {
    throw Error(ErrorCode::output, "cannot be written: " + problem.message(), path.string(),
                "check folder, permissions and free space");
}

// The prefix leaves all extensions (.nii.gz) at the end; the number keeps two programs apart.
std::filesystem::path temporary_beside(const std::filesystem::path& path) {
    std::random_device random;
    return path.parent_path() / fmt::format("unfinished-{:08x}-{}", random(), path.filename().string());
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path final_path)
    : final_(std::move(final_path)), temporary_(temporary_beside(final_)) {
    std::error_code missing;
    if (final_.filename().empty() || std::filesystem::is_directory(final_, missing)) {
        throw Error(ErrorCode::output, "is a folder", final_.string(), "give a file name");
    }
    // The new file takes the place of the old one: a device or pipe would be gone.
    if (std::filesystem::exists(final_, missing) && !std::filesystem::is_regular_file(final_, missing)) {
        throw Error(ErrorCode::output, "is not a regular file", final_.string(), "give the name of one");
    }
    make_folder_for(final_);
    errno = 0;
    if (!std::ofstream(temporary_, std::ios::binary)) fail(final_, {errno, std::generic_category()});
}

AtomicFile::~AtomicFile() {
    std::error_code ignored;
    if (!committed_) std::filesystem::remove(temporary_, ignored);
}

AtomicFolder::AtomicFolder(std::filesystem::path final_path, bool (*is_ours)(const std::filesystem::path&))
    : final_(final_path.has_filename() ? std::move(final_path) : final_path.parent_path()),
      temporary_(temporary_beside(final_)) {
    std::error_code problem;
    const bool occupied = std::filesystem::exists(final_, problem) && !std::filesystem::is_empty(final_, problem);
    if (occupied && !is_ours(final_)) {
        throw Error(ErrorCode::output, "already exists and holds other files", final_.string(), "give another name");
    }
    make_folder_for(final_);
    std::filesystem::create_directory(temporary_, problem);
    if (problem) fail(final_, problem);
}

AtomicFolder::~AtomicFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(temporary_, ignored);  // after commit(): the old one
}

void AtomicFolder::commit() {
    std::error_code problem;
    if (std::filesystem::exists(final_, problem)) {
        if (renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, final_.c_str(), RENAME_EXCHANGE) == 0) return;
        const std::error_code reason(errno, std::generic_category());
        const bool cannot_exchange =
            reason == std::errc::invalid_argument || reason == std::errc::function_not_supported;
        if (!cannot_exchange) fail(final_, reason);
        replace_by_two_steps();
        return;
    }
    std::filesystem::rename(temporary_, final_, problem);
    if (problem) fail(final_, problem);
}

// Where a file system cannot exchange: the old one steps aside, and comes back should the new one not take its place.
void AtomicFolder::replace_by_two_steps() {
    std::error_code problem, ignored;
    const std::filesystem::path aside = temporary_.string() + "-before";
    std::filesystem::rename(final_, aside, problem);
    if (problem) fail(final_, problem);
    std::filesystem::rename(temporary_, final_, problem);
    if (problem) {
        std::filesystem::rename(aside, final_, ignored);
        fail(final_, problem);
    }
    std::filesystem::remove_all(aside, ignored);
}

void check_folder_for(const std::filesystem::path& path) {
    std::error_code problem;
    const std::filesystem::path folder = std::filesystem::absolute(path, problem).parent_path();
    const std::filesystem::path above = folder.parent_path();
    if (std::filesystem::exists(folder, problem) || std::filesystem::is_directory(above, problem)) return;
    throw Error(ErrorCode::output, "there is no folder " + above.string(), path.string(), "make it first");
}

void make_folder_for(const std::filesystem::path& path) {
    check_folder_for(path);
    std::error_code problem;
    std::filesystem::create_directory(std::filesystem::absolute(path, problem).parent_path(), problem);
    if (problem) fail(path, problem);
}

void write_text(const std::filesystem::path& path, std::string_view text) {
    AtomicFile file(path);
    if (!(std::ofstream(file.temporary(), std::ios::binary) << text).flush()) {
        throw Error(ErrorCode::output, "cannot be written", path.string(), "check folder, permissions and free space");
    }
    file.commit();
}

void check_can_be_written(const std::filesystem::path& path) {
    const AtomicFile trial(path);
}

void AtomicFile::commit() {
    std::error_code problem;
    std::filesystem::rename(temporary_, final_, problem);
    if (problem) fail(final_, problem);
    committed_ = true;
}

}  // namespace echolux
