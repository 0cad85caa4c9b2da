#include "engine/acquire/plugin_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iostream>

#include "compute/error.h"

namespace echolux {
namespace {

constexpr int max_lines_shown = 100;
constexpr std::size_t longest_line = 500;

}  // namespace

PluginDevice::PluginDevice(const std::filesystem::path& path, const std::string& options, echolux_stream& stream)
    : plugin_(path) {
    host_.struct_size = sizeof host_;
    host_.version = ECHOLUX_SOURCE_VERSION;
    host_.context = this;
    host_.log = hear;
    check("open", plugin_.calls().open(&host_, options.c_str(), &stream, &device_));
    if (device_ == nullptr) fail("open() succeeded but returned no device");
}

PluginDevice::~PluginDevice() {
    plugin_.calls().close(device_);
}

void PluginDevice::start() {
    check("start", plugin_.calls().start(device_));
}

void PluginDevice::stop() noexcept {
    plugin_.calls().stop(device_);
}

void PluginDevice::post(const echolux_buffer& buffer) {
    check("post", plugin_.calls().post(device_, &buffer));
}

int PluginDevice::next(std::int64_t patience_us, echolux_block& block) {
    const int result = plugin_.calls().next(device_, patience_us, &block);
    if (result != ECHOLUX_NOTHING_YET && result != ECHOLUX_ENDED) check("next", result);
    return result;
}

void PluginDevice::release(std::uint64_t token) noexcept {
    plugin_.calls().release(device_, token);
}

void PluginDevice::play(const echolux_pattern& pattern) {
    check("play", plugin_.calls().play(device_, &pattern));
}

void PluginDevice::fail(const std::string& problem) const {
    throw Error(ErrorCode::device, problem, "plugin " + name(),
                "report this to the maker of the plugin, see docs/plugins.md");
}

void PluginDevice::check(const char* function, int result) {
    if (result == ECHOLUX_OK) return;
    std::string problem;
    {
        const std::lock_guard lock(mutex_);
        std::swap(problem, last_error_);
    }
    if (result != ECHOLUX_FAILED)
        problem = fmt::format("{}() returned {}, which is not a status of the interface", function, result);
    if (problem.empty()) fail(fmt::format("{}() failed without giving a reason", function));
    throw Error(ErrorCode::device, problem, "plugin " + name(), "check the device and the options of the plugin");
}

void PluginDevice::hear(void* context, int level, const char* text) {
    if (context == nullptr || text == nullptr) return;
    std::string line(text, strnlen(text, longest_line));
    std::ranges::replace_if(
        line, [](unsigned char c) { return c < ' '; }, ' ');
    static_cast<PluginDevice*>(context)->keep_log(level, line);
}

// Errors become an Error with the call that fails; the others are for whoever tries the plugin out.
void PluginDevice::keep_log(int level, const std::string& line) {
    const std::lock_guard lock(mutex_);
    if (level >= ECHOLUX_LOG_ERROR) {
        last_error_ = line;
    } else if (level > ECHOLUX_LOG_DEBUG && lines_shown_ <= max_lines_shown) {
        const bool is_last = lines_shown_++ == max_lines_shown;
        std::clog << fmt::format("plugin {}: {}\n", name(), is_last ? "further messages are not shown" : line);
    }
}

}  // namespace echolux
