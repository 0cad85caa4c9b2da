// Spectra from a frame grabber through its GenTL producer: "gentl:FILE.cti,id=DEVICE encoder=COUNTS FEATURE=VALUE ...".
// Features are set through Aravis' reading of the device's description, over the producer's registers, so that a camera
// behind a frame grabber is used like one with GigE Vision (genicam_camera.h). Echolux allocates the buffers.
#include <arv.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/acquire/genicam/genicam_camera.h"
#include "engine/acquire/genicam/gentl.h"
#include "engine/acquire/image_blocks.h"
#include "engine/acquire/source.h"
#include "engine/memory.h"

namespace echolux {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// ---- A module's registers as a device of Aravis.

struct PortDevice {
    ArvDevice parent;
    const gentl::Producer* producer;
    gentl::Handle port;
    std::string* description;
    ArvGc* features;
};
struct PortDeviceClass {
    ArvDeviceClass parent;
};

PortDevice* of(ArvDevice* device) {
    return reinterpret_cast<PortDevice*>(device);
}

gboolean succeeded(const PortDevice& device, gentl::Status status, GError** error) {
    if (status == gentl::Status::success) return TRUE;
    try {
        device.producer->check(status, "a register");
    } catch (const Error& problem) {
        g_set_error(error, arv_device_error_quark(), ARV_DEVICE_ERROR_TRANSFER_ERROR, "%s", problem.problem().c_str());
    }
    return FALSE;
}

gboolean read_memory(ArvDevice* device, guint64 address, guint32 size, void* buffer, GError** error) {
    const PortDevice& port = *of(device);
    std::size_t bytes = size;
    return succeeded(port, port.producer->GCReadPort(port.port, address, buffer, &bytes), error);
}

gboolean write_memory(ArvDevice* device, guint64 address, guint32 size, void* buffer, GError** error) {
    const PortDevice& port = *of(device);
    std::size_t bytes = size;
    return succeeded(port, port.producer->GCWritePort(port.port, address, buffer, &bytes), error);
}

gboolean read_register(ArvDevice* device, guint64 address, guint32* value, GError** error) {
    return read_memory(device, address, sizeof *value, value, error);
}

gboolean write_register(ArvDevice* device, guint64 address, guint32 value, GError** error) {
    return write_memory(device, address, sizeof value, &value, error);
}

ArvGc* features_of(ArvDevice* device) {
    return of(device)->features;
}

const char* xml_of(ArvDevice* device, std::size_t* size) {
    if (size != nullptr) *size = of(device)->description->size();
    return of(device)->description->c_str();
}

void finalize(GObject* object) {
    PortDevice* device = of(reinterpret_cast<ArvDevice*>(object));
    if (device->features != nullptr) g_object_unref(device->features);
    delete device->description;
    reinterpret_cast<GObjectClass*>(g_type_class_peek(ARV_TYPE_DEVICE))->finalize(object);
}

void begin_class(gpointer made, gpointer) {
    auto* functions = static_cast<ArvDeviceClass*>(made);
    static_cast<GObjectClass*>(made)->finalize = finalize;
    functions->read_memory = read_memory;
    functions->write_memory = write_memory;
    functions->read_register = read_register;
    functions->write_register = write_register;
    functions->get_genicam = features_of;
    functions->get_genicam_xml = xml_of;
}

GType port_device_type() {
    static const GType type =
        g_type_register_static_simple(ARV_TYPE_DEVICE, "EcholuxGentlPort", sizeof(PortDeviceClass), begin_class,
                                      sizeof(PortDevice), nullptr, GTypeFlags{});
    return type;
}

// Throws Error{device}.
AravisObject<ArvDevice> port_device(const gentl::Producer& producer, gentl::Handle port, const std::string& module) {
    auto description = std::make_unique<std::string>(gentl::description_of(producer, port, module));
    AravisObject<ArvDevice> device(reinterpret_cast<ArvDevice*>(g_object_new(port_device_type(), nullptr)));
    PortDevice& made = *of(device.get());
    made.producer = &producer;
    made.port = port;
    made.description = description.release();
    made.features = arv_gc_new(device.get(), made.description->data(), made.description->size());
    if (made.features == nullptr)
        throw Error(ErrorCode::device, "its description cannot be read", producer.name() + ", " + module);
    return device;
}

// ---- Options: "id=DEVICE encoder=COUNTS_PER_LINE FEATURE=VALUE Stream.FEATURE=VALUE".

struct Options {
    std::string id;
    double encoder_per_line = 0;  // counts of the encoder; 0: frame ids determine positions
    std::string features;         // of the camera
    struct OfModule {
        std::string module, assignment;
    };
    std::vector<OfModule> of_modules;
};

// Throws Error{bad_setting}.
double parsed_number(const std::string& text, const char* key) {
    double value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem == std::errc() && end == text.data() + text.size() && value > 0 && value < 1e9) return value;
    throw Error(ErrorCode::bad_setting, fmt::format("expected a positive number, got \"{}\"", text),
                std::string("source, ") + key);
}

