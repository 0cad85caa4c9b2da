// GenTL producers (.cti), the standard interface of frame grabbers: GenICam GenTL Standard 1.6 (EMVA, 2019). Only the
// values and functions that are used here, with the standard's names of functions. A producer is loaded at run time;
// any version 1.x works, and what it does not implement is done without.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace echolux::gentl {

// ---- The standard's values, each list with the number of its section.

using Handle = void*;

enum class Status : std::int32_t {  // 6.1.4
    success = 0,
    not_initialized = -1002,
    not_implemented = -1003,
    in_use = -1004,
    access_denied = -1005,
    invalid_id = -1007,
    no_data = -1008,
    timeout = -1011,
    aborted = -1012,
    not_available = -1014,
    busy = -1022,
};

enum SystemInfo : std::int32_t { system_vendor = 1, system_major_version = 9, system_minor_version = 10 };
enum DeviceInfo : std::int32_t {
    device_id = 0,
    device_vendor = 1,
    device_model = 2,
    device_serial_number = 7,
    device_tick_hz = 9,
};
enum StreamInfo : std::int32_t {
    stream_lost = 2,  // no buffer was queued when an image began
    stream_payload_bytes = 7,
    stream_defines_payload = 9,
    stream_min_buffers = 12,
};
enum BufferInfo : std::int32_t {
    buffer_ticks = 3,
    buffer_is_incomplete = 7,
    buffer_filled_bytes = 9,
    buffer_width = 10,
    buffer_height = 11,
    buffer_padding_x = 14,
    buffer_frame_id = 16,
    buffer_image_offset = 18,
    buffer_delivered_height = 22,
    buffer_ns = 28,
    buffer_is_too_small = 29,
};
enum UrlInfo : std::int32_t { url_text = 0 };
enum : std::int32_t {
    event_new_buffer = 1,
    open_exclusively = 4,
    stop_now = 1,
    discard_all_buffers = 4,
};
constexpr std::uint64_t all_images = ~std::uint64_t{0};

#pragma pack(push, 1)
struct NewBuffer {
    Handle buffer;
    void* user;
};
struct Chunk {
    std::uint64_t id;
    std::ptrdiff_t offset;  // from the start of the buffer
    std::size_t bytes;
};
#pragma pack(pop)

// ---- The functions. The second list may be missing: a null pointer.

// X(name, parameters)
#define ECHOLUX_GENTL_FUNCTIONS(X)                                                              \
    X(GCInitLib, (void))                                                                        \
    X(GCCloseLib, (void))                                                                       \
    X(GCGetInfo, (std::int32_t, std::int32_t*, void*, std::size_t*))                            \
    X(GCGetLastError, (std::int32_t*, char*, std::size_t*))                                     \
    X(GCReadPort, (Handle, std::uint64_t, void*, std::size_t*))                                 \
    X(GCWritePort, (Handle, std::uint64_t, const void*, std::size_t*))                          \
    X(GCGetPortURL, (Handle, char*, std::size_t*))                                              \
    X(GCRegisterEvent, (Handle, std::int32_t, Handle*))                                         \
    X(GCUnregisterEvent, (Handle, std::int32_t))                                                \
    X(EventGetData, (Handle, void*, std::size_t*, std::uint64_t))                               \
    X(TLOpen, (Handle*))                                                                        \
    X(TLClose, (Handle))                                                                        \
    X(TLUpdateInterfaceList, (Handle, std::uint8_t*, std::uint64_t))                            \
    X(TLGetNumInterfaces, (Handle, std::uint32_t*))                                             \
    X(TLGetInterfaceID, (Handle, std::uint32_t, char*, std::size_t*))                           \
    X(TLOpenInterface, (Handle, const char*, Handle*))                                          \
    X(IFClose, (Handle))                                                                        \
    X(IFUpdateDeviceList, (Handle, std::uint8_t*, std::uint64_t))                               \
    X(IFGetNumDevices, (Handle, std::uint32_t*))                                                \
    X(IFGetDeviceID, (Handle, std::uint32_t, char*, std::size_t*))                              \
    X(IFGetDeviceInfo, (Handle, const char*, std::int32_t, std::int32_t*, void*, std::size_t*)) \
    X(IFOpenDevice, (Handle, const char*, std::int32_t, Handle*))                               \
    X(DevClose, (Handle))                                                                       \
    X(DevGetInfo, (Handle, std::int32_t, std::int32_t*, void*, std::size_t*))                   \
    X(DevGetPort, (Handle, Handle*))                                                            \
    X(DevGetNumDataStreams, (Handle, std::uint32_t*))                                           \
    X(DevGetDataStreamID, (Handle, std::uint32_t, char*, std::size_t*))                         \
    X(DevOpenDataStream, (Handle, const char*, Handle*))                                        \
    X(DSClose, (Handle))                                                                        \
    X(DSGetInfo, (Handle, std::int32_t, std::int32_t*, void*, std::size_t*))                    \
    X(DSAnnounceBuffer, (Handle, void*, std::size_t, void*, Handle*))                           \
    X(DSRevokeBuffer, (Handle, Handle, void**, void**))                                         \
    X(DSQueueBuffer, (Handle, Handle))                                                          \
    X(DSFlushQueue, (Handle, std::int32_t))                                                     \
    X(DSStartAcquisition, (Handle, std::int32_t, std::uint64_t))                                \
    X(DSStopAcquisition, (Handle, std::int32_t))                                                \
    X(DSGetBufferInfo, (Handle, Handle, std::int32_t, std::int32_t*, void*, std::size_t*))
