#include "engine/io/durable_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <new>
#include <thread>

#include "compute/error.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;

constexpr auto max_wait = 5s;
constexpr auto poll_interval = 5ms;

}  // namespace

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
