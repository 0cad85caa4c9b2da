// Spectra from a plugin (plugins/echolux_source.h): its library, calls that may hang, the instrument that it opens, and
// the source of blocks.
#include <dlfcn.h>
#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "compute/plural.h"
#include "engine/acquire/source.h"
#include "engine/acquire/stream.h"
#include "engine/memory.h"
#include "engine/scan/scan.h"
#include "engine/scan/scan_pattern.h"
#include "plugins/echolux_source.h"

namespace echolux {

// ---- The plugin's shared library. Checks its version and functions.

class Plugin {
  public:
    // Loads the library. Throws Error{bad_file} if it is not a library or not a plugin, has another version, or lacks
    // functions.
    explicit Plugin(const std::filesystem::path& path);

    const echolux_source& calls() const { return calls_; }  // functions that the plugin does not know are null
    const std::string& name() const { return name_; }

  private:
    struct Close {
        void operator()(void* library) const;
    };

    std::unique_ptr<void, Close> library_;
    echolux_source calls_{};
    std::string name_;
};

// ---- Calls code that may never return. Calls run one at a time on a separate thread, and the caller waits with a
// timeout. A thread that hangs is abandoned with everything that its call uses.

class PatientCaller {
  public:
    PatientCaller();
    // Does not wait for a call in progress; its thread ends when the call returns.
    ~PatientCaller();
    PatientCaller(const PatientCaller&) = delete;
    PatientCaller& operator=(const PatientCaller&) = delete;

    // Starts a call. `work` must own everything that it uses and must not throw. Call only while no other call is in
    // progress.
    void begin(std::function<void()> work);

    // Returns whether the call has returned within `timeout`.
    bool wait(std::chrono::milliseconds timeout);

    bool is_waiting() const;

  private:
    struct Shared;
    static void run(const std::shared_ptr<Shared>& shared);

    std::shared_ptr<Shared> shared_;  // shared with the thread
};

// ---- An instrument opened by a plugin. It is closed when its last owner is gone: the source, and all blocks in the
// plugin's memory. A plugin that hangs is reported as an error and abandoned, together with everything it may still
// use.

// Called by one thread at a time, except release().
class PluginDevice {
  public:
    // Opens the device. `stream` is the requested format and is changed to the actual one. This and all other functions
    // throw Error{device} with the last error that the plugin logged.
    PluginDevice(const std::filesystem::path& path, const std::string& options, echolux_stream& stream);
    ~PluginDevice();
    PluginDevice(const PluginDevice&) = delete;
    PluginDevice& operator=(const PluginDevice&) = delete;

    const std::string& name() const;
    // Whether the plugin has these optional functions.
    bool plays() const;
    bool accepts_buffers() const;
    bool takes_back() const;

    void start();

    // Returns false if the call hangs; then pass everything that the plugin may still use to keep().
    bool stop() noexcept;
    void keep(std::shared_ptr<const void> what);

    void post(const echolux_buffer& buffer);

    // Returns ECHOLUX_OK, NOTHING_YET or ENDED. If the plugin's function takes too long, it continues in the background
    // and the next call waits for it.
    int next(std::chrono::microseconds timeout, echolux_block& block);
    bool is_in_next() const { return next_is_open_; }

    void release(std::uint64_t token) noexcept;  // from any thread
    void play(const echolux_pattern& pattern);

    [[noreturn]] void fail(const std::string& problem) const;

  private:
    struct Opened;

    template <class Call>
    void call(const char* function, std::chrono::milliseconds longest, const Call& made);
    void begin(const char* function, std::function<void()> work);
    [[noreturn]] void fail_as_hanging() const;
    void check(int result) const;

