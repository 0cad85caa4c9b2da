// Imports textures, buffers and timelines exported by Vulkan, and orders the runner's streams with the renderer:
//
//   opening:     wait(slot's last publishing), wait(read >= value), record(opened)      one `begin`
//   workers:     wait(opened), kernels, record(done)                                    the runner, any number
//   publishing:  wait(done) ..., record(published), signal(written = value)             one `publish`
//
// Workers of other GPUs participate in the same way: events order streams across devices, and their `done` follows the
// copy to the slot.
//
// Opening and publishing use separate streams, so that the first kernels of the next volume need not wait for the last
// ones of the current volume.
#include <cuda_runtime.h>

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "compute/cuda/entry.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/transfers.h"
#include "compute/error.h"
#include "compute/indexing.h"

namespace echolux::cuda {
namespace {

const char* const place_name = "sharing textures";
constexpr std::chrono::milliseconds look_again{1};  // interval for polling work in progress

// Owns a handle until the driver takes ownership.
class PendingHandle {
  public:
    explicit PendingHandle(int handle) : handle_(handle) {}
    ~PendingHandle() { close_handle(handle_); }
    PendingHandle(PendingHandle&& other) noexcept : handle_(std::exchange(other.handle_, -1)) {}
    PendingHandle& operator=(PendingHandle&&) = delete;

    int get() const { return handle_; }
    void taken() { handle_ = -1; }

  private:
    int handle_;
};

// A Vulkan timeline semaphore as a CUDA external semaphore.
class ImportedTimeline {
  public:
    explicit ImportedTimeline(PendingHandle handle) {
        cudaExternalSemaphoreHandleDesc facts{};
        facts.type = cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd;
        facts.handle.fd = handle.get();
        checked(cudaImportExternalSemaphore(&semaphore_, &facts), "import a timeline of the renderer");
        handle.taken();
    }
    ~ImportedTimeline() { cudaDestroyExternalSemaphore(semaphore_); }
    ImportedTimeline(const ImportedTimeline&) = delete;
    ImportedTimeline& operator=(const ImportedTimeline&) = delete;

    void wait(std::uint64_t value, cudaStream_t stream) const {
        cudaExternalSemaphoreWaitParams facts{};
        facts.params.fence.value = value;
        checked(cudaWaitExternalSemaphoresAsync(&semaphore_, &facts, 1, stream), "wait for the renderer");
    }

    void signal(std::uint64_t value, cudaStream_t stream) const {
        cudaExternalSemaphoreSignalParams facts{};
        facts.params.fence.value = value;
        checked(cudaSignalExternalSemaphoresAsync(&semaphore_, &facts, 1, stream), "signal the renderer");
    }

  private:
    cudaExternalSemaphore_t semaphore_ = nullptr;
};

// A Vulkan allocation as CUDA external memory.
class ImportedMemory {
  public:
    ImportedMemory(PendingHandle handle, std::int64_t bytes) {
        cudaExternalMemoryHandleDesc facts{};
        facts.type = cudaExternalMemoryHandleTypeOpaqueFd;
        facts.handle.fd = handle.get();
        facts.size = static_cast<unsigned long long>(bytes);
        facts.flags = cudaExternalMemoryDedicated;
        checked(cudaImportExternalMemory(&memory_, &facts), "import memory of the renderer");
        handle.taken();
    }
    ~ImportedMemory() { cudaDestroyExternalMemory(memory_); }
    ImportedMemory(const ImportedMemory&) = delete;
    ImportedMemory& operator=(const ImportedMemory&) = delete;

    operator cudaExternalMemory_t() const { return memory_; }

