// A GenICam camera (GigE Vision, USB3 Vision) used like a line camera through the Aravis library. Features follow the
// GenICam Standard Features Naming Convention; older cameras append "Abs" to some names.
#pragma once

#include <arv.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/acquire/image_plan.h"
#include "engine/acquire/pixel_format.h"

namespace echolux {

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
    void listen_where_packets_come();
    void set_integer(const char* feature, std::int64_t value);

    static const LineRate line_rates[];

    std::string name_;
    std::atomic<bool> lost_ = false;
    AravisObject<ArvCamera> camera_;
    const PixelFormat* pixel_format_ = nullptr;
    const LineRate* line_rate_ = nullptr;
};

}  // namespace echolux
