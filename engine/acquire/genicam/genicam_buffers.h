// The memory that a camera's images are written to: ours, page aligned and pinned where a GPU fetches from it, lent to
// Aravis. An image that somebody holds comes back by itself; one that comes back while nothing streams waits for the
// next start.
#pragma once

#include <arv.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "compute/block_memory.h"

namespace echolux {

class ImageBuffers : public std::enable_shared_from_this<ImageBuffers> {
  public:
    // Throws Error{out_of_memory}.
    ImageBuffers(std::int64_t count, std::int64_t bytes, MemoryKind wanted);
    ~ImageBuffers();
    ImageBuffers(const ImageBuffers&) = delete;
    ImageBuffers& operator=(const ImageBuffers&) = delete;

    MemoryKind memory() const { return memory_.front().kind; }

    // All images that nobody holds are queued. `stream` must stay until detach().
    void attach(ArvStream* stream);
    void detach();

    // What the stream has filled is used again at once, or when the keeper's last copy is gone.
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
