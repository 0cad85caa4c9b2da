// Sees every copy that CUDA makes, and every wait of the host for a GPU, whoever asks for it: records of CUPTI, which
// is opened from the machine's toolkit when a recorder is made.
#pragma once

#include <cstdint>

namespace echolux {

struct RecordedCopies {
    std::int64_t copies = 0;  // of any direction
    std::int64_t to_device_bytes = 0;
    std::int64_t to_host_bytes = 0;  // from memory or arrays of a GPU to memory of the host
    std::int64_t device_waits = 0;   // cudaDeviceSynchronize and its like
    std::int64_t host_waits = 0;     // those, and cudaStreamSynchronize, cudaEventSynchronize
    std::int64_t lost_records = 0;   // there was no room for: nothing is proven then
};

// One at a time.
class CopyRecorder {
  public:
    // From now on. Throws Error{device} where there is no CUPTI, or another profiler has it.
    CopyRecorder();
    ~CopyRecorder();
    CopyRecorder(const CopyRecorder&) = delete;
    CopyRecorder& operator=(const CopyRecorder&) = delete;

    // Waits for the current device, which does not count; what was asked for until now is in it.
    RecordedCopies recorded() const;
};

}  // namespace echolux
