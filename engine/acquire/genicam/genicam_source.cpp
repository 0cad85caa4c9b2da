// Spectra from a GenICam line camera. If possible, images are used as blocks without copying. Otherwise, if images
// cannot be that tall or the pixel format must be unpacked, images are copied into blocks. The frame id determines each
// image's position in the volume, so a lost image does not shift later ones.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/acquire/genicam/genicam_buffers.h"
#include "engine/acquire/genicam/genicam_setup.h"
#include "engine/acquire/source_kinds.h"
#include "engine/block_pool.h"

namespace echolux {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::int64_t images_in_flight = 8;  // min number of buffers if images are copied
constexpr std::int64_t max_incomplete = 100;  // consecutive images: more than a brief disturbance
constexpr std::int64_t max_late = 16;         // consecutive images: more than a network reorders
constexpr milliseconds look_around{50};       // interval for checking the connection while no image arrives

class GenicamSource : public Source {
  public:
    explicit GenicamSource(const SourceWanted& wanted);
    ~GenicamSource() override { stop(); }

    const Scan& scan() const override { return setup_.scan; }
    std::int64_t block_b_scans() const override { return setup_.plan.block_b_scans; }
    std::int64_t pool_blocks() const override { return setup_.pool_blocks; }
    const SourceCapabilities& capabilities() const override { return setup_.capabilities; }
    std::string name() const override { return name_; }
    void start() override;
    Arrival next(milliseconds patience) override;
    void stop() noexcept override;

  private:
    // A block that is being assembled from images.
    struct Partial {
        BlockMemory memory;
        std::int64_t number = 0;
        std::int64_t images = 0;
        double time_s = 0;
    };

    std::unique_ptr<GenicamCamera> connected() const;
    void reconnect();
    std::optional<Block> take(ArvBuffer* image);
    bool has_right_shape(ArvBuffer* image) const;
    std::optional<Block> copied(ArvBuffer* image, const ImagePlace& place, double time_s);
    Block block(const ImagePlace& place, const BlockMemory& memory, double time_s);
    std::int64_t number_of(const ImagePlace& place) const;
    double seconds(ArvBuffer* image);
    [[noreturn]] void fail(const std::string& problem, const char* remedy);

    SourceWanted wanted_;
    std::unique_ptr<GenicamCamera> camera_;  // null after the connection was lost
    std::string name_;
    GenicamSetup setup_;
    std::shared_ptr<ImageBuffers> buffers_;
    BlockPool pool_;  // for blocks assembled from images
    AravisObject<ArvStream> stream_;