    std::shared_ptr<Opened> opened_;  // shared with the call in progress
    PatientCaller caller_;
    const char* function_ = "";  // last function called, and its time
    std::chrono::steady_clock::time_point since_;
    bool is_started_ = false;    // and not stopped
    bool next_is_open_ = false;  // next() was called and its result not yet returned
};

// Passes the scan pattern of a volume to a plugin. Throws Error{device} if the plugin refuses it, Error{bad_setting} if
// the scan has no pattern.
void play_pattern(PluginDevice& device, const Scan& scan);

void Plugin::Close::operator()(void* library) const {
    dlclose(library);
}

Plugin::Plugin(const std::filesystem::path& path) {
    const auto refuse = [&](const std::string& problem, const char* remedy) {
        throw Error(ErrorCode::bad_file, problem, "plugin " + path.string(), remedy);
    };
    // Absolute, because dlopen searches the system's libraries for names without a slash.
    library_.reset(dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL));
    if (!library_) refuse(dlerror(), "check the path, and with ldd that the libraries it needs are installed");
    const auto entry =
        reinterpret_cast<decltype(&echolux_source_plugin)>(dlsym(library_.get(), "echolux_source_plugin"));
    if (entry == nullptr)
        refuse("has no function echolux_source_plugin", "check that it is a plugin for Echolux, see docs/plugins.md");
    const echolux_source* source = entry(ECHOLUX_SOURCE_VERSION);
    if (source == nullptr) {
        refuse(fmt::format("does not support version {} of the plugin interface", ECHOLUX_SOURCE_VERSION),
               "get a newer plugin from its maker");
    }
    if (source->version != ECHOLUX_SOURCE_VERSION) {
        refuse(fmt::format("was compiled for version {} of the plugin interface, this program has version {}",
                           source->version, ECHOLUX_SOURCE_VERSION),
               "compile it against this program's echolux_source.h");
    }
    std::memcpy(&calls_, source, std::min<std::size_t>(source->struct_size, sizeof calls_));
    const auto need = [&](const char* function, bool is_there) {
        if (!is_there) refuse(fmt::format("has no {}()", function), "every plugin must define it, see docs/plugins.md");
    };
    need("open", calls_.open != nullptr);
    need("start", calls_.start != nullptr);
    need("next", calls_.next != nullptr);
    need("stop", calls_.stop != nullptr);
    need("close", calls_.close != nullptr);
    name_ = calls_.name == nullptr ? path.filename().string() : std::string(calls_.name, strnlen(calls_.name, 100));
}

struct PatientCaller::Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::function<void()> work;  // call that is about to begin
    bool is_waiting = false;
    bool ends = false;
};

PatientCaller::PatientCaller() : shared_(std::make_shared<Shared>()) {
    std::thread([shared = shared_] { run(shared); }).detach();
}

PatientCaller::~PatientCaller() {
    const std::scoped_lock lock(shared_->mutex);
    shared_->ends = true;
    shared_->changed.notify_all();
}

void PatientCaller::run(const std::shared_ptr<Shared>& shared) {
    std::unique_lock lock(shared->mutex);
    for (;;) {
        shared->changed.wait(lock, [&] { return shared->work || shared->ends; });
        if (!shared->work) return;
        auto work = std::exchange(shared->work, nullptr);
        lock.unlock();
        work();
        work = nullptr;  // release its resources before the end is signalled
        lock.lock();
        shared->is_waiting = false;
        shared->changed.notify_all();
    }
}

void PatientCaller::begin(std::function<void()> work) {
    const std::scoped_lock lock(shared_->mutex);
    shared_->work = std::move(work);
    shared_->is_waiting = true;
    shared_->changed.notify_all();
}

bool PatientCaller::wait(std::chrono::milliseconds timeout) {
    std::unique_lock lock(shared_->mutex);
    return shared_->changed.wait_for(lock, timeout, [this] { return !shared_->is_waiting; });
}

bool PatientCaller::is_waiting() const {
    const std::scoped_lock lock(shared_->mutex);
    return shared_->is_waiting;
}

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int max_lines_shown = 100;
constexpr std::size_t longest_line = 500;

// Timeouts after which a plugin is considered to hang. Finding and starting an instrument may take a long time.
constexpr milliseconds longest_open = 60s, longest_start = 20s, longest_call = 5s;
constexpr milliseconds longest_end = 1s;         // for stop and close, when the user wants to quit
constexpr milliseconds return_tolerance = 20ms;  // accepted delay of next() beyond its timeout

}  // namespace

