#include "engine/acquire/genicam/gentl.h"

#include <arv.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <mutex>
#include <type_traits>
#include <utility>

#include "compute/error.h"
#include "compute/plural.h"
#include "engine/io/regular_file.h"

namespace echolux::gentl {

namespace {

constexpr std::uint64_t search_ms = 2000;  // for interfaces, and for the devices of one
constexpr std::size_t max_description_bytes = std::size_t{64} << 20;

}  // namespace

// ---- The producer.

// Producers keep global state, so each is initialised once and shared.
std::shared_ptr<const Producer> Producer::load(const std::filesystem::path& path) {
    static std::mutex mutex;
    static std::map<std::filesystem::path, std::weak_ptr<const Producer>> loaded;
    const std::lock_guard lock(mutex);
    std::weak_ptr<const Producer>& known = loaded[std::filesystem::absolute(path)];
    std::shared_ptr<const Producer> producer = known.lock();
    if (!producer) known = producer = std::make_shared<const Producer>(path);
    return producer;
}

Producer::Producer(const std::filesystem::path& path) : name_(path.filename().string()) {
    if (!std::filesystem::exists(path))
        throw Error(ErrorCode::bad_file, "does not exist", path.string(),
                    "name the .cti file of the frame grabber's driver; GENICAM_GENTL64_PATH lists its folder");
    void* library = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) throw Error(ErrorCode::bad_file, dlerror(), path.string(), "is its driver installed?");
    const auto find = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
        return function != nullptr;
    };
    const auto need = [&](auto& function, const char* name) {
        if (find(function, name)) return;
        throw Error(ErrorCode::bad_file, fmt::format("is not a GenTL producer: it lacks the function {}", name),
                    path.string(), "name the .cti file of the frame grabber's driver");
    };
#define ECHOLUX_GENTL_NEED(name, parameters) need(name, #name);
    ECHOLUX_GENTL_FUNCTIONS(ECHOLUX_GENTL_NEED)
#undef ECHOLUX_GENTL_NEED
#define ECHOLUX_GENTL_FIND(name, parameters) find(name, #name);
    ECHOLUX_GENTL_LATER_FUNCTIONS(ECHOLUX_GENTL_FIND)
#undef ECHOLUX_GENTL_FIND
    require_version();
    check(GCInitLib(), "initialising", "check driver and licence of the frame grabber");
}

Producer::~Producer() {
    GCCloseLib();
}

// Producers before 1.5 cannot state their version. All versions 1.x are compatible.
void Producer::require_version() const {
    const auto version = [&](SystemInfo which) {
        return value<std::uint32_t>(
            [&](std::int32_t* type, void* to, std::size_t* bytes) { return GCGetInfo(which, type, to, bytes); });
    };
    const std::uint32_t major = version(system_major_version).value_or(1);
    if (major == 1) return;
    throw Error(ErrorCode::bad_file,
                fmt::format("implements GenTL {}.{}, expected 1.x", major, version(system_minor_version).value_or(0)),
                name_, "install a driver with a GenTL producer of version 1");
}

void Producer::check(Status status, const std::string& what, const char* remedy) const {
    if (status == Status::success) return;
    std::int32_t code = 0;
    std::array<char, 1024> words{};
    std::size_t bytes = words.size() - 1;
    const bool is_told = GCGetLastError(&code, words.data(), &bytes) == Status::success && words[0] != '\0';
    throw Error(ErrorCode::device,
                fmt::format("{} failed: {} (GenTL error {})", what, is_told ? words.data() : "no text",
                            static_cast<std::int32_t>(status)),
                name_, remedy);
}

// ---- The device.

OpenDevice::OpenDevice(std::shared_ptr<const Producer> producer, const std::string& wanted)
    : producer_(std::move(producer)) {
    try {
        producer_->check(producer_->TLOpen(&system_), "opening the system", "is another program using the driver?");
        const std::vector<FoundDevice> found = found_devices();
        auto device = std::ranges::find_if(found, [&](const FoundDevice& one) {
            return wanted.empty() || one.id == wanted || one.model == wanted || one.serial_number == wanted;
        });
        if (device == found.end())
            device = std::ranges::find_if(
                found, [&](const FoundDevice& one) { return one.id.find(wanted) != std::string::npos; });
        if (device == found.end()) {
            std::string names;
            for (const FoundDevice& one : found) names += (names.empty() ? "" : ", ") + one.id;
            throw Error(ErrorCode::device,
                        found.empty() ? "no device was found"
                                      : fmt::format("no device \"{}\" was found, only {}", wanted, names),
                        producer_->name(), "check its power and cable, and the driver of the frame grabber");
        }
        open(*device);
    } catch (...) {
        close();
        throw;
    }
}

