// Buffers for a camera's images, page-aligned and pinned if a GPU reads them. They are owned here and passed to Aravis.
// An image returns to the stream when its last user releases it, or stays here until the next start if nothing streams.
#pragma once

#include <arv.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "compute/place.h"

namespace echolux {

// Thread-safe.
class ImageBuffers : public std::enable_shared_from_this<ImageBuffers> {
  public:
    // Allocates `count` buffers. Throws Error{out_of_memory}.
    ImageBuffers(std::int64_t count, std::int64_t bytes, MemoryKind wanted);
    ~ImageBuffers();
    ImageBuffers(const ImageBuffers&) = delete;
    ImageBuffers& operator=(const ImageBuffers&) = delete;

    MemoryKind memory() const { return memory_.front().kind; }

    // Queues all buffers that are not in use. `stream` must exist until detach().
    void attach(ArvStream* stream);
    void detach();

    // Returns a filled buffer to the stream: at once, or when the last copy of the returned pointer is destroyed.
    void give_back(ArvBuffer* buffer);
    std::shared_ptr<const void> keep(ArvBuffer* buffer);

  private:
    std::mutex mutex_;
    ArvStream* stream_ = nullptr;
    std::vector<BlockMemory> memory_;
    std::vector<ArvBuffer*> buffers_;
    std::vector<ArvBuffer*> held_;
};

}  // namespace echolux
