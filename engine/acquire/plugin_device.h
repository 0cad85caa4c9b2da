// An instrument that a plugin has opened. It is closed when nobody holds it any more: the source that streams from it,
// and every block whose memory is the plugin's.
#pragma once

#include <memory>
#include <mutex>
#include <string>

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

    const std::string& name() const { return plugin_.name(); }
    bool plays() const { return plugin_.calls().play != nullptr; }
    bool takes_buffers() const { return plugin_.calls().post != nullptr; }
    bool takes_back() const { return plugin_.calls().release != nullptr; }

    void start();
    void stop() noexcept;
    void post(const echolux_buffer& buffer);
    int next(std::int64_t patience_us, echolux_block& block);  // ECHOLUX_OK, NOTHING_YET or ENDED
    void release(std::uint64_t token) noexcept;
    void play(const echolux_pattern& pattern);

    [[noreturn]] void fail(const std::string& problem) const;

  private:
    static void hear(void* context, int level, const char* text);
    void keep_log(int level, const std::string& line);
    void check(const char* function, int result);

    Plugin plugin_;
    echolux_host host_{};
    echolux_device* device_ = nullptr;

    std::mutex mutex_;  // of what follows
    std::string last_error_;
    int lines_shown_ = 0;
};

// The way of the beam over a volume, as a plugin plays it. Throws Error{device} when the plugin refuses,
// Error{bad_setting} for a scan that has no pattern.
void play_pattern(PluginDevice& device, const Scan& scan);

}  // namespace echolux