OpenDevice::~OpenDevice() {
    close();
}

// Interfaces that cannot be opened, such as boards in use by other programs, are left out.
std::vector<FoundDevice> OpenDevice::found_devices() const {
    const Producer& gc = *producer_;
    std::vector<FoundDevice> found;
    std::uint32_t interfaces = 0;
    gc.check(gc.TLUpdateInterfaceList(system_, nullptr, search_ms), "searching for interfaces");
    gc.check(gc.TLGetNumInterfaces(system_, &interfaces), "counting interfaces");
    for (std::uint32_t i = 0; i < interfaces; ++i) {
        const std::string id = gc.text("reading the name of an interface", [&](char* to, std::size_t* bytes) {
            return gc.TLGetInterfaceID(system_, i, to, bytes);
        });
        Handle interface = nullptr;
        if (gc.TLOpenInterface(system_, id.c_str(), &interface) != Status::success) continue;
        std::uint32_t devices = 0;
        if (gc.IFUpdateDeviceList(interface, nullptr, search_ms) == Status::success)
            gc.IFGetNumDevices(interface, &devices);
        for (std::uint32_t d = 0; d < devices; ++d) {
            std::array<char, 512> name{};
            std::size_t bytes = name.size() - 1;
            if (gc.IFGetDeviceID(interface, d, name.data(), &bytes) != Status::success) continue;
            const auto info = [&](DeviceInfo which) {
                std::array<char, 512> words{};
                std::size_t size = words.size() - 1;
                std::int32_t type = 0;
                const Status status = gc.IFGetDeviceInfo(interface, name.data(), which, &type, words.data(), &size);
                return status == Status::success ? std::string(words.data()) : std::string();
            };
            found.push_back({id, name.data(), info(device_model), info(device_serial_number)});
        }
        gc.IFClose(interface);
    }
    return found;
}

void OpenDevice::open(const FoundDevice& device) {
    const Producer& gc = *producer_;
    name_ = "GenTL " + (device.model.empty() ? device.id : device.model);
    constexpr const char* remedy = "close the other program that uses it";
    gc.check(gc.TLOpenInterface(system_, device.interface_id.c_str(), &interface_), "opening the interface", remedy);
    gc.IFUpdateDeviceList(interface_, nullptr, search_ms);
    gc.check(gc.IFOpenDevice(interface_, device.id.c_str(), open_exclusively, &device_), "opening " + device.id,
             remedy);
    gc.check(gc.DevGetPort(device_, &remote_), "reading the registers of " + device.id);
    std::uint32_t streams = 0;
    gc.check(gc.DevGetNumDataStreams(device_, &streams), "counting the streams of " + device.id);
    if (streams == 0) throw Error(ErrorCode::device, "has no data stream", name_, "choose another device");
    const std::string id = gc.text("reading the name of a stream", [&](char* to, std::size_t* bytes) {
        return gc.DevGetDataStreamID(device_, 0, to, bytes);
    });
    gc.check(gc.DevOpenDataStream(device_, id.c_str(), &stream_), "opening a stream", remedy);
}

void OpenDevice::close() noexcept {
    if (stream_ != nullptr) producer_->DSClose(stream_);
    if (device_ != nullptr) producer_->DevClose(device_);
    if (interface_ != nullptr) producer_->IFClose(interface_);
    if (system_ != nullptr) producer_->TLClose(system_);
    stream_ = device_ = interface_ = system_ = nullptr;
}

std::uint64_t OpenDevice::tick_hz() const {
    return Producer::value<std::uint64_t>([&](std::int32_t* type, void* to, std::size_t* bytes) {
               return producer_->DevGetInfo(device_, device_tick_hz, type, to, bytes);
           })
        .value_or(0);
}

