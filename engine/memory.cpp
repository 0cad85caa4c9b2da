#include "engine/memory.h"

#include <fmt/format.h>
#include <cstdlib>
#include <fstream>
#include <limits>

#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/size_words.h"

namespace echolux {

BlockMemory BlockPool::take() {
    return *take_below(std::numeric_limits<std::int64_t>::max());
}

std::optional<BlockMemory> BlockPool::take_below(std::int64_t max) {
    const std::lock_guard lock(idle_->mutex);
    if (idle_->out >= max) return std::nullopt;
    // Reserve room now so that returning a block cannot allocate, and so cannot fail.
    idle_->memory.reserve(index(idle_->out) + idle_->memory.size() + 1);
    BlockMemory memory;
    if (idle_->memory.empty()) {
        memory = block_memory(bytes_, wanted_);
    } else {
        memory = std::move(idle_->memory.back());
        idle_->memory.pop_back();
    }
    BlockMemory lent = memory;
    lent.keeper = std::shared_ptr<const void>(memory.data, [idle = std::weak_ptr(idle_), memory](const void*) mutable {
        const auto home = idle.lock();
        if (!home) return;
        const std::lock_guard home_lock(home->mutex);
        --home->out;
        home->memory.push_back(std::move(memory));
    });
    ++idle_->out;
    return lent;
}

namespace {

constexpr double mebibyte = 1024.0 * 1024.0;

}  // namespace

std::int64_t available_memory_bytes() {
    if (const char* mebibytes = std::getenv("ECHOLUX_MEMORY_MIB")) {
        return static_cast<std::int64_t>(std::strtod(mebibytes, nullptr) * mebibyte);
    }
    std::ifstream meminfo("/proc/meminfo");
    std::string key, unit;
    std::int64_t kibibytes = 0;
    while (meminfo >> key >> kibibytes) {
        if (key == "MemAvailable:") return kibibytes * 1024;
        std::getline(meminfo, unit);
    }
    return std::numeric_limits<std::int64_t>::max();
}

void require_memory(std::int64_t bytes, const std::string& what, const std::string& remedy) {
    const auto budget = static_cast<double>(available_memory_bytes()) * 0.9;
    if (static_cast<double>(bytes) <= budget) return;
    throw Error(
        ErrorCode::out_of_memory,
        fmt::format("needs {} of memory, {} are available", size_words(static_cast<double>(bytes)), size_words(budget)),
        what, remedy);
}

}  // namespace echolux
