// An instrument that a plugin has opened. It is closed when nobody holds it any more: the source that streams from it,
// and every block whose memory is the plugin's. A plugin that hangs is an error, and is left behind: it keeps what it
// may still use, but nobody waits for it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "engine/acquire/patient_caller.h"
#include "engine/acquire/plugin.h"
#include "engine/scan/scan.h"

namespace echolux {

class PluginDevice {
  public:
    // `stream`: what is wanted, changed to what comes. Throws Error{device}, as all that follows, with what the plugin
    // logged last as an error.
    PluginDevice(const std::filesystem::path& path, const std::string& options, echolux_stream& stream);
    ~PluginDevice();
    PluginDevice(const PluginDevice&) = delete;
    PluginDevice& operator=(const PluginDevice&) = delete;

    const std::string& name() const;
    bool plays() const;
    bool takes_buffers() const;
    bool takes_back() const;

    void start();

    // False: it has not come back, and may go on to use what it was given: keep() that.
    bool stop() noexcept;
    void keep(std::shared_ptr<const void> what);

    void post(const echolux_buffer& buffer);

    // ECHOLUX_OK, NOTHING_YET or ENDED. A call that takes longer than it should goes on: the next one waits for it.
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

    std::shared_ptr<Opened> opened_;  // with the call under way
    PatientCaller caller_;
    const char* function_ = "";  // that was called last, and when
    std::chrono::steady_clock::time_point since_;
    bool is_started_ = false;    // and has not been stopped
    bool next_is_open_ = false;  // next() was called, and what it brought has not been taken
};

// The way of the beam over a volume, as a plugin plays it. Throws Error{device} when the plugin refuses,
// Error{bad_setting} for a scan that has no pattern.
void play_pattern(PluginDevice& device, const Scan& scan);

}  // namespace echolux