  private:
    cudaExternalMemory_t memory_ = nullptr;
};

cudaChannelFormatDesc channel_of(VoxelType type) {
    switch (type) {
        case VoxelType::u8: return {8, 0, 0, 0, cudaChannelFormatKindUnsigned};
        case VoxelType::u16: return {16, 0, 0, 0, cudaChannelFormatKindUnsigned};
        case VoxelType::f16: return {16, 0, 0, 0, cudaChannelFormatKindFloat};
        case VoxelType::f32: return {32, 0, 0, 0, cudaChannelFormatKindFloat};
        case VoxelType::phasor8: return {8, 8, 0, 0, cudaChannelFormatKindSigned};
        default: throw Error(ErrorCode::device, "textures of this kind of voxel are not shared", place_name);
    }
}

// The voxels of a slot as a CUDA array with a surface.
class ImportedImage {
  public:
    ImportedImage(cudaExternalMemory_t memory, const ExportedImage& image) {
        cudaExternalMemoryMipmappedArrayDesc facts{};
        facts.formatDesc = channel_of(image.type);
        facts.extent = {index(image.depth), index(image.a_scans), index(image.b_scans)};
        facts.flags = cudaArraySurfaceLoadStore;
        facts.numLevels = 1;
        checked(cudaExternalMemoryGetMappedMipmappedArray(&levels_, memory, &facts), "map a texture of the renderer");
        try {
            checked(cudaGetMipmappedArrayLevel(&array_, levels_, 0), "find a texture's voxels");
            cudaResourceDesc resource{};
            resource.resType = cudaResourceTypeArray;
            resource.res.array.array = array_;
            checked(cudaCreateSurfaceObject(&surface_, &resource), "create a surface of a texture");
        } catch (...) {
            cudaFreeMipmappedArray(levels_);
            throw;
        }
    }
    ~ImportedImage() {
        cudaDestroySurfaceObject(surface_);
        cudaFreeMipmappedArray(levels_);
    }
    ImportedImage(const ImportedImage&) = delete;
    ImportedImage& operator=(const ImportedImage&) = delete;

    cudaArray_t array() const { return array_; }
    cudaSurfaceObject_t surface() const { return surface_; }

  private:
    cudaMipmappedArray_t levels_ = nullptr;
    cudaArray_t array_ = nullptr;  // level 0 of levels_
    cudaSurfaceObject_t surface_ = 0;
};

// A buffer of packed voxels in imported memory.
class ImportedBuffer {
  public:
    ImportedBuffer(cudaExternalMemory_t memory, std::int64_t bytes) {
        cudaExternalMemoryBufferDesc facts{};
        facts.size = static_cast<unsigned long long>(bytes);
        checked(cudaExternalMemoryGetMappedBuffer(&data_, memory, &facts), "map a buffer of the renderer");
    }
    ~ImportedBuffer() { cudaFree(data_); }
    ImportedBuffer(const ImportedBuffer&) = delete;
    ImportedBuffer& operator=(const ImportedBuffer&) = delete;

    std::byte* data() const { return static_cast<std::byte*>(data_); }

  private:
    void* data_ = nullptr;
};

// Members are released in reverse order, the memory last.
class ImportedTexture {
  public:
    ImportedTexture(int device, PendingHandle handle, const ExportedImage& image, cudaEvent_t opened,
                    cudaStream_t publishing)
        : memory_(std::move(handle), image.bytes) {
        if (image.linear) {
            buffer_ = std::make_unique<ImportedBuffer>(
                memory_, image.depth * image.a_scans * image.b_scans * bytes_of(image.type));
        } else {
            image_ = std::make_unique<ImportedImage>(memory_, image);
        }
        face_ = {.device = device,
                 .array = image_ ? image_->array() : nullptr,
                 .surface = image_ ? image_->surface() : 0,
                 .buffer = buffer_ ? buffer_->data() : nullptr,
                 .publishing = publishing,
                 .opened = opened,
                 .type = image.type,
                 .depth = image.depth,
                 .a_scans = image.a_scans,
                 .b_scans = image.b_scans};
    }

    VoxelTarget target() { return {.kind = TargetKind::device_surface, .data = &face_}; }

  private:
    ImportedMemory memory_;
    std::unique_ptr<ImportedImage> image_;
    std::unique_ptr<ImportedBuffer> buffer_;
    CudaSlot face_;
};

// The handles of a slot before import.
struct PendingSlot {
    explicit PendingSlot(const ExportedSlot& slot)
        : structure(slot.structure.handle), flow(slot.flow ? slot.flow->handle : -1),
          peaks(slot.peaks ? slot.peaks->handle : -1) {}

    PendingHandle structure;
    PendingHandle flow;
    PendingHandle peaks;
};

// Textures of one time point, opened and published together.
class ImportedSlot {
  public:
    ImportedSlot(int device, PendingSlot handles, const ExportedSlot& slot, cudaStream_t publishing)
        : structure_(device, std::move(handles.structure), slot.structure, opened_, publishing),
          depths_of_a_peak_(slot.depths_of_a_peak) {
        if (slot.flow) flow_.emplace(device, std::move(handles.flow), *slot.flow, opened_, publishing);
        if (slot.peaks) peaks_.emplace(device, std::move(handles.peaks), *slot.peaks, opened_, publishing);
    }

