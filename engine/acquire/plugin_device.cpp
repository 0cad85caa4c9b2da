#include "engine/acquire/plugin_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <mutex>
#include <utility>
#include <vector>

#include "compute/error.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int max_lines_shown = 100;
constexpr std::size_t longest_line = 500;

// Timeouts after which a plugin is considered to hang. Finding and starting an instrument may take long.
constexpr milliseconds longest_open = 60s, longest_start = 20s, longest_call = 5s;
constexpr milliseconds longest_end = 1s;      // for stop and close, when the user wants to quit
constexpr milliseconds comes_back_in = 20ms;  // tolerance of next() beyond its patience

}  // namespace

// Everything that a call uses. While a call is in progress, it belongs to the calling thread.
struct PluginDevice::Opened {
    explicit Opened(const std::filesystem::path& path) : plugin(path) {
        host.struct_size = sizeof host;
        host.version = ECHOLUX_SOURCE_VERSION;
        host.context = this;
        host.log = hear;
    }

    static void hear(void* context, int level, const char* text);
    void keep_log(int level, const std::string& line);

    Plugin plugin;
    echolux_host host{};
    echolux_device* device = nullptr;
    echolux_block sent{};
    int result = ECHOLUX_OK;
    std::vector<std::shared_ptr<const void>> kept;

    std::mutex mutex;  // protects the members below
    std::string last_error;
    int lines_shown = 0;
};

PluginDevice::PluginDevice(const std::filesystem::path& path, const std::string& options, echolux_stream& stream)
    : opened_(std::make_shared<Opened>(path)) {
    const auto changed = std::make_shared<echolux_stream>(stream);
    call("open", longest_open, [options, changed](Opened& opened) {
        return opened.plugin.calls().open(&opened.host, options.c_str(), changed.get(), &opened.device);
    });
    stream = *changed;
    if (opened_->device == nullptr) fail("open() succeeded but returned no device");
}

PluginDevice::~PluginDevice() {
    if (caller_.is_under_way() && !caller_.wait(longest_end)) return;  // do not close a device that hangs
    caller_.begin([opened = opened_] {
        if (opened->device != nullptr) opened->plugin.calls().close(opened->device);
    });
    caller_.wait(longest_end);
}

const std::string& PluginDevice::name() const {
    return opened_->plugin.name();
}

bool PluginDevice::plays() const {
    return opened_->plugin.calls().play != nullptr;
}

bool PluginDevice::takes_buffers() const {
    return opened_->plugin.calls().post != nullptr;
}

bool PluginDevice::takes_back() const {
    return opened_->plugin.calls().release != nullptr;
}

void PluginDevice::begin(const char* function, std::function<void()> work) {
    function_ = function;
    since_ = steady_clock::now();
    caller_.begin(std::move(work));
}

// Calls a function of the plugin with a timeout and checks its status.
template <class Call>
void PluginDevice::call(const char* function, milliseconds longest, const Call& made) {
    if (caller_.is_under_way()) fail_as_hanging();
    begin(function, [opened = opened_, made] { opened->result = made(*opened); });
    if (!caller_.wait(longest)) fail_as_hanging();
    check(opened_->result);
}

// A call that hung and returned later did not stop the device.
void PluginDevice::start() {
    if (is_started_ && !stop()) fail_as_hanging();
    call("start", longest_start, [](Opened& opened) { return opened.plugin.calls().start(opened.device); });
    is_started_ = true;
}

bool PluginDevice::stop() noexcept {
    if (!caller_.wait(longest_end)) return false;
    next_is_open_ = false;  // its block belongs to the run that ends
    begin("stop", [opened = opened_] { opened->plugin.calls().stop(opened->device); });
    is_started_ = !caller_.wait(longest_end);
    return !is_started_;
}

void PluginDevice::keep(std::shared_ptr<const void> what) {
    opened_->kept.push_back(std::move(what));
}

