// Implements atomic_file.h. A commit does three steps: flush the bytes of the temporary file, rename it, flush its
// folder.
#include "engine/io/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>  // renameat2
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <mutex>
#include <new>
#include <random>
#include <set>
#include <utility>

#include "compute/error.h"
#include "engine/size_words.h"

namespace echolux {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::error_code& problem) {
    throw Error(ErrorCode::output, "cannot be written: " + problem.message(), path.string(),
                "check folder, permissions and free space");
}

// Result of fdatasync(). `cannot_be`: this file system does not support it for this kind of file.
enum class Flushed { yes, no, cannot_be };

// Flushes one file or folder to disk. On Flushed::no, `errno` holds the reason.
Flushed flushed(const std::filesystem::path& path) {
    const int descriptor = open(path.empty() ? "." : path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return Flushed::no;
    int result = 0;
    do result = fdatasync(descriptor);
    while (result != 0 && errno == EINTR);
    const int number = errno;
    close(descriptor);
    errno = number;
    if (result == 0) return Flushed::yes;
    return number == EINVAL || number == ENOTSUP ? Flushed::cannot_be : Flushed::no;
}

// Flushes `part`, which belongs to `result`; errors name `result`. Returns false if the file system cannot flush it.
bool flush(const std::filesystem::path& part, const std::filesystem::path& result) {
    const Flushed is = flushed(part);
    if (is != Flushed::no) return is == Flushed::yes;
    throw Error(ErrorCode::output,
                "cannot be flushed to the disk: " + std::error_code(errno, std::generic_category()).message(),
                result.string(), "check the disk and its free space");
}

// Flushes the contents of a folder, recursively, and then the folder itself.
void flush_tree(const std::filesystem::path& folder, const std::filesystem::path& result) {
    std::error_code problem;
    std::filesystem::directory_iterator at(folder, problem);
    for (; !problem && at != std::filesystem::directory_iterator(); at.increment(problem)) {
        if (at->is_directory(problem))
            flush_tree(at->path(), result);
        else
            flush(at->path(), result);
    }
    if (problem) fail(result, problem);
    flush(folder, result);
}

// Removing fails, as intended, if another program has added files in the meantime.
void remove_if_empty(const std::filesystem::path& folder) {
    std::error_code not_empty;
    std::filesystem::remove(folder, not_empty);
}

// A prefix preserves multiple extensions (.nii.gz). The random number keeps concurrent programs apart.
std::filesystem::path temporary_beside(const std::filesystem::path& path) {
    std::random_device random;
    return path.parent_path() / fmt::format("unfinished-{:08x}-{}", random(), path.filename().string());
}

}  // namespace

// Creates the file at once, so that missing permissions are found before the work begins.
AtomicFile::AtomicFile(std::filesystem::path final_path)
    : final_(std::move(final_path)), temporary_(temporary_beside(final_)) {
    std::error_code missing;
    if (final_.filename().empty() || std::filesystem::is_directory(final_, missing)) {
        throw Error(ErrorCode::output, "is a folder", final_.string(), "choose a file name");
    }
    // Replacing a device or a pipe would destroy it.
    if (std::filesystem::exists(final_, missing) && !std::filesystem::is_regular_file(final_, missing)) {
        throw Error(ErrorCode::output, "is not a regular file", final_.string(), "choose a file");
    }
    made_folder_ = make_folder_for(final_);
    errno = 0;
    if (std::ofstream(temporary_, std::ios::binary)) return;
    const std::error_code problem(errno, std::generic_category());
    if (made_folder_) remove_if_empty(final_.parent_path());
    fail(final_, problem);
}

AtomicFile::~AtomicFile() {
    std::error_code ignored;
    if (committed_) return;
    std::filesystem::remove(temporary_, ignored);
    try {
        if (made_folder_) remove_if_empty(final_.parent_path());
    } catch (const std::bad_alloc&) {  // the empty folder remains
    }
}