Options parsed_options(const std::string& text) {
    Options options;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        const std::size_t dot = word.find('.');
        const std::string module = word.substr(0, dot);
        const bool names_module =
            module == "System" || module == "Interface" || module == "Device" || module == "Stream";
        if (word.starts_with("id=")) {
            options.id = word.substr(3);
        } else if (word.starts_with("encoder=")) {
            options.encoder_per_line = parsed_number(word.substr(8), "encoder");
        } else if (dot != std::string::npos && names_module) {
            options.of_modules.push_back({module, word.substr(dot + 1)});
        } else {
            options.features += (options.features.empty() ? "" : " ") + word;
        }
    }
    return options;
}

// Sets features of the frame grabber itself.
void set_features_of_modules(const gentl::OpenDevice& device, const Options& options) {
    for (const auto& [module, assignment] : options.of_modules) {
        const AravisObject<ArvDevice> port = port_device(device.producer(), device.module(module), module);
        GError* error = nullptr;
        arv_device_set_features_from_string(port.get(), assignment.c_str(), &error);
        if (error == nullptr) continue;
        const std::string text = error->message;
        g_error_free(error);
        throw Error(ErrorCode::device, fmt::format("setting \"{}\" failed: {}", assignment, text),
                    device.name() + ", " + module, "check its name in the frame grabber's documentation");
    }
}

// ---- Buffers: page-aligned and pinned if a GPU reads them. They belong to a stream while images are acquired. One
// returns to the stream when its last user releases it, or stays here until the next start.

// Thread-safe, as are the producer's functions.
class GentlBuffers : public std::enable_shared_from_this<GentlBuffers> {
  public:
    GentlBuffers(std::int64_t count, std::int64_t bytes, MemoryKind wanted) : buffers_(index(count)) {
        for (Buffer& buffer : buffers_) buffer.memory = block_memory(bytes, wanted);
        bytes_ = index(bytes);
    }

    // Announces all buffers and queues those that are not in use. The stream must exist until detach().
    void attach(const gentl::OpenDevice& device) {
        const std::lock_guard lock(mutex_);
        device_ = &device;
        const gentl::Producer& gc = device.producer();
        for (Buffer& buffer : buffers_) {
            gc.check(gc.DSAnnounceBuffer(device.stream(), buffer.memory.data, bytes_, &buffer, &buffer.handle),
                     "announcing a buffer", "choose fewer source.pool_blocks");
            if (!buffer.is_held) gc.check(gc.DSQueueBuffer(device.stream(), buffer.handle), "queueing a buffer");
        }
    }
    void detach() noexcept {
        const std::lock_guard lock(mutex_);
        if (device_ == nullptr) return;
        const gentl::Producer& gc = device_->producer();
        gc.DSFlushQueue(device_->stream(), gentl::discard_all_buffers);
        for (Buffer& buffer : buffers_) {
            if (buffer.handle != nullptr) gc.DSRevokeBuffer(device_->stream(), buffer.handle, nullptr, nullptr);
            buffer.handle = nullptr;
        }
        device_ = nullptr;
    }

    // Returns the memory of a filled buffer, which returns to the stream with the last copy of its keeper.
    // std::nullopt: the buffer is not one of these.
    std::optional<BlockMemory> taken(const gentl::NewBuffer& filled) {
        const std::lock_guard lock(mutex_);
        const auto found = std::ranges::find(buffers_, filled.buffer, &Buffer::handle);
        if (filled.buffer == nullptr || found == buffers_.end()) return std::nullopt;
        found->is_held = true;
        BlockMemory memory = found->memory;
        memory.keeper = {&*found, [buffers = shared_from_this()](Buffer* buffer) { buffers->requeue(*buffer); }};
        return memory;
    }

