#include "engine/block_pool.h"

namespace echolux {

BlockMemory BlockPool::take() {
    BlockMemory memory;
    {
        const std::lock_guard lock(idle_->mutex);
        if (!idle_->memory.empty()) {
            memory = std::move(idle_->memory.back());
            idle_->memory.pop_back();
        }
    }
    if (memory.data == nullptr) memory = block_memory(bytes_, wanted_);
    BlockMemory lent = memory;
    lent.keeper = std::shared_ptr<const void>(memory.data, [idle = std::weak_ptr(idle_), memory](const void*) mutable {
        const auto home = idle.lock();
        if (!home) return;
        const std::lock_guard lock(home->mutex);
        home->memory.push_back(std::move(memory));
    });
    return lent;
}

}  // namespace echolux