AtomicFolder::AtomicFolder(std::filesystem::path final_path, bool (*is_ours)(const std::filesystem::path&))
    : final_(final_path.has_filename() ? std::move(final_path) : final_path.parent_path()),
      temporary_(temporary_beside(final_)) {
    std::error_code problem;
    const bool occupied = std::filesystem::exists(final_, problem) && !std::filesystem::is_empty(final_, problem);
    if (occupied && !is_ours(final_)) {
        throw Error(ErrorCode::output, "already exists and contains other files", final_.string(),
                    "choose another name");
    }
    made_folder_ = make_folder_for(final_);
    std::filesystem::create_directory(temporary_, problem);
    if (problem) fail(final_, problem);
}

AtomicFolder::~AtomicFolder() {
    try {
        std::error_code ignored;
        std::filesystem::remove_all(temporary_, ignored);  // after commit() this is the replaced folder
        if (made_folder_) remove_if_empty(final_.parent_path());
    } catch (const std::bad_alloc&) {  // the folder remains
    }
}

void AtomicFolder::commit() {
    // Flush before the rename, so that the name never refers to missing data.
    flush_tree(temporary_, final_);
    take_name();
    const std::filesystem::path old = std::exchange(temporary_, {});
    flush(final_.parent_path(), final_);  // before the old folder is deleted: a power cut may restore its name
    temporary_ = old;
}

void AtomicFolder::take_name() {
    std::error_code problem;
    if (std::filesystem::exists(final_, problem)) {
        // RENAME_EXCHANGE swaps both folders atomically, so that a complete one exists at any time.
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

// Fallback for file systems without RENAME_EXCHANGE: renames the old folder, and restores it if the new one cannot be
// renamed.
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
    make_durable(final_.parent_path());  // otherwise a power cut may lose both names
    std::filesystem::remove_all(aside, ignored);
}

void check_folder_for(const std::filesystem::path& path) {
    std::error_code problem;
    const std::filesystem::path folder = std::filesystem::absolute(path, problem).parent_path();
    const std::filesystem::path above = folder.parent_path();
    if (std::filesystem::exists(folder, problem) || std::filesystem::is_directory(above, problem)) return;
    throw Error(ErrorCode::output, "there is no folder " + above.string(), path.string(), "create it first");
}

bool make_folder_for(const std::filesystem::path& path) {
    check_folder_for(path);
    std::error_code problem;
    const bool is_missing = !std::filesystem::exists(std::filesystem::absolute(path, problem).parent_path(), problem);
    make_folders_for(path);
    return is_missing;
}

// Also flushes the names of new folders, so that a power cut cannot lose their contents.
void make_folders_for(const std::filesystem::path& path) {
    std::error_code problem;
    const std::filesystem::path folder = std::filesystem::absolute(path, problem).parent_path();
    if (std::filesystem::is_directory(folder, problem)) return;
    if (folder.has_relative_path()) make_folders_for(folder);
    std::filesystem::create_directory(folder, problem);
    if (problem) fail(path, problem);
    flush(folder.parent_path(), path);
}

bool make_durable(const std::filesystem::path& path) {
    return flush(path, path);
}

bool write_text(const std::filesystem::path& path, std::string_view text) {
    AtomicFile file(path);
    if (!(std::ofstream(file.temporary(), std::ios::binary) << text).flush()) {
        throw Error(ErrorCode::output, "cannot be written", path.string(), "check folder, permissions and free space");
    }
    return file.commit();
}

void check_can_be_written(const std::filesystem::path& path) {
    const AtomicFile trial(path);
}

bool AtomicFile::commit() {
    std::error_code problem;
    flush(temporary_, final_);
    std::filesystem::rename(temporary_, final_, problem);
    if (problem) fail(final_, problem);
    committed_ = true;
    return flush(final_.parent_path(), final_);
}

// ---- temporary names ------------------------------------------------------------------------------------------------

namespace {

// The same path may be registered twice.
struct Names {
    std::mutex mutex;
    std::multiset<std::filesystem::path> paths;
};

// Never destroyed, because names are released until the very end of the program.
Names& names() {
    static Names* const all = new Names;
    return *all;
}

// Retries, because other threads may still create files in the folder.
void remove_for_good(const std::filesystem::path& path) {
    constexpr int attempts = 100;
    std::error_code problem;
    for (int i = 0; i < attempts; ++i) {
        std::filesystem::remove_all(path, problem);
        if (!problem) return;
    }
}

}  // namespace

UnfinishedName::UnfinishedName(std::filesystem::path path) : path_(std::move(path)) {
    std::error_code problem;
    const std::filesystem::path whole = std::filesystem::absolute(path_, problem);
    if (!problem) path_ = whole;  // independent of later changes of the working directory
    const std::scoped_lock lock(names().mutex);
    names().paths.insert(path_);
}

UnfinishedName::~UnfinishedName() {
    const std::scoped_lock lock(names().mutex);
    names().paths.erase(names().paths.find(path_));
}

void end_without_unfinished_files(int exit_code) {
    names().mutex.lock();  // never unlocked
    for (const std::filesystem::path& path : names().paths) remove_for_good(path);
    _exit(exit_code);
}

// ---- streams --------------------------------------------------------------------------------------------------------

OutputFile::OutputFile(const std::filesystem::path& path)
    : path_(path), atomic_(path), stream_(atomic_.temporary(), std::ios::binary | std::ios::trunc) {
    if (!stream_) fail();
}

void OutputFile::fail() const {
    throw Error(ErrorCode::output, "cannot be written", path_.string(),
                "check that the folder may be written and the disk is not full");
}

void OutputFile::write(std::span<const std::byte> bytes) {
    stream_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!stream_) fail();
}