Handle OpenDevice::module(const std::string& name) const {
    if (name == "System") return system_;
    if (name == "Interface") return interface_;
    if (name == "Device") return device_;
    return name == "Stream" ? stream_ : nullptr;
}

// ---- Descriptions. A URL is "local:NAME;ADDRESS;BYTES?SchemaVersion=..." with hexadecimal numbers, in the registers
// of the module, or "file:///PATH" on this machine. NAME and PATH may end with .zip.

namespace {

struct DescriptionUrl {
    bool is_file = false;
    std::string name;
    std::uint64_t address = 0, bytes = 0;
};

// std::nullopt: another scheme, or not readable.
std::optional<DescriptionUrl> parsed_url(std::string url) {
    url = url.substr(0, url.find('?'));
    const std::size_t colon = url.find(':');
    if (colon == std::string::npos) return std::nullopt;
    std::string scheme = url.substr(0, colon);
    std::ranges::transform(scheme, scheme.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    std::string rest = url.substr(colon + 1);
    DescriptionUrl result;
    if (scheme == "file") {
        result.is_file = true;
        result.name = rest.starts_with("//") ? rest.substr(2) : rest;
        return result;
    }
    if (scheme != "local") return std::nullopt;
    rest.erase(0, std::min(rest.find_first_not_of('/'), rest.size()));
    const std::size_t first = rest.find(';'), second = rest.find(';', first + 1);
    if (first == std::string::npos || second == std::string::npos) return std::nullopt;
    result.name = rest.substr(0, first);
    const auto number = [&](std::size_t begin, std::size_t end, std::uint64_t& to) {
        if (rest.compare(begin, 2, "0x") == 0 || rest.compare(begin, 2, "0X") == 0) begin += 2;
        const auto [stop, problem] = std::from_chars(rest.data() + begin, rest.data() + end, to, 16);
        return problem == std::errc() && stop == rest.data() + end;
    };
    if (!number(first + 1, second, result.address) || !number(second + 1, rest.size(), result.bytes))
        return std::nullopt;
    return result;
}

std::string unpacked(const std::string& bytes, const std::string& where) {
    ArvZip* zip = arv_zip_new(bytes.data(), bytes.size());
    const GSList* files = arv_zip_get_file_list(zip);
    std::size_t size = 0;
    void* xml = files == nullptr
                    ? nullptr
                    : arv_zip_get_file(zip, arv_zip_file_get_name(static_cast<ArvZipFile*>(files->data)), &size);
    const std::string text = xml == nullptr ? "" : std::string(static_cast<const char*>(xml), size);
    g_free(xml);
    arv_zip_free(zip);
    if (text.empty()) throw Error(ErrorCode::device, "its description is a damaged ZIP file", where);
    return text;
}

std::string registers(const Producer& producer, Handle port, const DescriptionUrl& url, const std::string& where) {
    if (url.bytes < 1 || url.bytes > max_description_bytes)
        throw Error(ErrorCode::device, fmt::format("its description has {}", plural(url.bytes, "bytes")), where);
    std::string text(url.bytes, '\0');
    std::size_t bytes = text.size();
    producer.check(producer.GCReadPort(port, url.address, text.data(), &bytes), "reading the description of " + where);
    text.resize(std::min(bytes, text.size()));
    return text;
}

}  // namespace

std::string description_of(const Producer& producer, Handle port, const std::string& module) {
    const std::string where = producer.name() + ", " + module;
    const std::string url = producer.text("reading the URL of the description", [&](char* to, std::size_t* bytes) {
        std::int32_t type = 0;
        return producer.GCGetPortURLInfo != nullptr ? producer.GCGetPortURLInfo(port, 0, url_text, &type, to, bytes)
                                                    : producer.GCGetPortURL(port, to, bytes);
    });
    const std::optional<DescriptionUrl> place = parsed_url(url);
    if (!place)
        throw Error(ErrorCode::device, fmt::format("its description is at \"{}\", which cannot be read", url), where,
                    "expected local:NAME;ADDRESS;BYTES or file:///PATH");
    std::string text;
    if (place->is_file) {
        text = whole_file(place->name, max_description_bytes, "is not a description of at most 64 MiB",
                          "reinstall the driver");
    } else {
        text = registers(producer, port, *place, where);
    }
    return text.starts_with("PK") ? unpacked(text, where) : text;
}

}  // namespace echolux::gentl
