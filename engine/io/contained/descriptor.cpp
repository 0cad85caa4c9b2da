#include "engine/io/contained/reader_process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "compute/error.h"
#include "engine/io/regular_file.h"

namespace echolux {

void Descriptor::close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
}

Descriptor open_regular(const std::filesystem::path& path) {
    // O_NONBLOCK: opening a FIFO without a writer would block.
    Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) check_open_files(errno, path.string());
    struct stat status {};
    const bool is_there = file || (errno != ENOENT && errno != ENOTDIR);
    const bool is_regular = file && fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode);
    if (is_regular) return file;
    if (file || !is_there) {
        throw Error(ErrorCode::bad_file, "does not exist or is not a file", path.string(), "check the name");
    }
    throw Error(ErrorCode::bad_file, "cannot be opened", path.string(), "check its permissions");
}

std::int64_t size_of(const Descriptor& file) {
    struct stat status {};
    return fstat(file.number(), &status) == 0 ? static_cast<std::int64_t>(status.st_size) : 0;
}

Descriptor file_in_memory() {
    Descriptor file(memfd_create("echolux-packed", MFD_CLOEXEC));
    if (file) return file;
    check_open_files(errno, "a file in memory");
    throw Error(ErrorCode::out_of_memory, "there is no memory to hand to a reader process");
}

void put(const Descriptor& file, std::span<const char> bytes) {
    std::int64_t place = 0;
    bool goes_on = ftruncate(file.number(), 0) == 0;
    while (goes_on && !bytes.empty()) {
        const ssize_t written = pwrite(file.number(), bytes.data(), bytes.size(), place);
        if (written < 0 && errno == EINTR) continue;
        goes_on = written > 0;
        if (!goes_on) break;
        bytes = bytes.subspan(static_cast<std::size_t>(written));
        place += written;
    }
    if (!goes_on) throw Error(ErrorCode::out_of_memory, "there is no memory to hand packed voxels to a reader process");
}

}  // namespace echolux