  private:
    struct Buffer {
        BlockMemory memory;
        gentl::Handle handle = nullptr;  // while announced
        bool is_held = false;            // by a user of its image
    };

    void requeue(Buffer& buffer) {
        const std::lock_guard lock(mutex_);
        buffer.is_held = false;
        if (buffer.handle != nullptr) device_->producer().DSQueueBuffer(device_->stream(), buffer.handle);
    }

    std::mutex mutex_;
    const gentl::OpenDevice* device_ = nullptr;
    std::vector<Buffer> buffers_;
    std::size_t bytes_ = 0;
};

// ---- Images.

// Properties of a filled buffer, as far as the producer states them.
class FilledBuffer {
  public:
    FilledBuffer(const gentl::OpenDevice& device, gentl::Handle buffer) : device_(device), buffer_(buffer) {}

    template <class T>
    std::optional<T> value(gentl::BufferInfo which) const {
        return gentl::Producer::value<T>([&](std::int32_t* type, void* to, std::size_t* bytes) {
            return device_.producer().DSGetBufferInfo(device_.stream(), buffer_, which, type, to, bytes);
        });
    }
    bool is(gentl::BufferInfo which) const { return value<std::uint8_t>(which).value_or(0) != 0; }
    std::int64_t count(gentl::BufferInfo which, std::int64_t expected) const {
        const std::optional<std::size_t> stated = value<std::size_t>(which);
        return stated ? static_cast<std::int64_t>(*stated) : expected;
    }
    // Chunk of this id as an unsigned number of 1 to 8 bytes, little-endian.
    struct ChunkValue {
        std::uint64_t value = 0;
        std::size_t bytes = 0;
    };
    std::optional<ChunkValue> chunk(std::uint64_t id, const std::byte* memory, std::size_t bytes) const;

  private:
    const gentl::OpenDevice& device_;
    gentl::Handle buffer_;
};

std::optional<FilledBuffer::ChunkValue> FilledBuffer::chunk(std::uint64_t id, const std::byte* memory,
                                                            std::size_t bytes) const {
    const auto list = device_.producer().DSGetBufferChunkData;
    std::size_t count = 0;
    if (list == nullptr || list(device_.stream(), buffer_, nullptr, &count) != gentl::Status::success) return {};
    std::vector<gentl::Chunk> chunks(std::min<std::size_t>(count, 1024));
    count = chunks.size();
    if (count == 0 || list(device_.stream(), buffer_, chunks.data(), &count) != gentl::Status::success) return {};
    for (const gentl::Chunk& one : chunks) {
        const bool is_inside = one.offset >= 0 && one.bytes >= 1 && one.bytes <= bytes &&
                               static_cast<std::size_t>(one.offset) <= bytes - one.bytes;
        if (one.id != id || !is_inside || one.bytes > sizeof(std::uint64_t)) continue;
        std::uint64_t value = 0;
        std::memcpy(&value, memory + one.offset, one.bytes);
        return ChunkValue{value, one.bytes};
    }
    return {};
}

// Returns the id of the chunk that holds a feature such as ChunkEncoderValue; std::nullopt if there is none. The
// feature, or the register that it refers to, names a port, and the port states the id.
std::optional<std::uint64_t> chunk_id(ArvGc* features, const char* feature) {
    ArvGcNode* node = arv_gc_get_node(features, feature);
    for (int depth = 0; depth < 4 && node != nullptr; ++depth) {
        ArvGcNode* next = nullptr;
        for (ArvDomNode* child = arv_dom_node_get_first_child(ARV_DOM_NODE(node)); child != nullptr;
             child = arv_dom_node_get_next_sibling(child)) {
            if (!ARV_IS_GC_PROPERTY_NODE(child)) continue;
            ArvGcPropertyNode* property = ARV_GC_PROPERTY_NODE(child);
            const std::string key = arv_dom_node_get_node_name(child);
            if (key == "ChunkID") return std::strtoull(arv_gc_property_node_get_string(property, nullptr), nullptr, 16);
            if (key == "pValue" || key == "pPort") next = arv_gc_property_node_get_linked_node(property);
        }
        node = next;
    }
    return {};
}

// ---- The source.

constexpr std::int64_t images_in_flight = 8;  // min number of buffers if images are copied
constexpr std::int64_t max_incomplete = 100;  // consecutive images: more than a brief disturbance
constexpr milliseconds look_around{200};      // interval for checking the connection while no image arrives

