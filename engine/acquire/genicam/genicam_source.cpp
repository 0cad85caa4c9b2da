// Spectra from a GenICam line camera with GigE Vision or USB3 Vision through the Aravis library: its buffers, and the
// source of blocks.
#include <arv.h>
#include <fmt/format.h>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "compute/voxel_target.h"
#include "engine/acquire/genicam/genicam_camera.h"
#include "engine/acquire/image_blocks.h"
#include "engine/acquire/source.h"
#include "engine/memory.h"

namespace echolux {

// ---- Buffers for a camera's images, page-aligned and pinned if a GPU reads them. They are owned here and passed to
// Aravis. An image returns to the stream when its last user releases it, or stays here until the next start if nothing
// streams.

// Thread-safe.
class ImageBuffers : public std::enable_shared_from_this<ImageBuffers> {
  public:
    // Allocates `count` buffers. Throws Error{out_of_memory}.
    ImageBuffers(std::int64_t count, std::int64_t bytes, MemoryKind wanted) {
        for (std::int64_t i = 0; i < count; ++i) memory_.push_back(block_memory(bytes, wanted));
        for (const BlockMemory& memory : memory_) {
            buffers_.push_back(arv_buffer_new(index(bytes), memory.data));
        }
        held_.reserve(buffers_.size());
    }
    ~ImageBuffers() {
        for (ArvBuffer* buffer : buffers_) g_object_unref(buffer);
    }
    ImageBuffers(const ImageBuffers&) = delete;
    ImageBuffers& operator=(const ImageBuffers&) = delete;

    MemoryKind memory() const { return memory_.front().kind; }

    // Queues all buffers that are not in use. `stream` must exist until detach().
    // A stream takes a reference to each buffer and drops it at its end. Our own reference remains.
    void attach(ArvStream* stream) {
        const std::lock_guard lock(mutex_);
        stream_ = stream;
        for (ArvBuffer* buffer : buffers_) {
            if (std::ranges::find(held_, buffer) == held_.end()) {
                arv_stream_push_buffer(stream, ARV_BUFFER(g_object_ref(buffer)));
            }
        }
    }
    void detach() {
        const std::lock_guard lock(mutex_);
        stream_ = nullptr;
    }

    // Returns a filled buffer to the stream: at once, or when the last copy of the returned pointer is destroyed.
    void requeue(ArvBuffer* buffer) {
        const std::lock_guard lock(mutex_);
        std::erase(held_, buffer);
        if (stream_ != nullptr) arv_stream_push_buffer(stream_, ARV_BUFFER(g_object_ref(buffer)));
        g_object_unref(buffer);
    }
    std::shared_ptr<const void> keep(ArvBuffer* buffer) {
        {
            const std::lock_guard lock(mutex_);
            held_.push_back(buffer);
        }
        return {buffer, [buffers = shared_from_this()](ArvBuffer* returned) { buffers->requeue(returned); }};
    }

  private:
    std::mutex mutex_;
    ArvStream* stream_ = nullptr;
    std::vector<BlockMemory> memory_;
    std::vector<ArvBuffer*> buffers_;
    std::vector<ArvBuffer*> held_;
};

// ---- The source of blocks.

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::int64_t images_in_flight = 8;           // min number of buffers if images are copied
constexpr std::int64_t max_incomplete = 100;           // consecutive images: more than a brief disturbance
constexpr milliseconds connection_check_interval{50};  // while no image arrives

class GenicamSource : public Source {
  public:
    explicit GenicamSource(const SourceRequest& wanted)
        : wanted_(wanted), camera_(connected()), name_(camera_->name()), setup_(set_up(*camera_, wanted)),
          blocks_(setup_, wanted.memory) {
        const bool adopted = setup_.images_are_blocks();
        const std::int64_t images =
            adopted ? setup_.pool_blocks : std::max(images_in_flight, 2 * setup_.plan.images_per_block);
        buffers_ =
            std::make_shared<ImageBuffers>(images, setup_.payload_bytes, adopted ? wanted.memory : MemoryKind::host);
    }
    ~GenicamSource() override { stop(); }

    const Scan& scan() const override { return setup_.scan; }
    std::int64_t block_b_scans() const override { return setup_.plan.block_b_scans; }
    std::int64_t pool_blocks() const override { return setup_.pool_blocks; }
    const SourceCapabilities& capabilities() const override { return setup_.capabilities; }
    std::string name() const override { return name_; }
    void start() override {
        stop();
        if (!camera_) reconnect();
        blocks_.begin();
        incomplete_ = 0;
        stream_ = camera_->stream();
        buffers_->attach(stream_.get());
        try {
            camera_->start();
        } catch (...) {
            stop();
            throw;
        }
    }
    Arrival next(milliseconds timeout) override {
        if (!stream_) fail("is not started", "start it");
        const auto deadline = steady_clock::now() + timeout;
        while (true) {
            if (camera_->is_lost()) {
                stop();
                camera_.reset();
                fail("the camera no longer answers",
                     "check its cable and power: acquisition continues when it is back");
            }
            const auto left =
                std::clamp<steady_clock::duration>(deadline - steady_clock::now(), {}, connection_check_interval);
            const auto us = std::chrono::duration_cast<std::chrono::microseconds>(left).count();
            ArvBuffer* image = us > 0 ? arv_stream_timeout_pop_buffer(stream_.get(), static_cast<guint64>(us))
                                      : arv_stream_try_pop_buffer(stream_.get());
            if (image == nullptr && steady_clock::now() >= deadline) return {};
            if (image == nullptr) continue;
            if (std::optional<Block> block = take(image)) return {Arrival::Kind::block, std::move(*block)};
        }
    }
    void stop() noexcept override {
        blocks_.drop_partial();
        if (!stream_) return;
        if (camera_) camera_->stop();
        buffers_->detach();
        stream_.reset();
    }