#define ECHOLUX_GENTL_LATER_FUNCTIONS(X)                                                                     \
    X(GCGetPortURLInfo, (Handle, std::uint32_t, std::int32_t, std::int32_t*, void*, std::size_t*)) /* 1.1 */ \
    X(DSGetBufferChunkData, (Handle, Handle, Chunk*, std::size_t*))                                /* 1.3 */

// A loaded and initialised producer. It stays loaded until the program ends, because many cannot be unloaded.
class Producer {
  public:
    // Throws Error{bad_file} if the file is missing, not a producer, or of another version, Error{device} if it
    // refuses.
    static std::shared_ptr<const Producer> load(const std::filesystem::path& path);
    explicit Producer(const std::filesystem::path& path);
    ~Producer();
    Producer(const Producer&) = delete;
    Producer& operator=(const Producer&) = delete;

#define ECHOLUX_GENTL_MEMBER(name, parameters) Status(*name) parameters = nullptr;
    ECHOLUX_GENTL_FUNCTIONS(ECHOLUX_GENTL_MEMBER)
    ECHOLUX_GENTL_LATER_FUNCTIONS(ECHOLUX_GENTL_MEMBER)
#undef ECHOLUX_GENTL_MEMBER

    const std::string& name() const {
        return name_;
    }  // file name, for messages

    // Throws Error{device} with the producer's own text unless the status is `success`.
    void check(Status status, const std::string& what, const char* remedy = "") const;

    // Calls a function that fills a text.
    template <class Call>
    std::string text(const std::string& what, Call call) const {
        std::size_t bytes = 0;
        check(call(nullptr, &bytes), what);
        std::string result(bytes, '\0');
        check(call(result.data(), &bytes), what);
        result.resize(std::char_traits<char>::length(result.c_str()));
        return result;
    }

    // Calls a function that returns one value. std::nullopt: the producer does not know it.
    template <class T, class Call>
    static std::optional<T> value(Call call) {
        T result{};
        std::int32_t type = 0;
        std::size_t bytes = sizeof result;
        if (call(&type, &result, &bytes) != Status::success || bytes != sizeof result) return std::nullopt;
        return result;
    }

  private:
    void require_version() const;

    std::string name_;
};

// ---- A device that is open, with its one data stream.

struct FoundDevice {
    std::string interface_id, id, model, serial_number;
};

// The modules between the library and a stream, closed in reverse order. Use it from one thread at a time.
class OpenDevice {
  public:
    // Opens the device whose id, model or serial number is `wanted`, else one whose id contains it; empty: the first
    // one. Throws Error{device}.
    OpenDevice(std::shared_ptr<const Producer> producer, const std::string& wanted);
    ~OpenDevice();
    OpenDevice(const OpenDevice&) = delete;
    OpenDevice& operator=(const OpenDevice&) = delete;

    const Producer& producer() const { return *producer_; }
    const std::string& name() const { return name_; }  // "GenTL MODEL"
    std::uint64_t tick_hz() const;                     // of time stamps; 0 if unknown

    // The register spaces of the modules. Those of the device itself are `remote`.
    Handle remote() const { return remote_; }
    Handle module(const std::string& name) const;  // "System", "Interface", "Device", "Stream"; null for other names
    Handle stream() const { return stream_; }

  private:
    std::vector<FoundDevice> found_devices() const;
    void open(const FoundDevice& device);
    void close() noexcept;

    std::shared_ptr<const Producer> producer_;
    std::string name_;
    Handle system_ = nullptr, interface_ = nullptr, device_ = nullptr, remote_ = nullptr, stream_ = nullptr;
};

// Reads the GenApi description of a module: XML, unpacked. Throws Error{device}.
std::string description_of(const Producer& producer, Handle port, const std::string& module);

}  // namespace echolux::gentl
