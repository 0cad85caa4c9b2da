// Spectra from a GenICam line camera through the Aravis library: its buffers, the camera, the negotiation between scan
// and camera, and the source of blocks.
#include <arv.h>
#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "compute/voxel_target.h"
#include "engine/acquire/genicam_images.h"
#include "engine/acquire/source.h"
#include "engine/acquire/stream.h"
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

// ---- A GenICam camera (GigE Vision, USB3 Vision) used like a line camera through the Aravis library. Features follow
// the GenICam Standard Features Naming Convention; older cameras append "Abs" to some names.

struct ReleaseObject {
    void operator()(gpointer object) const { g_object_unref(object); }
};
template <class T>
using AravisObject = std::unique_ptr<T, ReleaseObject>;

// Use it from one thread at a time.
class GenicamCamera {
  public:
    // Connects to a camera. `id` is that of Aravis: vendor-model-serial, a part of it, or an address; empty: the first
    // camera found. `features` are assignments and commands separated by spaces: "TriggerMode=On Gain=2". This and all
    // other functions throw Error{device, bad_setting} naming camera and feature.
    GenicamCamera(const std::string& id, const std::string& features);
    ~GenicamCamera();
    GenicamCamera(const GenicamCamera&) = delete;
    GenicamCamera& operator=(const GenicamCamera&) = delete;

    const std::string& name() const { return name_; }
    const PixelFormat& pixel_format() const { return *pixel_format_; }

    std::int64_t width() const;
    ImageHeights heights() const;
    // Whether these settings can be changed.
    bool sets_width() const;
    bool sets_line_rate() const { return line_rate_ != nullptr; }
    bool sets_exposure() const;

    void set_width(std::int64_t pixels);
    void set_height(std::int64_t lines);
    void set_exposure(double us);
    // Lines per second. Some cameras only set the rate of images, so the lines per image are needed.
    void set_line_rate(double hz, std::int64_t image_lines);
    double line_rate(std::int64_t image_lines) const;  // 0 if unknown

    std::int64_t payload_bytes() const;  // size of an image as sent
    AravisObject<ArvStream> stream();    // stops when released
    void start();
    void stop() noexcept;

    bool is_lost() const { return lost_; }  // no longer responds

  private:
    struct LineRate;  // feature that sets the line rate

    template <class Call>
    auto ask(const char* what, Call call) const;
    bool has(const char* feature) const;
    void choose_pixel_format();
    void bind_to_packet_interface();
    void set_integer(const char* feature, std::int64_t value);

    static const LineRate line_rates[];

    std::string name_;
    std::atomic<bool> lost_ = false;
    AravisObject<ArvCamera> camera_;
    const PixelFormat* pixel_format_ = nullptr;
    const LineRate* line_rate_ = nullptr;
};

// ---- Negotiation between a scan and a GenICam camera. The scan specifies width, speed and blocks; the camera its
// capabilities and pixel format.

struct GenicamSetup {
    Scan scan;
    SourceCapabilities capabilities;
    const PixelFormat* format = nullptr;
    ImagePlan plan;
    std::int64_t image_pixels = 0;
    std::int64_t payload_bytes = 0;  // size of an image as sent
    std::int64_t block_bytes = 0;
    std::int64_t pool_blocks = 0;
    FrameLayout frames;

    // Whether images can be used as blocks without copying.
    bool images_are_blocks() const { return plan.images_per_block == 1 && format->is_stored_as_sent(); }
    // Whether a reconnected camera can continue the stream.
    bool sends_the_same(const GenicamSetup& other) const;
};

// Configures the camera for the scan. Throws Error{bad_setting, bad_file, device}.
GenicamSetup set_up(GenicamCamera& camera, const SourceRequest& wanted);
namespace {

// Socket buffer for packets that Aravis has not read yet: some milliseconds of a fast camera. Linux may limit it
// (net.core.rmem_max).
constexpr std::int64_t min_socket_bytes = std::int64_t{4} << 20;
constexpr std::int64_t max_socket_bytes = std::int64_t{256} << 20;

}  // namespace

// A feature that sets the rate. Cameras without a line rate offer the rate of images instead.
struct GenicamCamera::LineRate {
    const char* feature;
    const char* enable;
    bool is_of_images;
};

