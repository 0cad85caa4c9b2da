// A GenICam camera used like a line camera through the Aravis library, and the negotiation between a scan and a camera.
// genicam_source.cpp streams from cameras with GigE Vision and USB3 Vision, gentl_source.cpp from frame grabbers.
#pragma once

#include <arv.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/acquire/genicam_images.h"
#include "engine/acquire/image_blocks.h"
#include "engine/acquire/source.h"

namespace echolux {

// ---- The camera. Features follow the GenICam Standard Features Naming Convention; older cameras append "Abs" to some
// names.

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
    // Uses a device that is connected in another way. `name` is for messages.
    GenicamCamera(AravisObject<ArvDevice> device, const std::string& name, const std::string& features);
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

    std::int64_t payload_bytes() const;  // size of an image as sent; 0 if the camera does not state it
    AravisObject<ArvStream> stream();    // stops when released
    void start();
    void stop() noexcept;

    bool is_lost() const { return lost_; }  // no longer responds
    bool has(const char* feature) const;    // whether it is implemented and available now
    ArvGc* features() const { return arv_device_get_genicam(arv_camera_get_device(camera_.get())); }
    void set_integer(const char* feature, std::int64_t value);

  private:
    struct LineRate;  // feature that sets the line rate

    template <class Call>
    auto ask(const char* what, Call call) const;
    void configure(const std::string& features);
    void choose_pixel_format();
    void bind_to_packet_interface();

    static const LineRate line_rates[];

    std::string name_;
    std::atomic<bool> lost_ = false;
    AravisObject<ArvCamera> camera_;
    const PixelFormat* pixel_format_ = nullptr;
    const LineRate* line_rate_ = nullptr;
};

// ---- Negotiation between a scan and a GenICam camera. The scan specifies width, speed and blocks; the camera its
// capabilities and pixel format.

struct GenicamSetup : ImageLayout {
    Scan scan;
    SourceCapabilities capabilities;
};

// Configures the camera for the scan. Throws Error{bad_setting, bad_file, device}.
GenicamSetup set_up(GenicamCamera& camera, const SourceRequest& wanted);

}  // namespace echolux
