#include "tests/gpu/cuda_faults.h"

#include <cuda_runtime.h>

#include <mutex>
#include <optional>
#include <set>

namespace echolux::test {
namespace {

constexpr cudaError_t poison = cudaErrorIllegalAddress;

struct Faults {
    std::mutex mutex;
    std::int64_t at = 0;
    CudaFault fault = CudaFault::once;
    bool poisoned = false;
    cudaError_t unheard = cudaSuccess;  // returned by cudaGetLastError()
    CudaFaultsSeen seen;
    std::set<const void*> alive;
};

Faults& faults() {
    static Faults one;
    return one;
}

enum class Kind { makes, launches, waits };

// Returns the error with which this call must fail, if any.
std::optional<cudaError_t> failure(const char* function, Kind kind) {
    Faults& f = faults();
    const std::scoped_lock lock(f.mutex);
    if (f.poisoned) return f.unheard = poison;
    if (kind == Kind::waits && f.fault == CudaFault::once) return std::nullopt;
    if (++f.seen.calls != f.at) return std::nullopt;
    f.seen.failed = true;
    f.seen.first_failed = function;
    f.poisoned = f.fault == CudaFault::for_good;
    if (f.poisoned) return f.unheard = poison;
    return f.unheard = kind == Kind::makes ? cudaErrorMemoryAllocation : cudaErrorLaunchOutOfResources;
}

bool is_poisoned() {
    const std::scoped_lock lock(faults().mutex);
    return faults().poisoned;
}

cudaError_t made(cudaError_t result, const void* what) {
    const std::scoped_lock lock(faults().mutex);
    if (result == cudaSuccess) faults().alive.insert(what);
    return result;
}

// Freed objects are gone even if a poisoned context reports an error.
cudaError_t ended(cudaError_t result, const void* what) {
    const std::scoped_lock lock(faults().mutex);
    faults().alive.erase(what);
    return faults().poisoned ? poison : result;
}

}  // namespace

void plan_cuda_fault(std::int64_t at, CudaFault fault) {
    const std::scoped_lock lock(faults().mutex);
    faults().at = at;
    faults().fault = fault;
    faults().poisoned = false;
    faults().unheard = cudaSuccess;
    faults().seen = {};
}

CudaFaultsSeen seen_cuda_faults() {
    const std::scoped_lock lock(faults().mutex);
    CudaFaultsSeen seen = faults().seen;
    seen.alive = std::ssize(faults().alive);
    return seen;
}

}  // namespace echolux::test

using namespace echolux::test;

