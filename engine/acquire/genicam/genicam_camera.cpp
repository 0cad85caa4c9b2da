#include "engine/acquire/genicam/genicam_camera.h"

#include <fmt/format.h>
#include <algorithm>
#include <type_traits>
#include <utility>

#include "compute/error.h"
#include "compute/plural.h"
#include "engine/acquire/stream.h"

namespace echolux {

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
    configure(features);
}

GenicamCamera::GenicamCamera(AravisObject<ArvDevice> device, const std::string& name, const std::string& features)
    : name_(name) {
    camera_.reset(ask("reading its features", [&](GError** e) { return arv_camera_new_with_device(device.get(), e); }));
    configure(features);
}

void GenicamCamera::configure(const std::string& features) {
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
    if (!has("AcquisitionMode")) return;
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
    if (!has("PayloadSize")) return 0;
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

// Returns the bytes per image. A smaller payload than the pixels need indicates compression. Cameras with CoaXPress
// need not state it.
static std::int64_t payload_of(const GenicamCamera& camera, std::int64_t pixels) {
    const std::int64_t needed = pixels * camera.pixel_format().sent_bits / 8;
    const std::int64_t sent = camera.payload_bytes();
    if (sent >= needed || sent == 0) return std::max(sent, needed);
    throw Error(ErrorCode::device, fmt::format("sends {} per image, expected {}", plural(sent, "bytes"), needed),
                camera.name() + ", PayloadSize", "check whether compression or a region mode is enabled");
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

}  // namespace echolux