const GenicamCamera::LineRate GenicamCamera::line_rates[] = {
    {"AcquisitionLineRate", "AcquisitionLineRateEnable", false},
    {"AcquisitionLineRateAbs", "AcquisitionLineRateEnable", false},
    {"AcquisitionFrameRate", "AcquisitionFrameRateEnable", true},
    {"AcquisitionFrameRateAbs", "AcquisitionFrameRateEnable", true},
};

// Calls an Aravis function with an error argument and converts its error to an exception.
template <class Call>
auto GenicamCamera::ask(const char* what, Call call) const {
    GError* error = nullptr;
    const auto check = [&] {
        if (error == nullptr) return;
        const std::string text = error->message;
        g_error_free(error);
        throw Error(ErrorCode::device, fmt::format("{} failed: {}", what, text), name_,
                    "is the camera connected, and not in use by another program?");
    };
    if constexpr (std::is_void_v<decltype(call(&error))>) {
        call(&error);
        check();
    } else {
        const auto result = call(&error);
        check();
        return result;
    }
}

GenicamCamera::GenicamCamera(const std::string& id, const std::string& features)
    : name_(id.empty() ? "GenICam" : "GenICam " + id) {
    camera_.reset(ask("connecting", [&](GError** e) { return arv_camera_new(id.empty() ? nullptr : id.c_str(), e); }));
    if (!camera_) {
        throw Error(ErrorCode::device, "no camera with this name was found", name_,
                    "`sources` lists the cameras found");
    }
    name_ = std::string("GenICam ") +
            ask("reading its name", [&](GError** e) { return arv_camera_get_model_name(camera_.get(), e); });
    arv_camera_set_range_check_policy(camera_.get(), ARV_RANGE_CHECK_POLICY_ENABLE);
    void (*note_loss)(ArvDevice*, std::atomic<bool>*) = [](ArvDevice*, std::atomic<bool>* lost) { *lost = true; };
    g_signal_connect_data(arv_camera_get_device(camera_.get()), "control-lost", reinterpret_cast<GCallback>(note_loss),
                          &lost_, nullptr, GConnectFlags{});
    if (!features.empty()) {
        ask(("setting \"" + features + "\"").c_str(), [&](GError** e) {
            return arv_device_set_features_from_string(arv_camera_get_device(camera_.get()), features.c_str(), e);
        });
    }
    choose_pixel_format();
    for (const LineRate& rate : line_rates) {
        if (line_rate_ == nullptr && has(rate.feature)) line_rate_ = &rate;
    }
    ask("choosing continuous acquisition",
        [&](GError** e) { return arv_camera_set_acquisition_mode(camera_.get(), ARV_ACQUISITION_MODE_CONTINUOUS, e); });
}

GenicamCamera::~GenicamCamera() {
    g_signal_handlers_disconnect_matched(arv_camera_get_device(camera_.get()), G_SIGNAL_MATCH_DATA, 0, 0, nullptr,
                                         nullptr, &lost_);
}

// Keeps the camera's format if it supports spectra.
void GenicamCamera::choose_pixel_format() {
    const char* now =
        ask("reading PixelFormat", [&](GError** e) { return arv_camera_get_pixel_format_as_string(camera_.get(), e); });
    pixel_format_ = now == nullptr ? nullptr : find_pixel_format(now);
    if (pixel_format_ != nullptr) return;
    for (const PixelFormat& format : pixel_formats()) {
        const std::string name(format.name);
        const bool is_there = ask("listing PixelFormat", [&](GError** e) {
            return arv_camera_is_enumeration_entry_available(camera_.get(), "PixelFormat", name.c_str(), e);
        });
        if (!is_there) continue;
        ask("setting PixelFormat",
            [&](GError** e) { return arv_camera_set_pixel_format_from_string(camera_.get(), name.c_str(), e); });
        pixel_format_ = &format;
        return;
    }
    throw Error(ErrorCode::device, "supports none of the pixel formats that spectra may use", name_,
                "supported formats: " + pixel_format_names());
}

// Whether the camera implements the feature and currently offers it.
bool GenicamCamera::has(const char* feature) const {
    return ask("reading a feature",
               [&](GError** e) { return arv_camera_is_feature_available(camera_.get(), feature, e); });
}