    VoxelTargets targets() {
        VoxelTargets targets(structure_.target());
        if (flow_) targets.flow = flow_->target();
        if (peaks_) targets.peaks = Peaks{peaks_->target(), depths_of_a_peak_};
        return targets;
    }
    cudaEvent_t opened() const { return opened_; }
    cudaEvent_t published() const { return published_; }

  private:
    Event opened_;
    Event published_;
    ImportedTexture structure_;
    std::optional<ImportedTexture> flow_;
    std::optional<ImportedTexture> peaks_;
    std::int64_t depths_of_a_peak_;
};

// Orders the streams as described at the top of this file.
class CudaSlotWriter : public SlotWriter {
  public:
    CudaSlotWriter(int device, const std::vector<ExportedSlot>& slots, std::vector<PendingSlot> handles,
                   PendingHandle written, PendingHandle read)
        : device_(device), written_(std::move(written)), read_(std::move(read)) {
        for (std::size_t i = 0; i < slots.size(); ++i) {
            slots_.push_back(std::make_unique<ImportedSlot>(device, std::move(handles[i]), slots[i], publishing_));
        }
    }

    // Submitted work may still write here. Surfaces are numbered per device.
    ~CudaSlotWriter() override {
        const CurrentDevice current(device_, std::nothrow);
        cudaStreamSynchronize(publishing_);
        cudaStreamSynchronize(opening_);
        slots_.clear();
    }

    VoxelTargets targets(std::size_t slot) const override { return slots_.at(slot)->targets(); }

    void begin(std::size_t slot, std::uint64_t value) override {
        const CurrentDevice current(device_);
        const ImportedSlot& opened = *slots_.at(slot);
        checked(cudaStreamWaitEvent(opening_, opened.published()), "wait for a texture");
        if (value > 0) read_.wait(value, opening_);
        checked(cudaEventRecord(opened.opened(), opening_), "open a texture");
    }

    void publish(std::size_t slot, std::uint64_t value, std::int64_t, std::int64_t) override {
        const CurrentDevice current(device_);
        checked(cudaEventRecord(slots_.at(slot)->published(), publishing_), "publish a texture");
        written_.signal(value, publishing_);
    }

    SettleResult settle(std::chrono::milliseconds timeout) noexcept override {
        const CurrentDevice current(device_, std::nothrow);
        const auto until = std::chrono::steady_clock::now() + timeout;
        for (;; std::this_thread::sleep_for(look_again)) {
            const cudaError_t result = cudaStreamQuery(publishing_);
            if (result == cudaSuccess) return SettleResult::done;
            if (result != cudaErrorNotReady) return SettleResult::dead;
            cudaGetLastError();  // not an error, but the runtime records it as one
            if (std::chrono::steady_clock::now() >= until) return SettleResult::in_flight;
        }
    }

    void release_readers(std::uint64_t value) noexcept override {
        const CurrentDevice current(device_, std::nothrow);
        try {
            read_.signal(value, releasing_);
        } catch (const std::exception&) {  // the context is lost as well, so nothing waits for it
        }
    }

  private:
    int device_;
    Stream opening_;
    Stream publishing_;
    Stream releasing_;  // has no dependencies
    ImportedTimeline written_;
    ImportedTimeline read_;
    std::vector<std::unique_ptr<ImportedSlot>> slots_;
};

}  // namespace

std::unique_ptr<SlotWriter> share_slots(const std::vector<ExportedSlot>& slots, const ExportedTimeline& written,
                                        const ExportedTimeline& read) {
    std::vector<PendingSlot> handles(slots.begin(), slots.end());
    PendingHandle of_written(written.handle), of_read(read.handle);
    if (written.device == DeviceId{}) {
        throw Error(ErrorCode::device, "the renderer does not report its GPU", place_name);
    }
    const int device = usable_gpu(written.device).index;
    const CurrentDevice current(device);
    return std::make_unique<CudaSlotWriter>(device, slots, std::move(handles), std::move(of_written),
                                            std::move(of_read));
}

}  // namespace echolux::cuda