// Names by the linker: calls of X go to __wrap_X; __real_X is X itself.
#define PASSES(function, kind, parameters, arguments)                     \
    extern "C" cudaError_t __real_##function parameters;                  \
    extern "C" cudaError_t __wrap_##function parameters {                 \
        if (const auto failed = failure(#function, kind)) return *failed; \
        return __real_##function arguments;                               \
    }
#define MAKES(function, result, parameters, arguments)                           \
    extern "C" cudaError_t __real_##function parameters;                         \
    extern "C" cudaError_t __wrap_##function parameters {                        \
        if (const auto failed = failure(#function, Kind::makes)) return *failed; \
        const cudaError_t answer = __real_##function arguments;                  \
        return made(answer, *(result));                                          \
    }
#define ENDS(function, type)                              \
    extern "C" cudaError_t __real_##function(type what);  \
    extern "C" cudaError_t __wrap_##function(type what) { \
        return ended(__real_##function(what), what);      \
    }

MAKES(cudaMalloc, data, (void** data, std::size_t bytes), (data, bytes))
MAKES(cudaHostAlloc, data, (void** data, std::size_t bytes, unsigned flags), (data, bytes, flags))
MAKES(cudaMalloc3DArray, array,
      (cudaArray_t * array, const cudaChannelFormatDesc* format, cudaExtent size, unsigned flags),
      (array, format, size, flags))
MAKES(cudaStreamCreateWithPriority, stream, (cudaStream_t * stream, unsigned flags, int priority),
      (stream, flags, priority))
MAKES(cudaEventCreateWithFlags, event, (cudaEvent_t * event, unsigned flags), (event, flags))
ENDS(cudaFree, void*)
ENDS(cudaFreeHost, void*)
ENDS(cudaFreeArray, cudaArray_t)
ENDS(cudaStreamDestroy, cudaStream_t)
ENDS(cudaEventDestroy, cudaEvent_t)

PASSES(cudaCreateSurfaceObject, Kind::makes, (cudaSurfaceObject_t * surface, const cudaResourceDesc* what),
       (surface, what))
PASSES(cudaImportExternalMemory, Kind::makes,
       (cudaExternalMemory_t * memory, const cudaExternalMemoryHandleDesc* handle), (memory, handle))
PASSES(cudaImportExternalSemaphore, Kind::makes,
       (cudaExternalSemaphore_t * semaphore, const cudaExternalSemaphoreHandleDesc* handle), (semaphore, handle))
PASSES(cudaExternalMemoryGetMappedBuffer, Kind::makes,
       (void** data, cudaExternalMemory_t memory, const cudaExternalMemoryBufferDesc* part), (data, memory, part))
PASSES(cudaExternalMemoryGetMappedMipmappedArray, Kind::makes,
       (cudaMipmappedArray_t * array, cudaExternalMemory_t memory, const cudaExternalMemoryMipmappedArrayDesc* part),
       (array, memory, part))
PASSES(cudaGetMipmappedArrayLevel, Kind::makes, (cudaArray_t * array, cudaMipmappedArray_const_t from, unsigned level),
       (array, from, level))
PASSES(__cudaLaunchKernel, Kind::launches,
       (cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared, cudaStream_t stream),
       (kernel, grid, block, arguments, shared, stream))
PASSES(cudaMemcpy, Kind::launches, (void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind),
       (to, from, bytes, kind))
PASSES(cudaMemcpyAsync, Kind::launches,
       (void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream),
       (to, from, bytes, kind, stream))
PASSES(cudaMemcpy2DAsync, Kind::launches,
       (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width, std::size_t height,
        cudaMemcpyKind kind, cudaStream_t stream),
       (to, to_pitch, from, from_pitch, width, height, kind, stream))
PASSES(cudaMemcpyPeerAsync, Kind::launches,
       (void* to, int to_device, const void* from, int from_device, std::size_t bytes, cudaStream_t stream),
       (to, to_device, from, from_device, bytes, stream))
PASSES(cudaMemcpy3DAsync, Kind::launches, (const cudaMemcpy3DParms* copy, cudaStream_t stream), (copy, stream))
PASSES(cudaMemset, Kind::launches, (void* data, int value, std::size_t bytes), (data, value, bytes))
PASSES(cudaMemsetAsync, Kind::launches, (void* data, int value, std::size_t bytes, cudaStream_t stream),
       (data, value, bytes, stream))
PASSES(cudaEventRecord, Kind::launches, (cudaEvent_t event, cudaStream_t stream), (event, stream))
PASSES(cudaStreamWaitEvent, Kind::launches, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
       (stream, event, flags))
PASSES(cudaSignalExternalSemaphoresAsync, Kind::launches,
       (const cudaExternalSemaphore_t* semaphores, const cudaExternalSemaphoreSignalParams* values, unsigned count,
        cudaStream_t stream),
       (semaphores, values, count, stream))
PASSES(cudaWaitExternalSemaphoresAsync, Kind::launches,
       (const cudaExternalSemaphore_t* semaphores, const cudaExternalSemaphoreWaitParams* values, unsigned count,
        cudaStream_t stream),
       (semaphores, values, count, stream))
PASSES(cudaGetDevice, Kind::waits, (int* device), (device))
PASSES(cudaSetDevice, Kind::waits, (int device), (device))
PASSES(cudaMemGetInfo, Kind::waits, (std::size_t * free, std::size_t* total), (free, total))
// Polled any number of times until the work is done: only the final answer counts.
extern "C" cudaError_t __real_cudaEventQuery(cudaEvent_t event);
extern "C" cudaError_t __wrap_cudaEventQuery(cudaEvent_t event) {
    const cudaError_t answer = __real_cudaEventQuery(event);
    if (answer == cudaErrorNotReady && !is_poisoned()) return answer;
    if (const auto failed = failure("cudaEventQuery", Kind::waits)) return *failed;
    return answer;
}
PASSES(cudaEventSynchronize, Kind::waits, (cudaEvent_t event), (event))

// A poisoned context has no pending work. The real one must finish, because it could otherwise use freed memory.
extern "C" cudaError_t __real_cudaStreamSynchronize(cudaStream_t stream);
extern "C" cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream) {
    const cudaError_t result = __real_cudaStreamSynchronize(stream);
    return failure("cudaStreamSynchronize", Kind::waits).value_or(result);
}

extern "C" cudaError_t __real_cudaDeviceSynchronize();
extern "C" cudaError_t __wrap_cudaDeviceSynchronize() {
    const cudaError_t result = __real_cudaDeviceSynchronize();
    return failure("cudaDeviceSynchronize", Kind::waits).value_or(result);
}

extern "C" cudaError_t __real_cudaGetLastError();
extern "C" cudaError_t __wrap_cudaGetLastError() {
    const cudaError_t real = __real_cudaGetLastError();
    const std::scoped_lock lock(faults().mutex);
    if (faults().poisoned) return poison;
    return std::exchange(faults().unheard, cudaSuccess) != cudaSuccess ? cudaErrorLaunchOutOfResources : real;
}
// NOLINTEND(bugprone-reserved-identifier)