    // State since start().
    FrameNumbers numbers_;
    std::int64_t next_image_ = 0;
    std::int64_t incomplete_ = 0;  // consecutive incomplete images
    std::int64_t late_ = 0;        // consecutive images with an old frame id
    std::int64_t next_block_ = 0;  // including lost blocks
    std::uint64_t sequence_ = 0;
    std::optional<std::uint64_t> first_ns_;
    std::optional<Partial> partial_;
};

GenicamSource::GenicamSource(const SourceWanted& wanted)
    : wanted_(wanted), camera_(connected()), name_(camera_->name()), setup_(set_up(*camera_, wanted)),
      pool_(setup_.block_bytes, wanted.memory) {
    const bool adopted = setup_.images_are_blocks();
    const std::int64_t images =
        adopted ? setup_.pool_blocks : std::max(images_in_flight, 2 * setup_.plan.images_per_block);
    buffers_ = std::make_shared<ImageBuffers>(images, setup_.payload_bytes, adopted ? wanted.memory : MemoryKind::host);
}

// The name has the form "genicam:ID,FEATURE=VALUE ...".
std::unique_ptr<GenicamCamera> GenicamSource::connected() const {
    const SourceName name(wanted_.name);
    return std::make_unique<GenicamCamera>(name.id, name.options);
}

// After a lost connection, the camera is opened again. It must send the same images as before.
void GenicamSource::reconnect() {
    auto camera = connected();
    if (!set_up(*camera, wanted_).sends_the_same(setup_)) {
        throw Error(ErrorCode::device, "the camera reconnected with different settings", name_, "open it again");
    }
    camera_ = std::move(camera);
}

void GenicamSource::start() {
    stop();
    if (!camera_) reconnect();
    numbers_ = {};
    next_image_ = next_block_ = incomplete_ = late_ = 0;
    sequence_ = 0;
    first_ns_.reset();
    stream_ = camera_->stream();
    buffers_->attach(stream_.get());
    try {
        camera_->start();
    } catch (...) {
        stop();
        throw;
    }
}

void GenicamSource::stop() noexcept {
    partial_.reset();
    if (!stream_) return;
    if (camera_) camera_->stop();
    buffers_->detach();
    stream_.reset();
}

Arrival GenicamSource::next(milliseconds patience) {
    if (!stream_) fail("is not started", "start it");
    const auto deadline = steady_clock::now() + patience;
    while (true) {
        if (camera_->is_lost()) {
            stop();
            camera_.reset();
            fail("the camera no longer answers", "check its cable and power: acquisition continues when it is back");
        }
        const auto left = std::clamp<steady_clock::duration>(deadline - steady_clock::now(), {}, look_around);
        const auto us = std::chrono::duration_cast<std::chrono::microseconds>(left).count();
        ArvBuffer* image = us > 0 ? arv_stream_timeout_pop_buffer(stream_.get(), static_cast<guint64>(us))
                                  : arv_stream_try_pop_buffer(stream_.get());
        if (image == nullptr && steady_clock::now() >= deadline) return {};
        if (image == nullptr) continue;
        if (std::optional<Block> block = take(image)) return {Arrival::Kind::block, std::move(*block)};
    }
}

// Takes over an image and either makes it a block or returns it to the camera. Images with missing packets are dropped;
// the gap in frame ids reveals the loss. If all images are incomplete, the network is too slow and the source fails.
std::optional<Block> GenicamSource::take(ArvBuffer* image) {
    std::shared_ptr<const void> keeper = buffers_->keep(image);
    if (arv_buffer_get_status(image) != ARV_BUFFER_STATUS_SUCCESS) {
        if (++incomplete_ < max_incomplete) return std::nullopt;
        keeper.reset();
        stop();
        fail(fmt::format("{} in a row are incomplete", counted(max_incomplete, "images")),
             "set packet size and MTU to 9000 bytes (jumbo frames), and a larger net.core.rmem_max: docs/cameras.md");
    }
    incomplete_ = 0;
    if (!has_right_shape(image)) {
        keeper.reset();
        stop();
        fail("an image has another size or format than was set", "does another program change the camera?");
    }
    const std::int64_t number = numbers_.number(arv_buffer_get_frame_id(image));
    if (number < next_image_) {
        if (++late_ < max_late) return std::nullopt;
        keeper.reset();
        stop();
        fail(fmt::format("its frame numbers run backwards: {} after {}", number, next_image_ - 1),
             "does another program start or reset the camera?");
    }
    late_ = 0;
    next_image_ = number + 1;
    const ImagePlace place = place_of(number, setup_.plan);
    const double time_s = seconds(image);
    if (place.block >= setup_.plan.blocks_per_volume) return std::nullopt;
    if (!setup_.images_are_blocks()) return copied(image, place, time_s);
    std::size_t bytes = 0;
    const void* pixels = arv_buffer_get_data(image, &bytes);
    BlockMemory memory;
    memory.data = const_cast<std::byte*>(static_cast<const std::byte*>(pixels));
    memory.kind = buffers_->memory();
    memory.keeper = std::move(keeper);
    return block(place, memory, time_s);
}

// Another program may have changed the camera's region or format.
bool GenicamSource::has_right_shape(ArvBuffer* image) const {
    if (arv_buffer_get_payload_type(image) != ARV_BUFFER_PAYLOAD_TYPE_IMAGE &&
        arv_buffer_get_payload_type(image) != ARV_BUFFER_PAYLOAD_TYPE_EXTENDED_CHUNK_DATA) {
        return false;
    }
    const std::int64_t lines = arv_buffer_get_image_height(image);
    return lines == setup_.plan.lines && lines * arv_buffer_get_image_width(image) == setup_.image_pixels;
}

// Appends an image to the current block and returns the block when it is complete. A block with a missing image is
// dropped.
std::optional<Block> GenicamSource::copied(ArvBuffer* image, const ImagePlace& place, double time_s) {
    const std::int64_t number = number_of(place);
    if (partial_ && (partial_->number != number || partial_->images != place.image)) partial_.reset();
    if (!partial_) {
        if (place.image != 0) return std::nullopt;  // the first image of the block was lost
        const std::optional<BlockMemory> memory = pool_.take_below(setup_.pool_blocks);
        if (!memory) return std::nullopt;
        partial_ = Partial{*memory, number, 0, time_s};
    }
    const auto* sent = static_cast<const std::byte*>(arv_buffer_get_data(image, nullptr));
    const std::int64_t bytes = setup_.block_bytes / setup_.plan.images_per_block;
    std::byte* to = partial_->memory.data + place.image * bytes;
    if (setup_.format->is_stored_as_sent()) {
        std::memcpy(to, sent, static_cast<std::size_t>(bytes));
    } else {
        setup_.format->unpack(sent, {to, static_cast<std::size_t>(bytes)});
    }
    if (++partial_->images < setup_.plan.images_per_block) return std::nullopt;
    const Partial whole = *std::exchange(partial_, std::nullopt);
    return block(place, whole.memory, whole.time_s);
}

Block GenicamSource::block(const ImagePlace& place, const BlockMemory& memory, double time_s) {
    const std::int64_t number = number_of(place);
    Block block;
    block.data = memory.data;
    block.bytes = setup_.block_bytes;
    block.frames = setup_.frames;
    block.memory = memory.kind;
    block.volume = place.volume;
    block.first_b_scan = place.block * setup_.plan.block_b_scans;
    block.b_scans = setup_.plan.block_b_scans;
    block.sequence = sequence_++;
    block.lost_before = number - next_block_;
    block.time_s = time_s;
    block.keeper = memory.keeper;
    next_block_ = number + 1;
    return block;
}

// Returns the number of the block since the start, without flyback.
std::int64_t GenicamSource::number_of(const ImagePlace& place) const {
    return place.volume * setup_.plan.blocks_per_volume + place.block;
}

// Uses the camera's clock, or the host's if the camera has none.
double GenicamSource::seconds(ArvBuffer* image) {
    std::uint64_t ns = arv_buffer_get_timestamp(image);
    if (ns == 0) ns = arv_buffer_get_system_timestamp(image);
    if (!first_ns_) first_ns_ = ns;
    return static_cast<double>(static_cast<std::int64_t>(ns - *first_ns_)) * 1e-9;
}

void GenicamSource::fail(const std::string& problem, const char* remedy) {
    throw Error(ErrorCode::device, problem, name_, remedy);
}

}  // namespace

std::unique_ptr<Source> open_genicam(const SourceWanted& wanted) {
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