// Sets a value and verifies it, because cameras may round silently.
void GenicamCamera::set_integer(const char* feature, std::int64_t value) {
    const auto read = [&] {
        return ask(feature, [&](GError** e) { return arv_camera_get_integer(camera_.get(), feature, e); });
    };
    if (read() == value) return;  // some cameras reject setting a value that is already set
    ask(feature, [&](GError** e) { return arv_camera_set_integer(camera_.get(), feature, value, e); });
    if (const std::int64_t now = read(); now != value) {
        throw Error(ErrorCode::bad_setting, fmt::format("requested {}, but the camera uses {}", value, now),
                    name_ + ", " + feature);
    }
}

std::int64_t GenicamCamera::width() const {
    return ask("reading Width", [&](GError** e) { return arv_camera_get_integer(camera_.get(), "Width", e); });
}

bool GenicamCamera::sets_width() const {
    gint low = 0;
    gint high = 0;
    ask("reading the range of Width",
        [&](GError** e) { return arv_camera_get_width_bounds(camera_.get(), &low, &high, e); });
    return low < high;
}

ImageHeights GenicamCamera::heights() const {
    gint low = 0;
    gint high = 0;
    ask("reading the range of Height",
        [&](GError** e) { return arv_camera_get_height_bounds(camera_.get(), &low, &high, e); });
    const gint step = ask("reading the steps of Height",
                          [&](GError** e) { return arv_camera_get_height_increment(camera_.get(), e); });
    return {std::max(low, 1), high, std::max(step, 1)};
}

void GenicamCamera::set_width(std::int64_t pixels) {
    set_integer("Width", pixels);
}

void GenicamCamera::set_height(std::int64_t lines) {
    set_integer("Height", lines);
}

bool GenicamCamera::sets_exposure() const {
    return ask("reading the exposure",
               [&](GError** e) { return arv_camera_is_exposure_time_available(camera_.get(), e); });
}

void GenicamCamera::set_exposure(double us) {
    ask("setting the exposure", [&](GError** e) { return arv_camera_set_exposure_time(camera_.get(), us, e); });
}

void GenicamCamera::set_line_rate(double hz, std::int64_t image_lines) {
    const double value = line_rate_->is_of_images ? hz / static_cast<double>(image_lines) : hz;
    if (has(line_rate_->enable)) {
        ask(line_rate_->enable,
            [&](GError** e) { return arv_camera_set_boolean(camera_.get(), line_rate_->enable, TRUE, e); });
    }
    ask(line_rate_->feature,
        [&](GError** e) { return arv_camera_set_float(camera_.get(), line_rate_->feature, value, e); });
}

double GenicamCamera::line_rate(std::int64_t image_lines) const {
    if (line_rate_ == nullptr) return 0;
    const double value = ask(line_rate_->feature,
                             [&](GError** e) { return arv_camera_get_float(camera_.get(), line_rate_->feature, e); });
    return line_rate_->is_of_images ? value * static_cast<double>(image_lines) : value;
}

std::int64_t GenicamCamera::payload_bytes() const {
    return ask("reading PayloadSize", [&](GError** e) { return arv_camera_get_payload(camera_.get(), e); });
}

// A camera emulated on this machine may be found through any network card, but packet sockets receive nothing from it.
void GenicamCamera::bind_to_packet_interface() {
    ArvDevice* device = arv_camera_get_device(camera_.get());
    if (!ARV_IS_GV_DEVICE(device)) return;
    GSocketAddress* address = arv_gv_device_get_device_address(ARV_GV_DEVICE(device));
    const bool is_here =
        G_IS_INET_SOCKET_ADDRESS(address) &&
        g_inet_address_get_is_loopback(g_inet_socket_address_get_address(G_INET_SOCKET_ADDRESS(address)));
    if (is_here) arv_camera_gv_set_stream_options(camera_.get(), ARV_GV_STREAM_OPTION_PACKET_SOCKET_DISABLED);
}

// The socket buffer of a GigE Vision stream holds two images, within limits.
AravisObject<ArvStream> GenicamCamera::stream() {
    bind_to_packet_interface();
    AravisObject<ArvStream> stream(ask("opening its stream", [&](GError** e) {
        return arv_camera_create_stream(camera_.get(), nullptr, nullptr, e);
    }));
    if (!stream)
        throw Error(ErrorCode::device, "cannot open a stream", name_, "check that a firewall does not block it");
    if (ARV_IS_GV_STREAM(stream.get())) {
        const std::int64_t bytes = std::clamp(2 * payload_bytes(), min_socket_bytes, max_socket_bytes);
        g_object_set(stream.get(), "socket-buffer", ARV_GV_STREAM_SOCKET_BUFFER_FIXED, "socket-buffer-size",
                     static_cast<gint>(bytes), nullptr);
    }
    return stream;
}