class GentlSource : public Source {
  public:
    explicit GentlSource(const SourceRequest& wanted) : wanted_(wanted) {
        connect();
        setup_ = set_up(*camera_, wanted_);
        name_ = camera_->name();
        payload_bytes_ = payload_bytes();
        blocks_.emplace(setup_, wanted.memory);
        const bool adopted = setup_.images_are_blocks();
        const std::int64_t images =
            adopted ? setup_.pool_blocks : std::max(images_in_flight, 2 * setup_.plan.images_per_block);
        buffers_ = std::make_shared<GentlBuffers>(std::max(images, min_buffers()), payload_bytes_,
                                                  adopted ? wanted.memory : MemoryKind::host);
    }
    ~GentlSource() override { stop(); }

    const Scan& scan() const override { return setup_.scan; }
    std::int64_t block_b_scans() const override { return setup_.plan.block_b_scans; }
    std::int64_t pool_blocks() const override { return setup_.pool_blocks; }
    const SourceCapabilities& capabilities() const override { return setup_.capabilities; }
    std::string name() const override { return name_; }

    void start() override {
        stop();
        if (!camera_) reconnect();
        blocks_->begin();
        incomplete_ = 0;
        delivered_ = 0;
        last_position_.reset();
        moved_ = 0;
        const gentl::Producer& gc = device_->producer();
        try {
            gc.check(gc.GCRegisterEvent(device_->stream(), gentl::event_new_buffer, &event_), "waiting for images");
            is_running_ = true;
            buffers_->attach(*device_);
            if (camera_->has("TLParamsLocked")) camera_->set_integer("TLParamsLocked", 1);
            gc.check(gc.DSStartAcquisition(device_->stream(), 0, gentl::all_images), "starting the frame grabber");
            camera_->start();
        } catch (...) {
            stop();
            throw;
        }
    }

    Arrival next(milliseconds timeout) override {
        if (!is_running_) fail("is not started", "start it");
        const auto deadline = steady_clock::now() + timeout;
        while (true) {
            const auto left = std::clamp<steady_clock::duration>(deadline - steady_clock::now(), {}, look_around);
            gentl::NewBuffer filled{};
            if (wait_for_image(std::chrono::ceil<milliseconds>(left), filled)) {
                if (std::optional<Block> block = take(filled)) return {Arrival::Kind::block, std::move(*block)};
            }
            if (steady_clock::now() >= deadline) return {};
        }
    }

    void stop() noexcept override {
        if (blocks_) blocks_->drop_partial();
        if (!is_running_) return;
        is_running_ = false;
        const gentl::Producer& gc = device_->producer();
        camera_->stop();
        gc.DSStopAcquisition(device_->stream(), gentl::stop_now);
        gc.GCUnregisterEvent(device_->stream(), gentl::event_new_buffer);
        buffers_->detach();
        unlock();
    }

  private:
    void connect() {
        const SourceName name(wanted_.name);
        const Options options = parsed_options(name.options);
        auto device = std::make_unique<gentl::OpenDevice>(gentl::Producer::load(name.id), options.id);
        set_features_of_modules(*device, options);
        camera_ = std::make_unique<GenicamCamera>(port_device(device->producer(), device->remote(), "camera"),
                                                  device->name(), options.features);
        device_ = std::move(device);
        time_chunk_ = chunk_id(camera_->features(), "ChunkTimestamp");
        encoder_chunk_ = chunk_id(camera_->features(), "ChunkEncoderValue");
        encoder_per_line_ = options.encoder_per_line;
        if (encoder_per_line_ > 0 && !encoder_chunk_) {
            const std::string name_now = camera_->name();
            disconnect();
            throw Error(ErrorCode::device, "sends no position of an encoder (ChunkEncoderValue)", name_now,
                        "leave out encoder=, or set ChunkModeActive and ChunkEnable");
        }
    }
    // After a lost connection, the device is opened again. It must send the same images as before.
    void reconnect() {
        connect();
        if (set_up(*camera_, wanted_).sends_the_same(setup_) && payload_bytes() == payload_bytes_) return;
        disconnect();
        throw Error(ErrorCode::device, "the camera reconnected with different settings", name_, "open it again");
    }
    void disconnect() noexcept {
        camera_.reset();
        device_.reset();
    }

