// A GigE Vision camera emulated by Aravis on this machine's network. Its images encode their number.
#pragma once

#include <arv.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>

namespace echolux {

inline constexpr ArvPixelFormat mono_12p = 0x010c0047;  // not defined by Aravis 0.8
inline constexpr const char* camera_id = "Aravis-Fake-E01";

// Gives the threads started from now on a separate network, in which the fixed control port of GigE Vision is free.
// Returns false if the system does not allow it.
inline bool has_own_network() {
    static const bool has = [] {
        if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
        const int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        ifreq loopback{};
        std::strncpy(loopback.ifr_name, "lo", sizeof loopback.ifr_name - 1);
        loopback.ifr_flags = IFF_UP | IFF_RUNNING;
        const bool is_up = ioctl(any, SIOCSIFFLAGS, &loopback) == 0;
        close(any);
        return is_up;
    }();
    return has;
}

// Serialises tests that share a network.
class OneAtATime {
  public:
    OneAtATime() {
        if (has_own_network()) return;
        descriptor_ = open((std::filesystem::temp_directory_path() / "echolux-gige-vision").c_str(),
                           O_CREAT | O_RDWR | O_CLOEXEC, 0666);
        flock(descriptor_, LOCK_EX);
    }
    ~OneAtATime() {
        if (descriptor_ >= 0) close(descriptor_);
    }
    OneAtATime(const OneAtATime&) = delete;
    OneAtATime& operator=(const OneAtATime&) = delete;

  private:
    int descriptor_ = -1;
};

// Value of a pixel in 12 bits. Narrower formats use the low bits.
inline int pixel(std::uint64_t image, std::int64_t index) {
    return static_cast<int>((image * 29 + static_cast<std::uint64_t>(index) * 5 + 3) % 4096);
}

class FakeCamera {
  public:
    explicit FakeCamera(const char* genicam = nullptr)
        : camera_(arv_gv_fake_camera_new_full("127.0.0.1", "E01", genicam)) {
        arv_fake_camera_set_fill_pattern(registers(), fill, this);
    }
    ~FakeCamera() { g_object_unref(camera_); }
    FakeCamera(const FakeCamera&) = delete;
    FakeCamera& operator=(const FakeCamera&) = delete;

    bool is_running() const { return arv_gv_fake_camera_is_running(camera_) != FALSE; }
    ArvFakeCamera* registers() const { return arv_gv_fake_camera_get_fake_camera(camera_); }
    std::uint32_t at(std::uint32_t address) const {
        std::uint32_t value = 0;
        arv_fake_camera_read_register(registers(), address, &value);
        return value;
    }

    void lose_packets(double part) { g_object_set(camera_, "gvsp-lost-ratio", part, nullptr); }

  private:
    static void fill(ArvBuffer* buffer, void* fake, guint32, guint32, ArvPixelFormat format) {
        auto* self = static_cast<FakeCamera*>(fake);
        auto* out = static_cast<std::uint8_t*>(const_cast<void*>(arv_buffer_get_data(buffer, nullptr)));
        const std::size_t bytes = arv_fake_camera_get_payload(self->registers());
        const std::uint64_t image = self->images_++;
        const auto at = [&](std::size_t index) { return pixel(image, static_cast<std::int64_t>(index)); };
        if (format == ARV_PIXEL_FORMAT_MONO_8) {
            for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::uint8_t>(at(i));
        } else if (format == ARV_PIXEL_FORMAT_MONO_16 || format == ARV_PIXEL_FORMAT_MONO_12) {
            for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::uint8_t>(at(i / 2) >> i % 2 * 8);
        } else {
            for (std::size_t i = 0; i + 2 < bytes; i += 3) {
                const int a = at(i / 3 * 2);
                const int b = at(i / 3 * 2 + 1);
                const bool is_gev = format == ARV_PIXEL_FORMAT_MONO_12_PACKED;
                out[i] = static_cast<std::uint8_t>(is_gev ? a >> 4 : a);
                out[i + 1] = static_cast<std::uint8_t>(is_gev ? (a & 15) | (b & 15) << 4 : a >> 8 | (b & 15) << 4);
                out[i + 2] = static_cast<std::uint8_t>(b >> 4);
            }
        }
    }

    std::uint64_t images_ = 0;  // used by the camera's thread only
    ArvGvFakeCamera* camera_;
};

}  // namespace echolux
