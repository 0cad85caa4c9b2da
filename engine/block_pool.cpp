#include "engine/block_pool.h"

#include <limits>

namespace echolux {

BlockMemory BlockPool::take() {
    return *take_below(std::numeric_limits<std::int64_t>::max());
}

std::optional<BlockMemory> BlockPool::take_below(std::int64_t max) {
    const std::lock_guard lock(idle_->mutex);
    if (idle_->out >= max) return std::nullopt;
    // Reserve room now so that returning a block cannot allocate, and so cannot fail.
    idle_->memory.reserve(static_cast<std::size_t>(idle_->out) + idle_->memory.size() + 1);
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

}  // namespace echolux