void PluginDevice::post(const echolux_buffer& buffer) {
    call("post", longest_call, [buffer](Opened& opened) { return opened.plugin.calls().post(opened.device, &buffer); });
}

// A call that exceeds its patience stays open; the following calls wait for the same result until longest_call.
int PluginDevice::next(std::chrono::microseconds patience, echolux_block& block) {
    if (!next_is_open_) {
        opened_->sent = block;
        next_is_open_ = true;
        begin("next", [opened = opened_, us = patience.count()] {
            opened->result = opened->plugin.calls().next(opened->device, us, &opened->sent);
        });
    }
    if (!caller_.wait(std::chrono::ceil<milliseconds>(patience) + comes_back_in)) {
        if (steady_clock::now() - since_ > longest_call) fail_as_hanging();
        return ECHOLUX_NOTHING_YET;
    }
    next_is_open_ = false;
    block = opened_->sent;
    const int result = opened_->result;
    if (result != ECHOLUX_NOTHING_YET && result != ECHOLUX_ENDED) check(result);
    return result;
}

void PluginDevice::release(std::uint64_t token) noexcept {
    opened_->plugin.calls().release(opened_->device, token);
}

void PluginDevice::play(const echolux_pattern& pattern) {
    struct Played {
        echolux_pattern pattern;
        std::vector<float> x_um, y_um;
        std::vector<std::uint8_t> marks;
    };
    const auto played = std::make_shared<Played>(Played{pattern,
                                                        {pattern.x_um, pattern.x_um + pattern.points},
                                                        {pattern.y_um, pattern.y_um + pattern.points},
                                                        {pattern.marks, pattern.marks + pattern.points}});
    played->pattern.x_um = played->x_um.data();
    played->pattern.y_um = played->y_um.data();
    played->pattern.marks = played->marks.data();
    call("play", longest_start,
         [played](Opened& opened) { return opened.plugin.calls().play(opened.device, &played->pattern); });
}

void PluginDevice::fail(const std::string& problem) const {
    throw Error(ErrorCode::device, problem, "plugin " + name(),
                "report this to the maker of the plugin, see docs/plugins.md");
}

void PluginDevice::fail_as_hanging() const {
    throw Error(ErrorCode::device,
                fmt::format("{}() has not returned for {} s", function_, (steady_clock::now() - since_) / 1s),
                "plugin " + name(), "check the device; if this goes on, restart Echolux");
}

// Converts a status to an exception with the last error that the plugin logged.
void PluginDevice::check(int result) const {
    if (result == ECHOLUX_OK) return;
    std::string problem;
    {
        const std::lock_guard lock(opened_->mutex);
        std::swap(problem, opened_->last_error);
    }
    if (result != ECHOLUX_FAILED)
        problem = fmt::format("{}() returned {}, which is not a status of the interface", function_, result);
    if (problem.empty()) fail(fmt::format("{}() failed without giving a reason", function_));
    throw Error(ErrorCode::device, problem, "plugin " + name(), "check the device and the options of the plugin");
}

void PluginDevice::Opened::hear(void* context, int level, const char* text) {
    if (context == nullptr || text == nullptr) return;
    std::string line(text, strnlen(text, longest_line));
    std::ranges::replace_if(
        line, [](unsigned char c) { return c < ' '; }, ' ');
    static_cast<Opened*>(context)->keep_log(level, line);
}

// Errors are stored for the failing call; other messages are printed for developers of plugins.
void PluginDevice::Opened::keep_log(int level, const std::string& line) {
    const std::lock_guard lock(mutex);
    if (level >= ECHOLUX_LOG_ERROR) {
        last_error = line;
    } else if (level > ECHOLUX_LOG_DEBUG && lines_shown <= max_lines_shown) {
        const bool is_last = lines_shown++ == max_lines_shown;
        std::clog << fmt::format("plugin {}: {}\n", plugin.name(), is_last ? "further messages are not shown" : line);
    }
}

}  // namespace echolux