    template <class T>
    std::optional<T> stream_value(gentl::StreamInfo which) const {
        return gentl::Producer::value<T>([&](std::int32_t* type, void* to, std::size_t* bytes) {
            return device_->producer().DSGetInfo(device_->stream(), which, type, to, bytes);
        });
    }
    // A frame grabber may state the size of an image itself, because it unpacks or adds chunks.
    std::int64_t payload_bytes() const {
        const bool states = stream_value<std::uint8_t>(gentl::stream_defines_payload).value_or(0) != 0;
        const std::size_t stated = states ? stream_value<std::size_t>(gentl::stream_payload_bytes).value_or(0) : 0;
        return std::max(setup_.payload_bytes, static_cast<std::int64_t>(std::min<std::size_t>(stated, max_payload)));
    }
    std::int64_t min_buffers() const {
        const std::size_t stated = stream_value<std::size_t>(gentl::stream_min_buffers).value_or(0);
        return static_cast<std::int64_t>(std::min<std::size_t>(stated, 1024));
    }

    // Returns false if none arrived. While none does, the connection is checked.
    bool wait_for_image(milliseconds timeout, gentl::NewBuffer& filled) {
        std::size_t bytes = sizeof filled;
        const gentl::Producer& gc = device_->producer();
        const gentl::Status status = gc.EventGetData(
            event_, &filled, &bytes, static_cast<std::uint64_t>(std::max<std::int64_t>(timeout.count(), 0)));
        if (status == gentl::Status::success) return true;
        const auto now = steady_clock::now();
        const bool is_quiet = status == gentl::Status::timeout || status == gentl::Status::no_data;
        if (is_quiet && now < next_check_) return false;
        next_check_ = now + look_around;
        std::string problem;
        try {
            camera_->width();
            if (is_quiet) return false;
            gc.check(status, "waiting for an image");
        } catch (const Error& error) {
            problem = error.problem();
        }
        stop();
        disconnect();
        fail("the camera no longer answers: " + problem,
             "check its cable and power: acquisition continues when it is back");
    }

    // Takes over an image and either makes it a block or returns its buffer. Incomplete images are dropped; the gap in
    // frame ids reveals the loss. If all images are incomplete, the source fails.
    std::optional<Block> take(const gentl::NewBuffer& filled) {
        ++delivered_;
        std::optional<BlockMemory> memory = buffers_->taken(filled);
        if (!memory) return std::nullopt;
        const FilledBuffer image(*device_, filled.buffer);
        if (image.is(gentl::buffer_is_too_small))
            end(*memory, fmt::format("an image is larger than its buffer of {}", plural(payload_bytes_, "bytes")),
                "check whether another program changes width, height or pixel format");
        const auto position = position_of(image, *memory);
        if (is_incomplete(image) || (encoder_per_line_ > 0 && !position)) {
            if (++incomplete_ < max_incomplete) return std::nullopt;
            end(*memory, fmt::format("{} in a row are incomplete", plural(max_incomplete, "images")),
                "check cables, packet size and the frame grabber's own messages");
        }
        incomplete_ = 0;
        if (!has_right_shape(image))
            end(*memory, "an image differs in size or format from the settings",
                "check whether another program changes the camera's settings");
        const std::uint64_t id = position ? id_at(*position) : frame_id(image);
        const std::uint64_t ns = time_ns(image, *memory);
        memory->data += image.count(gentl::buffer_image_offset, 0);
        std::optional<Block> block = blocks_->add(id, ns, *memory);
        if (!blocks_->runs_backwards()) return block;
        if (position)
            end(*memory, "its encoder runs backwards", "exchange the phases of the encoder, or leave out encoder=");
        end(*memory, "its frame numbers run backwards", "check whether another program starts or resets the camera");
    }

    std::int64_t image_bytes() const { return setup_.image_pixels * setup_.format->sent_bits / 8; }

    bool is_incomplete(const FilledBuffer& image) const {
        const std::int64_t offset = image.count(gentl::buffer_image_offset, 0);
        return image.is(gentl::buffer_is_incomplete) ||
               image.count(gentl::buffer_filled_bytes, payload_bytes_) < offset + image_bytes() ||
               image.count(gentl::buffer_delivered_height, setup_.plan.lines) < setup_.plan.lines;
    }
    bool has_right_shape(const FilledBuffer& image) const {
        const std::int64_t width = setup_.image_pixels / setup_.plan.lines;
        const std::int64_t offset = image.count(gentl::buffer_image_offset, 0);
        return image.count(gentl::buffer_width, width) == width &&
               image.count(gentl::buffer_height, setup_.plan.lines) == setup_.plan.lines &&
               image.count(gentl::buffer_padding_x, 0) == 0 && offset >= 0 && offset <= payload_bytes_ - image_bytes();
    }

