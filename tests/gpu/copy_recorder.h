// Records every copy that CUDA makes and every wait of the host for a GPU, in all code of the process. Uses CUPTI,
// which is loaded from the installed toolkit when a recorder is created.
#pragma once

#include <cstdint>

namespace echolux {

struct RecordedCopies {
    std::int64_t copies = 0;  // in any direction
    std::int64_t to_device_bytes = 0;
    std::int64_t to_host_bytes = 0;  // from memory or arrays of a GPU to host memory
    std::int64_t device_waits = 0;   // cudaDeviceSynchronize and similar
    std::int64_t host_waits = 0;     // these, and cudaStreamSynchronize, cudaEventSynchronize
    std::int64_t lost_records = 0;   // dropped by CUPTI; if any, the counts prove nothing
};

// Only one may exist at a time.
class CopyRecorder {
  public:
    // Starts recording. Throws Error{device} without CUPTI, or if another profiler uses it.
    CopyRecorder();
    ~CopyRecorder();
    CopyRecorder(const CopyRecorder&) = delete;
    CopyRecorder& operator=(const CopyRecorder&) = delete;

    // Waits for the current device (not counted) and returns the counts of all work enqueued before.
    RecordedCopies recorded() const;
};

}  // namespace echolux
