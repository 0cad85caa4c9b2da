// An instrument opened by a plugin. It is closed when its last owner is gone: the source, and all blocks in the
// plugin's memory. A plugin that hangs is reported as an error and abandoned, together with everything it may still
// use.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "engine/acquire/patient_caller.h"
#include "engine/acquire/plugin.h"
#include "engine/scan/scan.h"

namespace echolux {

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
    bool takes_buffers() const;
    bool takes_back() const;

    void start();

    // Returns false if the call hangs; then pass everything that the plugin may still use to keep().
    bool stop() noexcept;
    void keep(std::shared_ptr<const void> what);

    void post(const echolux_buffer& buffer);

    // Returns ECHOLUX_OK, NOTHING_YET or ENDED. If the plugin's function takes too long, it continues in the background
    // and the next call waits for it.
    int next(std::chrono::microseconds patience, echolux_block& block);
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

}  // namespace echolux