  private:
    // The name has the form "genicam:ID,FEATURE=VALUE ...".
    std::unique_ptr<GenicamCamera> connected() const {
        const SourceName name(wanted_.name);
        return std::make_unique<GenicamCamera>(name.id, name.options);
    }
    // After a lost connection, the camera is opened again. It must send the same images as before.
    void reconnect() {
        auto camera = connected();
        if (!set_up(*camera, wanted_).sends_the_same(setup_)) {
            throw Error(ErrorCode::device, "the camera reconnected with different settings", name_, "open it again");
        }
        camera_ = std::move(camera);
    }
    // Takes over an image and either makes it a block or returns it to the camera. Images with missing packets are
    // dropped; the gap in frame ids reveals the loss. If all images are incomplete, the network is too slow and the
    // source fails.
    std::optional<Block> take(ArvBuffer* image) {
        std::shared_ptr<const void> keeper = buffers_->keep(image);
        if (arv_buffer_get_status(image) != ARV_BUFFER_STATUS_SUCCESS) {
            if (++incomplete_ < max_incomplete) return std::nullopt;
            keeper.reset();
            stop();
            fail(fmt::format("{} in a row are incomplete", plural(max_incomplete, "images")),
                 "set packet size and MTU to 9000 bytes (jumbo frames), and a larger net.core.rmem_max: "
                 "docs/cameras.md");
        }
        incomplete_ = 0;
        if (!has_right_shape(image)) {
            keeper.reset();
            stop();
            fail("an image differs in size or format from the settings",
                 "check whether another program changes the camera's settings");
        }
        std::size_t bytes = 0;
        const void* pixels = arv_buffer_get_data(image, &bytes);
        BlockMemory memory;
        memory.data = const_cast<std::byte*>(static_cast<const std::byte*>(pixels));
        memory.kind = buffers_->memory();
        memory.keeper = std::move(keeper);
        std::optional<Block> block = blocks_.add(arv_buffer_get_frame_id(image), time_ns(image), memory);
        if (!blocks_.runs_backwards()) return block;
        memory.keeper.reset();
        stop();
        fail("its frame numbers run backwards", "check whether another program starts or resets the camera");
    }
    // Another program may have changed the camera's region or format.
    bool has_right_shape(ArvBuffer* image) const {
        if (arv_buffer_get_payload_type(image) != ARV_BUFFER_PAYLOAD_TYPE_IMAGE &&
            arv_buffer_get_payload_type(image) != ARV_BUFFER_PAYLOAD_TYPE_EXTENDED_CHUNK_DATA) {
            return false;
        }
        const std::int64_t lines = arv_buffer_get_image_height(image);
        return lines == setup_.plan.lines && lines * arv_buffer_get_image_width(image) == setup_.image_pixels;
    }
    // Uses the camera's clock, or the host's if the camera has none.
    static std::uint64_t time_ns(ArvBuffer* image) {
        const std::uint64_t ns = arv_buffer_get_timestamp(image);
        return ns != 0 ? ns : arv_buffer_get_system_timestamp(image);
    }
    [[noreturn]] void fail(const std::string& problem, const char* remedy) {
        throw Error(ErrorCode::device, problem, name_, remedy);
    }

    SourceRequest wanted_;
    std::unique_ptr<GenicamCamera> camera_;  // null after the connection was lost
    std::string name_;
    GenicamSetup setup_;
    std::shared_ptr<ImageBuffers> buffers_;
    ImageBlocks blocks_;
    AravisObject<ArvStream> stream_;
    std::int64_t incomplete_ = 0;  // consecutive incomplete images
};
}  // namespace

std::unique_ptr<Source> open_genicam(const SourceRequest& wanted) {
    return std::make_unique<GenicamSource>(wanted);
}

std::vector<std::string> genicam_cameras() {
    arv_update_device_list();
    std::vector<std::string> lines;
    for (unsigned i = 0; i < arv_get_n_devices(); ++i) {
        const auto text = [](const char* words) { return std::string(words == nullptr ? "?" : words); };
        lines.push_back(fmt::format("genicam:{}  ({} {}, {}, {})", text(arv_get_device_id(i)),
                                    text(arv_get_device_vendor(i)), text(arv_get_device_model(i)),
                                    text(arv_get_device_protocol(i)), text(arv_get_device_address(i))));
    }
    return lines;
}

}  // namespace echolux