void GenicamCamera::start() {
    ask("starting", [&](GError** e) { return arv_camera_start_acquisition(camera_.get(), e); });
}

// Errors are ignored: the camera may have been disconnected.
void GenicamCamera::stop() noexcept {
    if (!lost_) arv_camera_stop_acquisition(camera_.get(), nullptr);
}

// The camera determines the pixel format. It also determines the samples per line, unless the scan specifies them.
static void agree_on_lines(GenicamCamera& camera, Scan& scan) {
    camera.pixel_format().describe_to(scan.format);
    scan.file = {};
    if (scan.geometry.samples > 0) camera.set_width(scan.geometry.samples * scan.format.channels);
    const std::int64_t width = camera.width();
    const std::int64_t bits = width * camera.pixel_format().sent_bits;
    if (width % scan.format.channels != 0 || bits % 8 != 0) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("a line of {} pixels {} does not divide into whole {}", width,
                                camera.pixel_format().name, bits % 8 != 0 ? "bytes" : "samples for each channel"),
                    camera.name() + ", scan.samples", "choose another number of samples");
    }
    scan.geometry.samples = width / scan.format.channels;
}

// Returns the line rate from the settings or the scan. 0: the camera's own rate, which may depend on the image height.
static double wanted_line_rate_hz(const SourceSettings& settings, const ScanGeometry& geometry) {
    return settings.line_rate_hz > 0 ? settings.line_rate_hz : geometry.line_rate_hz;
}

// Sets exposure and line rate, and records the line rate that the camera actually uses.
static void agree_on_speed(GenicamCamera& camera, const SourceSettings& settings, ScanGeometry& geometry,
                           std::int64_t image_lines) {
    const auto refuse = [&](const char* what, const char* key) {
        throw Error(ErrorCode::bad_setting, fmt::format("the {} of this camera cannot be set", what),
                    camera.name() + ", source." + key, "leave it out, or set it in the camera");
    };
    if (settings.exposure_us > 0) {
        if (!camera.sets_exposure()) refuse("exposure", "exposure_us");
        camera.set_exposure(settings.exposure_us);
    }
    if (settings.line_rate_hz > 0 && !camera.sets_line_rate()) refuse("line rate", "line_rate_hz");
    if (!camera.sets_line_rate()) return;
    const double wanted = wanted_line_rate_hz(settings, geometry);
    if (wanted > 0) camera.set_line_rate(wanted, image_lines);
    geometry.line_rate_hz = camera.line_rate(image_lines);
}

// Returns the bytes per image. A smaller payload than the pixels need indicates compression.
static std::int64_t payload_of(const GenicamCamera& camera, std::int64_t pixels) {
    const std::int64_t needed = pixels * camera.pixel_format().sent_bits / 8;
    const std::int64_t sent = camera.payload_bytes();
    if (sent >= needed) return sent;
    throw Error(ErrorCode::device, fmt::format("sends {} per image, expected {}", plural(sent, "bytes"), needed),
                camera.name() + ", PayloadSize", "check whether compression or a region mode is enabled");
}

bool GenicamSetup::sends_the_same(const GenicamSetup& other) const {
    return format == other.format && image_pixels == other.image_pixels && plan.lines == other.plan.lines &&
           plan.block_b_scans == other.plan.block_b_scans && payload_bytes == other.payload_bytes;
}

// The order matters: the pixel format determines the block size, which determines the image height, which may limit the
// line rate.
GenicamSetup set_up(GenicamCamera& camera, const SourceRequest& wanted) {
    GenicamSetup setup;
    setup.scan = describe_scan(wanted.scan, wanted.assignments, [&](Scan& scan) { agree_on_lines(camera, scan); });
    setup.format = &camera.pixel_format();
    ScanGeometry& geometry = setup.scan.geometry;
    const double line_rate_hz = wanted_line_rate_hz(wanted.settings, geometry);
    const std::int64_t b_scans = block_size(wanted.settings, setup.scan, line_rate_hz);
    setup.plan = plan_images(geometry, b_scans, camera.heights(), camera.name());
    setup.pool_blocks = pool_size(wanted.settings, setup.scan, setup.plan.block_b_scans);
    camera.set_height(setup.plan.lines);
    agree_on_speed(camera, wanted.settings, geometry, setup.plan.lines);
    setup.capabilities.sets_line_rate = camera.sets_line_rate();
    setup.capabilities.sets_exposure = camera.sets_exposure();
    setup.capabilities.sets_samples = camera.sets_width();
    setup.image_pixels = camera.width() * setup.plan.lines;
    setup.payload_bytes = payload_of(camera, setup.image_pixels);
    const std::int64_t frame_bytes = geometry.lines_per_frame() * line_bytes(setup.scan.format, geometry);
    setup.block_bytes = setup.plan.block_b_scans * geometry.b_repeats * frame_bytes;
    if (geometry.flyback_lines > 0) setup.frames.stride_bytes = frame_bytes;
    return setup;
}