void OutputFile::close() {
    if (!stream_.is_open()) return;
    stream_.close();
    if (!stream_) fail();
}

void OutputFile::commit() {
    close();
    atomic_.commit();
}

ResultFile::ResultFile(const std::filesystem::path& path, std::string where)
    : stream_(path, std::ios::binary), where_(std::move(where)) {
    if (!stream_) fail();
}

void ResultFile::write(std::span<const std::byte> bytes) {
    if (!stream_.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes))) fail();
    place_ += std::ssize(bytes);
}

void ResultFile::write_at(std::int64_t place, std::span<const std::byte> bytes) {
    stream_.seekp(place);
    if (!stream_.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes))) fail();
    if (!stream_.seekp(place_)) fail();
}

void ResultFile::finish() {
    stream_.close();
    if (!stream_) fail();
}

void ResultFile::fail() const {
    throw Error(ErrorCode::output, "could not be written completely", where_,
                "check folder, permissions and free space");
}

// Each temporary file has its own folder with a random name, which only this user can read and which cannot exist
// before.
ScratchFile::ScratchFile(std::int64_t bytes, std::string where) : where_(std::move(where)) {
    std::error_code problem;
    const std::filesystem::path base = std::filesystem::temp_directory_path(problem);
    if (problem) fail("needs a folder for temporary files");
    const std::filesystem::space_info space = std::filesystem::space(base, problem);
    if (!problem && space.available < static_cast<std::uintmax_t>(bytes)) {
        fail(fmt::format("unpacks to {}, {} are free in {}", size_words(static_cast<double>(bytes)),
                         size_words(static_cast<double>(space.available)), base.string()));
    }
    std::random_device random;
    const std::filesystem::path folder = base / fmt::format("echolux-{:08x}{:08x}", random(), random());
    if (!std::filesystem::create_directory(folder, problem)) fail("cannot create " + folder.string());
    unfinished_.emplace(folder);
    path_ = folder / "unpacked";
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, problem);
    if (!problem) stream_.open(path_, std::ios::binary);
    if (problem || !stream_) {
        std::filesystem::remove_all(folder, problem);
        fail("cannot create " + path_.string());
    }
}

ScratchFile::~ScratchFile() {
    stream_.close();
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
    std::filesystem::remove(path_.parent_path(), ignored);
}

void ScratchFile::append(std::span<const std::byte> bytes) {
    stream_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!stream_) fail("cannot be unpacked to " + path_.string());
}

void ScratchFile::close() {
    stream_.close();
    if (!stream_) fail("cannot be unpacked to " + path_.string());
}

void ScratchFile::fail(const std::string& what) const {
    throw Error(ErrorCode::output, what, where_, "set TMPDIR to a folder with more space");
}

}  // namespace echolux
