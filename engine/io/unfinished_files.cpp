#include "engine/io/unfinished_files.h"

#include <unistd.h>

#include <mutex>
#include <set>
#include <utility>

namespace echolux {
namespace {

struct Names {
    std::mutex mutex;
    std::multiset<std::filesystem::path> paths;
};

// Never destroyed: names are given up until the very end.
Names& names() {
    static Names* const all = new Names;
    return *all;
}

// Whoever writes into a folder may make files in it until it is gone.
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
    if (!problem) path_ = whole;  // wherever the program stands when it ends
    const std::scoped_lock lock(names().mutex);
    names().paths.insert(path_);
}

UnfinishedName::~UnfinishedName() {
    const std::scoped_lock lock(names().mutex);
    names().paths.erase(names().paths.find(path_));
}

void end_without_unfinished_files(int exit_code) {
    names().mutex.lock();  // for ever
    for (const std::filesystem::path& path : names().paths) remove_for_good(path);
    _exit(exit_code);
}

}  // namespace echolux
