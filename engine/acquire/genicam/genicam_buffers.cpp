#include "engine/acquire/genicam/genicam_buffers.h"

#include <algorithm>

namespace echolux {

ImageBuffers::ImageBuffers(std::int64_t count, std::int64_t bytes, MemoryKind wanted) {
    for (std::int64_t i = 0; i < count; ++i) memory_.push_back(block_memory(bytes, wanted));
    for (const BlockMemory& memory : memory_) {
        buffers_.push_back(arv_buffer_new(static_cast<std::size_t>(bytes), memory.data));
    }
    held_.reserve(buffers_.size());
}

ImageBuffers::~ImageBuffers() {
    for (ArvBuffer* buffer : buffers_) g_object_unref(buffer);
}

// A stream takes a reference to each buffer and drops it at its end. Our own reference remains.
void ImageBuffers::attach(ArvStream* stream) {
    const std::lock_guard lock(mutex_);
    stream_ = stream;
    for (ArvBuffer* buffer : buffers_) {
        if (std::ranges::find(held_, buffer) == held_.end()) {
            arv_stream_push_buffer(stream, ARV_BUFFER(g_object_ref(buffer)));
        }
    }
}

void ImageBuffers::detach() {
    const std::lock_guard lock(mutex_);
    stream_ = nullptr;
}

void ImageBuffers::give_back(ArvBuffer* buffer) {
    const std::lock_guard lock(mutex_);
    std::erase(held_, buffer);
    if (stream_ != nullptr) arv_stream_push_buffer(stream_, ARV_BUFFER(g_object_ref(buffer)));
    g_object_unref(buffer);
}

std::shared_ptr<const void> ImageBuffers::keep(ArvBuffer* buffer) {
    {
        const std::lock_guard lock(mutex_);
        held_.push_back(buffer);
    }
    return {buffer, [buffers = shared_from_this()](ArvBuffer* returned) { buffers->give_back(returned); }};
}

}  // namespace echolux
