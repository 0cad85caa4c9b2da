#include "engine/io/atomic_file.h"

#include <unistd.h>

#include <mutex>
#include <set>
#include <utility>

namespace echolux {
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

}  // namespace echolux