// Everything that a call uses. While a call is in progress, it belongs to the calling thread.
struct PluginDevice::Opened {
    explicit Opened(const std::filesystem::path& path) : plugin(path) {
        host.struct_size = sizeof host;
        host.version = ECHOLUX_SOURCE_VERSION;
        host.context = this;
        host.log = on_message;
    }

    static void on_message(void* context, int level, const char* text);
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
    if (caller_.is_waiting() && !caller_.wait(longest_end)) return;  // do not close a device that hangs
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

bool PluginDevice::accepts_buffers() const {
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
    if (caller_.is_waiting()) fail_as_hanging();
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

// A call that exceeds its timeout stays open. The following calls wait for its result, for at most longest_call.
int PluginDevice::next(std::chrono::microseconds timeout, echolux_block& block) {
    if (!next_is_open_) {
        opened_->sent = block;
        next_is_open_ = true;
        begin("next", [opened = opened_, us = timeout.count()] {
            opened->result = opened->plugin.calls().next(opened->device, us, &opened->sent);
        });
    }
    if (!caller_.wait(std::chrono::ceil<milliseconds>(timeout) + return_tolerance)) {
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
                "plugin " + name(), "check the device; if this persists, restart Echolux");
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

void PluginDevice::Opened::on_message(void* context, int level, const char* text) {
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

// ---- Converts scan patterns to the plugin interface.

constexpr std::int64_t max_points = std::int64_t{1} << 27;  // 1.2 GB

// Flyback frames (from `frames_sent`) are not part of blocks.
static std::uint8_t marks_of(const PatternLine& line, std::int64_t frames_sent) {
    int marks = line.is_flyback ? ECHOLUX_MARK_FLYBACK : 0;
    if (line.line == 0) marks |= ECHOLUX_MARK_FRAME;
    if (line.line == 0 && line.frame == 0) marks |= ECHOLUX_MARK_VOLUME;
    if (line.frame < frames_sent) marks |= ECHOLUX_MARK_SENT;
    return static_cast<std::uint8_t>(marks);
}

void play_pattern(PluginDevice& device, const Scan& scan) {
    const ScanGeometry& geometry = scan.geometry;
    const std::int64_t frames = geometry.frames_per_volume() + geometry.flyback_frames;
    if (frames > max_points / geometry.lines_per_frame()) {
        device.fail("cannot play a pattern with this number of lines");
    }
    const ScanPattern way(geometry, field_size(geometry), scan.calibration.fast_axis);
    std::vector<float> x;
    std::vector<float> y;
    std::vector<std::uint8_t> marks;
    for (std::int64_t frame = 0; frame < way.frames(); ++frame) {
        for (std::int64_t line = 0; line < way.lines_per_frame(); ++line) {
            const PatternLine at = way.at(frame, line);
            x.push_back(static_cast<float>(at.beam.x_um));
            y.push_back(static_cast<float>(at.beam.y_um));
            marks.push_back(marks_of(at, geometry.frames_per_volume()));
        }
    }
    echolux_pattern pattern{};
    pattern.struct_size = sizeof pattern;
    pattern.points = std::ssize(marks);
    pattern.points_per_s = geometry.line_rate_hz;
    pattern.x_um = x.data();
    pattern.y_um = y.data();
    pattern.marks = marks.data();
    device.play(pattern);
}

// ---- The source of blocks. Posted buffers are owned here and become blocks when the plugin returns them. Buffers lent
// by the plugin are returned with the last copy of the block. All data from the plugin is checked.

namespace {

// Buffers lent by the plugin. Keepers of blocks share ownership, so that the device stays open while its memory is in
// use.
class Loans {
  public:
    explicit Loans(std::shared_ptr<PluginDevice> device) : device_(std::move(device)) {}

    // Returns false if the buffer is already lent.
    bool take(std::uint64_t token) {
        const std::lock_guard lock(mutex_);
        return tokens_.insert(token).second;
    }
    std::int64_t count() {
        const std::lock_guard lock(mutex_);
        return std::ssize(tokens_);
    }
    void give_back(std::uint64_t token) {
        {
            const std::lock_guard lock(mutex_);
            tokens_.erase(token);
        }
        device_->release(token);
    }

  private:
    std::shared_ptr<PluginDevice> device_;
    std::mutex mutex_;
    std::set<std::uint64_t> tokens_;
};

class PluginSource : public Source {
  public:
    explicit PluginSource(const SourceRequest& wanted);
    ~PluginSource() override { stop(); }

    const Scan& scan() const override { return scan_; }
    std::int64_t block_b_scans() const override { return stream_.block_b_scans; }
    std::int64_t pool_blocks() const override { return stream_.blocks; }
    const SourceCapabilities& capabilities() const override { return capabilities_; }
    std::string name() const override { return device_->name(); }
    void start() override;
    Arrival next(milliseconds timeout) override;
    void stop() noexcept override;

  private:
    void open(const SourceName& name, Scan& scan, const SourceSettings& settings);
    void make_pool(MemoryKind memory);
    void post_free_buffers();
    BlockMemory returned(const echolux_block& sent);
    BlockMemory lent(const echolux_block& sent);
    void check(const echolux_block& sent) const;
    void check_leap(std::int64_t from, std::int64_t to, std::int64_t blocks_in_volume) const;
    void place(const echolux_block& sent, Block& block);
    Block accepted(const echolux_block& sent);

    Scan scan_;
    SourceCapabilities capabilities_;
    echolux_stream stream_{};
    std::shared_ptr<PluginDevice> device_;
    std::shared_ptr<Loans> loans_;
    std::int64_t position_bytes_ = 0;  // per B-scan position
    std::optional<BlockPool> pool_;    // for posted buffers
    std::map<std::uint64_t, BlockMemory> posted_;
    std::uint64_t next_token_ = 0;

    // State since start().
    bool is_running_ = false;
    steady_clock::time_point started_;
    std::int64_t next_block_ = 0;  // counted over volumes, including lost blocks
    std::uint64_t sequence_ = 0;
};

// The name has the form "plugin:PATH,OPTIONS".
PluginSource::PluginSource(const SourceRequest& wanted) {
    const SourceName name(wanted.name);
    if (name.id.empty()) {
        throw Error(ErrorCode::bad_setting, "does not name a file", "source " + wanted.name,
                    "expected plugin:PATH[,OPTIONS]");
    }
    scan_ = describe_scan(wanted.scan, wanted.assignments, [&](Scan& scan) { open(name, scan, wanted.settings); });
    position_bytes_ = frame_stride(scan_) * scan_.geometry.b_repeats;
    if (stream_.buffers == ECHOLUX_POSTED) make_pool(wanted.memory);
    if (device_->plays()) play_pattern(*device_, scan_);
}

void PluginSource::open(const SourceName& name, Scan& scan, const SourceSettings& settings) {
    stream_ = wanted_stream(scan, settings);
    device_ = std::make_shared<PluginDevice>(name.id, name.options, stream_);
    loans_ = std::make_shared<Loans>(device_);
    accept_stream(stream_, scan, "plugin " + device_->name(),
                  "report this to the maker of the plugin, see docs/plugins.md");
    if (stream_.buffers == ECHOLUX_POSTED && !device_->accepts_buffers())
        device_->fail("requests posted buffers but does not define post()");
    if (stream_.buffers == ECHOLUX_RING && !device_->takes_back())
        device_->fail("lends ring buffers but does not define release()");
    capabilities_.sets_line_rate = stream_.sets_line_rate != 0;
    capabilities_.sets_exposure = stream_.sets_exposure != 0;
    capabilities_.sets_samples = stream_.sets_samples != 0;
    capabilities_.plays_patterns = device_->plays();
}

// Checks one block first, because the size of all could overflow for absurd block counts.
void PluginSource::make_pool(MemoryKind memory) {
    const std::int64_t bytes = position_bytes_ * stream_.block_b_scans;
    for (const std::int64_t blocks : {std::int64_t{1}, stream_.blocks}) {
        require_memory(bytes * blocks, "the blocks of plugin " + device_->name(),
                       "choose a smaller scan, source.block_b_scans or source.pool_blocks");
    }
    pool_.emplace(bytes, memory);
}

void PluginSource::start() {
    stop();
    next_block_ = 0;
    sequence_ = 0;
    started_ = steady_clock::now();
    is_running_ = true;
    try {
        post_free_buffers();
        device_->start();
    } catch (...) {
        stop();
        throw;
    }
}

void PluginSource::stop() noexcept {
    const bool may_still_write = is_running_ && !device_->stop();
    is_running_ = false;
    if (may_still_write) device_->keep(std::make_shared<decltype(posted_)>(std::move(posted_)));
    posted_.clear();
}

Arrival PluginSource::next(milliseconds timeout) {
    if (!is_running_) device_->fail("is not started");
    try {
        if (!device_->is_in_next()) post_free_buffers();
        echolux_block sent{};
        sent.struct_size = sizeof sent;
        sent.volume = sent.first_b_scan = -1;
        sent.b_scans = stream_.block_b_scans;
        sent.time_s = -1;
        switch (device_->next(timeout, sent)) {
            case ECHOLUX_OK: return {Arrival::Kind::block, accepted(sent)};
            case ECHOLUX_ENDED: stop(); return {Arrival::Kind::ended, {}};
            default: return {};
        }
    } catch (...) {
        stop();
        throw;
    }
}

// Posts all free buffers of the pool, so that the device can fill several blocks in advance.
void PluginSource::post_free_buffers() {
    if (!pool_) return;
    while (std::optional<BlockMemory> memory = pool_->take_below(stream_.blocks)) {
        echolux_buffer buffer{};
        buffer.struct_size = sizeof buffer;
        buffer.memory = memory->kind == MemoryKind::pinned ? ECHOLUX_PINNED : ECHOLUX_HOST;
        buffer.bytes = memory->data;
        buffer.size = memory->bytes;
        buffer.token = next_token_++;
        posted_.emplace(buffer.token, std::move(*memory));
        device_->post(buffer);
    }
}

Block PluginSource::accepted(const echolux_block& sent) {
    const BlockMemory memory = stream_.buffers == ECHOLUX_POSTED ? returned(sent) : lent(sent);
    check(sent);
    Block block;
    block.data = memory.data;
    block.bytes = sent.size;
    block.memory = memory.kind;
    block.keeper = memory.keeper;
    block.frames.offset_bytes = stream_.frame_offset_bytes;
    if (stream_.frame_offset_bytes > 0 || stream_.flyback_lines > 0) block.frames.stride_bytes = frame_stride(scan_);
    block.b_scans = sent.b_scans;
    place(sent, block);
    block.sequence = sequence_++;
    block.time_s =
        sent.time_s >= 0 ? sent.time_s : std::chrono::duration<double>(steady_clock::now() - started_).count();
    return block;
}

// Identifies a posted buffer by its token. It must be one that the plugin currently owns.
BlockMemory PluginSource::returned(const echolux_block& sent) {
    auto posted = posted_.extract(sent.token);
    if (posted.empty()) {
        device_->fail(fmt::format("block {}: token {} does not belong to a posted buffer", sequence_, sent.token));
    }
    if (sent.bytes != posted.mapped().data) {
        device_->fail(fmt::format("block {}: its address does not match the buffer with this token", sequence_));
    }
    return posted.mapped();
}

// Wraps a buffer of the plugin's ring. Destroying the last copy of the keeper calls release().
BlockMemory PluginSource::lent(const echolux_block& sent) {
    if (!loans_->take(sent.token)) {
        device_->fail(fmt::format("block {}: token {} is already lent", sequence_, sent.token));
    }
    constexpr MemoryKind kinds[] = {MemoryKind::host, MemoryKind::pinned, MemoryKind::device};
    BlockMemory memory;
    memory.data = static_cast<std::byte*>(const_cast<void*>(sent.bytes));  // blocks are never written to
    memory.bytes = sent.size;
    memory.kind = kinds[stream_.memory];
    memory.keeper = {sent.bytes, [loans = loans_, token = sent.token](const void*) { loans->give_back(token); }};
    if (loans_->count() > stream_.blocks) {
        device_->fail(
            fmt::format("block {}: lends more than the {} it declared", sequence_, plural(stream_.blocks, "blocks")));
    }
    return memory;
}

void PluginSource::check(const echolux_block& sent) const {
    const auto refuse = [&](const std::string& problem) {
        device_->fail(fmt::format("block {}: {}", sequence_, problem));
    };
    if (sent.bytes == nullptr) refuse("has no address");
    if (sent.b_scans < 1 || sent.b_scans > stream_.block_b_scans) {
        refuse(fmt::format("has {}, expected 1 to {}", plural(sent.b_scans, "B-scans"), stream_.block_b_scans));
    }
    if (sent.size != sent.b_scans * position_bytes_) {
        refuse(fmt::format("has {}, expected {}", plural(sent.size, "bytes"), sent.b_scans * position_bytes_));
    }
    constexpr std::int64_t max = std::int64_t{1} << 40;  // far beyond any session, far from overflow
    if (sent.lost_before < 0 || sent.lost_before > max) {
        refuse(fmt::format("lost_before is {}, expected 0 or more", sent.lost_before));
    }
    if (sent.volume < -1 || (sent.volume < 0) != (sent.first_b_scan < 0)) {
        refuse(fmt::format("volume {} with first B-scan {} is not a valid position", sent.volume, sent.first_b_scan));
    }
    if (!std::isfinite(sent.time_s)) refuse("its time stamp is not a finite number");
}

void PluginSource::check_leap(std::int64_t from, std::int64_t to, std::int64_t blocks_in_volume) const {
    constexpr std::int64_t max_volumes = std::int64_t{1} << 20;
    constexpr std::int64_t max_blocks = std::int64_t{1} << 60;  // keeps block numbers far from overflow
    if (std::abs(to - from) <= max_volumes && to < max_blocks / blocks_in_volume) return;
    device_->fail(fmt::format("block {}: volume {} after volume {} is too large a jump, expected at most {}", sequence_,
                              to, from, plural(max_volumes, "volumes")));
}

// If the plugin does not count, blocks are consecutive. The marker VOLUME_STARTS continues with the next volume.
void PluginSource::place(const echolux_block& sent, Block& block) {
    const std::int64_t b_scans = scan_.geometry.b_scans;
    const std::int64_t in_volume = (b_scans + stream_.block_b_scans - 1) / stream_.block_b_scans;
    std::int64_t count = next_block_ + sent.lost_before;
    if ((sent.markers & ECHOLUX_VOLUME_STARTS) != 0) count = (count + in_volume - 1) / in_volume * in_volume;
    block.volume = sent.volume >= 0 ? sent.volume : count / in_volume;
    block.first_b_scan = sent.volume >= 0 ? sent.first_b_scan : count % in_volume * stream_.block_b_scans;
    check_leap(next_block_ / in_volume, block.volume, in_volume);
    if (block.b_scans > b_scans - block.first_b_scan) {
        device_->fail(fmt::format("block {}: {} from {} on exceed the {} of a volume", sequence_,
                                  plural(block.b_scans, "B-scans"), block.first_b_scan, b_scans));
    }
    const std::int64_t number = block.volume * in_volume + block.first_b_scan / stream_.block_b_scans;
    block.lost_before = std::max(sent.lost_before, number - next_block_);
    next_block_ = number + 1;
}

}  // namespace

std::unique_ptr<Source> open_plugin(const SourceRequest& wanted) {
    return std::make_unique<PluginSource>(wanted);
}

}  // namespace echolux
