#include "tests/gpu/copy_recorder.h"

#include <cuda_runtime.h>
#include <cupti.h>
#include <cupti_runtime_cbid.h>

#include <cstdlib>
#include <mutex>
#include <string>

#include "compute/cuda/toolkit.h"
#include "compute/error.h"

namespace echolux {
namespace {

struct Cupti {
    const cuda::ToolkitLibrary library{"libcupti.so.13", "cuda-cupti-13-0"};
    const decltype(&cuptiActivityEnable) enable = library["cuptiActivityEnable"];
    const decltype(&cuptiActivityDisable) disable = library["cuptiActivityDisable"];
    const decltype(&cuptiActivityFlushAll) flush_all = library["cuptiActivityFlushAll"];
    const decltype(&cuptiActivityGetNextRecord) next_record = library["cuptiActivityGetNextRecord"];
    const decltype(&cuptiActivityGetNumDroppedRecords) lost_records = library["cuptiActivityGetNumDroppedRecords"];
    const decltype(&cuptiActivityRegisterCallbacks) register_callbacks = library["cuptiActivityRegisterCallbacks"];
};

const Cupti& cupti() {
    static const Cupti one;
    return one;
}

void require(CUptiResult result, const char* doing) {
    if (result == CUPTI_SUCCESS) return;
    throw Error(ErrorCode::device, std::string("CUPTI cannot ") + doing + ": code " + std::to_string(result), "cupti",
                "end other profilers; on some machines only root may profile");
}

// Global, because CUPTI's callbacks have no user data.
std::mutex mutex;
RecordedCopies counts;

bool is_of_the_gpu(std::uint8_t kind) {
    return kind == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE || kind == CUPTI_ACTIVITY_MEMORY_KIND_ARRAY ||
           kind == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC;
}

void count(const CUpti_ActivityMemcpy6& copy) {
    const std::scoped_lock lock(mutex);
    const bool from_gpu = is_of_the_gpu(copy.srcKind) || copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH ||
                          copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_ATOH;
    const bool to_gpu = is_of_the_gpu(copy.dstKind);
    ++counts.copies;
    if (from_gpu && !to_gpu) counts.to_host_bytes += static_cast<std::int64_t>(copy.bytes);
    if (to_gpu && !from_gpu) counts.to_device_bytes += static_cast<std::int64_t>(copy.bytes);
}

// Counts calls rather than CUPTI's synchronization records, which also contain successful queries (cudaEventQuery).
void count(const CUpti_ActivityAPI& call) {
    const std::scoped_lock lock(mutex);
    const bool is_of_device = call.cbid == CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020;
    const bool is_of_host = is_of_device || call.cbid == CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020 ||
                            call.cbid == CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_ptsz_v7000 ||
                            call.cbid == CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020;
    counts.device_waits += is_of_device ? 1 : 0;
    counts.host_waits += is_of_host ? 1 : 0;
}

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

void CUPTIAPI buffer_wanted(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(64, buffer_bytes));
    *size = *buffer == nullptr ? 0 : buffer_bytes;
    *max_records = 0;  // no limit
}

void CUPTIAPI buffer_filled(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                            std::size_t valid_bytes) {
    CUpti_Activity* record = nullptr;
    while (valid_bytes > 0 && cupti().next_record(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
        if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) count(*reinterpret_cast<const CUpti_ActivityMemcpy6*>(record));
        if (record->kind == CUPTI_ACTIVITY_KIND_RUNTIME) count(*reinterpret_cast<const CUpti_ActivityAPI*>(record));
    }
    std::size_t lost = 0;
    cupti().lost_records(context, stream, &lost);
    std::free(buffer);
    const std::scoped_lock lock(mutex);
    counts.lost_records += static_cast<std::int64_t>(lost);
}

}  // namespace

CopyRecorder::CopyRecorder() {
    require(cupti().register_callbacks(buffer_wanted, buffer_filled), "take note of copies");
    {
        const std::scoped_lock lock(mutex);
        counts = {};
    }
    require(cupti().enable(CUPTI_ACTIVITY_KIND_MEMCPY), "record copies");
    require(cupti().enable(CUPTI_ACTIVITY_KIND_RUNTIME), "record waits");
}

CopyRecorder::~CopyRecorder() {
    cupti().disable(CUPTI_ACTIVITY_KIND_RUNTIME);
    cupti().disable(CUPTI_ACTIVITY_KIND_MEMCPY);
    cupti().flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

RecordedCopies CopyRecorder::recorded() const {
    require(cupti().disable(CUPTI_ACTIVITY_KIND_RUNTIME), "leave a wait out");
    if (cudaDeviceSynchronize() != cudaSuccess) throw Error(ErrorCode::device, "the GPU failed", "cupti");
    require(cupti().flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "hand over its records");
    require(cupti().enable(CUPTI_ACTIVITY_KIND_RUNTIME), "record waits");
    const std::scoped_lock lock(mutex);
    return counts;
}

}  // namespace echolux