    static constexpr std::uint64_t beyond_16_bits = 1 << 20;  // these numbers never wrap

    // A producer without frame ids counts delivered and lost images.
    std::uint64_t frame_id(const FilledBuffer& image) const {
        if (const auto id = image.value<std::uint64_t>(gentl::buffer_frame_id)) return *id;
        return beyond_16_bits + delivered_ + stream_value<std::uint64_t>(gentl::stream_lost).value_or(0);
    }

    // std::nullopt: positions are not used, or the image has none.
    std::optional<FilledBuffer::ChunkValue> position_of(const FilledBuffer& image, const BlockMemory& memory) const {
        if (encoder_per_line_ <= 0) return std::nullopt;
        return image.chunk(*encoder_chunk_, memory.data, index(payload_bytes_));
    }

    // The position of an encoder counts instead of frame ids: images that the trigger missed are lost too. The counter
    // wraps at its own width.
    std::uint64_t id_at(const FilledBuffer::ChunkValue& position) {
        const std::size_t unused_bits = 8 * (sizeof position.value - position.bytes);
        const std::uint64_t since = position.value - last_position_.value_or(position.value);
        moved_ += static_cast<std::int64_t>(since << unused_bits) >> unused_bits;
        last_position_ = position.value;
        const double images =
            static_cast<double>(moved_) / (encoder_per_line_ * static_cast<double>(setup_.plan.lines));
        return beyond_16_bits + static_cast<std::uint64_t>(static_cast<std::int64_t>(std::llround(images)));
    }

    // Uses the time of the buffer, of a chunk, or the host's clock.
    std::uint64_t time_ns(const FilledBuffer& image, const BlockMemory& memory) const {
        if (const auto ns = image.value<std::uint64_t>(gentl::buffer_ns); ns && *ns != 0) return *ns;
        const std::uint64_t hz = device_->tick_hz();
        auto ticks = image.value<std::uint64_t>(gentl::buffer_ticks);
        if ((!ticks || *ticks == 0) && time_chunk_) {
            const auto chunk = image.chunk(*time_chunk_, memory.data, index(payload_bytes_));
            ticks = chunk ? std::optional(chunk->value) : std::nullopt;
        }
        if (ticks && *ticks != 0 && hz != 0)
            return static_cast<std::uint64_t>(1e9L * static_cast<long double>(*ticks) / static_cast<long double>(hz));
        return static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(steady_clock::now().time_since_epoch()).count());
    }

    void unlock() noexcept {
        try {
            if (camera_->has("TLParamsLocked")) camera_->set_integer("TLParamsLocked", 0);
        } catch (...) {  // the camera is gone
        }
    }
    [[noreturn]] void end(BlockMemory& memory, const std::string& problem, const char* remedy) {
        memory.keeper.reset();
        stop();
        fail(problem, remedy);
    }
    [[noreturn]] void fail(const std::string& problem, const char* remedy) const {
        throw Error(ErrorCode::device, problem, name_, remedy);
    }

    static constexpr std::size_t max_payload = std::size_t{1} << 36;

    SourceRequest wanted_;
    std::unique_ptr<gentl::OpenDevice> device_;  // null after the connection was lost, as is the camera
    std::unique_ptr<GenicamCamera> camera_;
    std::string name_;
    GenicamSetup setup_;
    std::int64_t payload_bytes_ = 0;
    std::shared_ptr<GentlBuffers> buffers_;
    std::optional<ImageBlocks> blocks_;
    std::optional<std::uint64_t> encoder_chunk_, time_chunk_;
    double encoder_per_line_ = 0;

    // State since start().
    bool is_running_ = false;
    gentl::Handle event_ = nullptr;
    steady_clock::time_point next_check_{};
    std::int64_t incomplete_ = 0;  // consecutive incomplete images
    std::uint64_t delivered_ = 0;
    std::optional<std::uint64_t> last_position_;  // of the encoder
    std::int64_t moved_ = 0;                      // counts of the encoder since the first image
};

}  // namespace

std::unique_ptr<Source> open_gentl(const SourceRequest& wanted) {
    return std::make_unique<GentlSource>(wanted);
}

}  // namespace echolux
