#include "engine/io/durable_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>

#include "compute/error.h"
#include "compute/indexing.h"

namespace echolux {
namespace {

constexpr std::int64_t page = 4096;  // a multiple of the alignment that disks require
constexpr std::int64_t staging_bytes = 1 << 20;

std::int64_t page_begin(std::int64_t place) {
    return place / page * page;
}

std::int64_t in_page(const std::byte* memory) {
    return static_cast<std::int64_t>(std::bit_cast<std::uintptr_t>(memory) % page);
}

std::span<const std::byte> first(const BlockMemory& memory, std::int64_t bytes) {
    return {memory.data, index(bytes)};
}

bool syncs(int descriptor) {
    int result = 0;
    do result = fdatasync(descriptor);
    while (result != 0 && errno == EINTR);
    return result == 0;
}

}  // namespace

DirectFile::DirectFile(const std::filesystem::path& path, Caching caching) : path_(path.string()) {
    descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno == EEXIST) {
        throw Error(ErrorCode::output, "already exists", path_, "choose another name");
    }
    if (descriptor_ < 0) fail("cannot be created");
    lock_file(descriptor_);
    if (caching == Caching::system) return;
    try {
        staging_ = block_memory(staging_bytes, MemoryKind::host);
        last_page_ = block_memory(page, MemoryKind::host);
    } catch (...) {
        close(descriptor_);
        throw;
    }
    is_direct_ = fcntl(descriptor_, F_SETFL, O_DIRECT) == 0;
}

DirectFile::~DirectFile() {
    close(descriptor_);
}

void DirectFile::fail(const char* what) const {
    const int number = errno;
    const bool full = number == ENOSPC || number == EDQUOT || number == EFBIG;
    throw Error(ErrorCode::output, fmt::format("{}: {}", what, std::strerror(number)), path_,
                full ? "free some space, or write to another disk" : "check folder, permissions and disk");
}

void DirectFile::write(std::int64_t place, std::span<const std::byte> bytes) {
    if (place < end_) {
        throw Error(ErrorCode::output, fmt::format("byte {} is written after byte {}", place, end_), path_);
    }
    if (bytes.empty()) return;
    if (is_direct_)
        write_pages(place, bytes);
    else
        write_all(place, bytes);
    end_ = place + std::ssize(bytes);
}

// Writes whole pages. Page-aligned memory goes to the disk directly, everything else through the staging buffer. The
// buffer starts at byte `at` of the file, a page boundary, and holds `staged` bytes. The last page is padded with zeros
// and kept in last_page_, so that the next write can complete it.
void DirectFile::write_pages(std::int64_t place, std::span<const std::byte> bytes) {
    const std::int64_t end = place + std::ssize(bytes);
    std::int64_t at = page_begin(place);
    std::int64_t staged = place - at;
    std::memset(staging_.data, 0, page);
    if (end_ > at) std::memcpy(staging_.data, last_page_.data, index(end_ - at));
    const auto flush = [&] {
        write_all(at, first(staging_, staged));
        at += staged;
        staged = 0;
    };
    while (!bytes.empty()) {
        const auto left = std::ssize(bytes);
        if (staged == 0 && in_page(bytes.data()) == 0 && left >= page) {
            const std::int64_t direct = page_begin(left);
            write_all(at, bytes.first(index(direct)));
            at += direct;
            bytes = bytes.subspan(index(direct));
            continue;
        }
        const bool in_phase = in_page(bytes.data()) == staged % page;  // after this page, memory and file are aligned
        const std::int64_t full = in_phase ? page : staging_bytes;
        const std::int64_t taken = std::min(left, full - staged);
        std::memcpy(staging_.data + staged, bytes.data(), index(taken));
        staged += taken;
        bytes = bytes.subspan(index(taken));
        if (staged == full) flush();
    }
    const std::int64_t rest = end - page_begin(end);
    if (rest == 0) {
        if (staged > 0) flush();
        return;
    }
    std::byte* const last = staging_.data + page_begin(staged);
    std::memset(last + rest, 0, index(page - rest));
    staged = page_begin(staged) + page;
    flush();
    std::memcpy(last_page_.data, last, page);
}

void DirectFile::write_all(std::int64_t place, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = pwrite(descriptor_, bytes.data(), bytes.size(), place);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0 && errno == EINVAL && is_direct_) {
            write_through_cache();
            continue;
        }
        // A write of zero bytes means that the disk is full.
        if (written == 0) errno = ENOSPC;
        if (written <= 0) fail("cannot be written");
        bytes = bytes.subspan(index(written));
        place += written;
    }
}

// Some file systems accept O_DIRECT but reject the writes with EINVAL.
void DirectFile::write_through_cache() {
    is_direct_ = false;
    if (fcntl(descriptor_, F_SETFL, 0) != 0) fail("cannot be written");
}

bool DirectFile::reserve(std::int64_t end) {
    if (end <= reserved_) return true;
    struct statvfs disk {};
    if (fstatvfs(descriptor_, &disk) != 0) return false;
    // Some file systems fill up before they report an error, so leave half free.
    const std::uint64_t free_blocks = disk.f_bavail;
    if (static_cast<std::uint64_t>(end - reserved_) > free_blocks / 2 * disk.f_frsize) return false;
    if (fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, reserved_, end - reserved_) != 0) return false;
    reserved_ = end;
    return true;
}

void DirectFile::sync() {
    if (!syncs(descriptor_)) fail("cannot be flushed to the disk");
}

void DirectFile::end_at(std::int64_t size) {
    if (ftruncate(descriptor_, size) != 0) fail("cannot be truncated to its final length");
    reserved_ = size;
}

// ---- locks ----------------------------------------------------------------------------------------------------------

using namespace std::chrono_literals;

constexpr auto max_wait = 5s;
constexpr auto poll_interval = 5ms;

bool lock_file(int descriptor) noexcept {
    const auto until = std::chrono::steady_clock::now() + max_wait;
    while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        const bool is_held = errno == EWOULDBLOCK || errno == EINTR;
        if (!is_held || std::chrono::steady_clock::now() > until) return false;
        std::this_thread::sleep_for(poll_interval);
    }
    return true;
}

// Tries a shared lock, so that several programs can check at once. O_NONBLOCK avoids blocking on a FIFO.
bool is_locked(const std::filesystem::path& path) noexcept {
    const int descriptor = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return false;
    struct stat status {};
    const bool is_file = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    const bool is_held = is_file && flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(descriptor);
    return is_held;
}

// The TOML file itself is not locked because it is replaced at the end of the recording.
bool is_being_recorded(const std::filesystem::path& path) {
    if (is_locked(path)) return true;
    if (path.extension() != ".toml") return false;
    std::filesystem::path spectra = path;
    return is_locked(spectra.replace_extension(".raw"));
}

void refuse_running_recording(const std::filesystem::path& path) {
    if (!is_being_recorded(path)) return;
    throw Error(ErrorCode::output, "is being recorded", path.string(),
                "choose another name, or stop that recording first");
}

FolderTurn::FolderTurn(const std::filesystem::path& file_in_it) noexcept {
    try {
        const std::filesystem::path folder = file_in_it.parent_path();
        descriptor_ = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    } catch (const std::bad_alloc&) {
        return;
    }
    if (descriptor_ >= 0) lock_file(descriptor_);
}

FolderTurn::~FolderTurn() {
    if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace echolux