// ---- Spectra from a GenICam line camera. If possible, images are used as blocks without copying. Otherwise, if images
// cannot be that tall or the pixel format must be unpacked, images are copied into blocks. The frame id determines each
// image's position in the volume, so a lost image does not shift later ones.

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::int64_t images_in_flight = 8;           // min number of buffers if images are copied
constexpr std::int64_t max_incomplete = 100;           // consecutive images: more than a brief disturbance
constexpr std::int64_t max_late = 16;                  // consecutive images: more than a network reorders
constexpr milliseconds connection_check_interval{50};  // while no image arrives

class GenicamSource : public Source {
  public:
    explicit GenicamSource(const SourceRequest& wanted)
        : wanted_(wanted), camera_(connected()), name_(camera_->name()), setup_(set_up(*camera_, wanted)),
          pool_(setup_.block_bytes, wanted.memory) {
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
        partial_.reset();
        if (!stream_) return;
        if (camera_) camera_->stop();
        buffers_->detach();
        stream_.reset();
    }

  private:
    // A block that is being assembled from images.
    struct Partial {
        BlockMemory memory;
        std::int64_t number = 0;
        std::int64_t images = 0;
        double time_s = 0;
    };

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
        const std::int64_t number = numbers_.number(arv_buffer_get_frame_id(image));
        if (number < next_image_) {
            if (++late_ < max_late) return std::nullopt;
            keeper.reset();
            stop();
            fail(fmt::format("its frame numbers run backwards: {} after {}", number, next_image_ - 1),
                 "check whether another program starts or resets the camera");
        }
        late_ = 0;
        next_image_ = number + 1;
        const ImagePosition place = place_of(number, setup_.plan);
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
    bool has_right_shape(ArvBuffer* image) const {
        if (arv_buffer_get_payload_type(image) != ARV_BUFFER_PAYLOAD_TYPE_IMAGE &&
            arv_buffer_get_payload_type(image) != ARV_BUFFER_PAYLOAD_TYPE_EXTENDED_CHUNK_DATA) {
            return false;
        }
        const std::int64_t lines = arv_buffer_get_image_height(image);
        return lines == setup_.plan.lines && lines * arv_buffer_get_image_width(image) == setup_.image_pixels;
    }
    // Appends an image to the current block and returns the block when it is complete. A block with a missing image is
    // dropped.
    std::optional<Block> copied(ArvBuffer* image, const ImagePosition& place, double time_s) {
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
            std::memcpy(to, sent, index(bytes));
        } else {
            setup_.format->unpack(sent, {to, index(bytes)});
        }
        if (++partial_->images < setup_.plan.images_per_block) return std::nullopt;
        const Partial whole = *std::exchange(partial_, std::nullopt);
        return block(place, whole.memory, whole.time_s);
    }
    Block block(const ImagePosition& place, const BlockMemory& memory, double time_s) {
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
    std::int64_t number_of(const ImagePosition& place) const {
        return place.volume * setup_.plan.blocks_per_volume + place.block;
    }
    // Uses the camera's clock, or the host's if the camera has none.
    double seconds(ArvBuffer* image) {
        std::uint64_t ns = arv_buffer_get_timestamp(image);
        if (ns == 0) ns = arv_buffer_get_system_timestamp(image);
        if (!first_ns_) first_ns_ = ns;
        return static_cast<double>(static_cast<std::int64_t>(ns - *first_ns_)) * 1e-9;
    }
    [[noreturn]] void fail(const std::string& problem, const char* remedy) {
        throw Error(ErrorCode::device, problem, name_, remedy);
    }

    SourceRequest wanted_;
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
