// Pictures and movies of volumes.
#ifndef ECHOLUX_PICTURE_HPP
#define ECHOLUX_PICTURE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "picture.h"
#include "scan.hpp"
#include "volume.hpp"

namespace echolux::api {

// Camera, colours, light and clipping, by the settings of section view.
class View {
  public:
    View() {
        echolux_view* handle = nullptr;
        checked([&](auto* error) { return echolux_view_create(&handle, error); });
        handle_.reset(handle);
    }
    Settings settings() {
        echolux_settings* settings = nullptr;
        checked([&](auto* error) { return echolux_view_settings(get(), &settings, error); });
        return Settings(settings);
    }
    echolux_view* get() const { return handle_.get(); }

  private:
    detail::Owned<echolux_view, echolux_view_free> handle_;
};

// RGBA pixels, rows from the top.
struct Picture {
    std::size_t width = 0, height = 0;
    std::vector<std::uint8_t> rgba;
};

class Renderer {
  public:
    explicit Renderer(const std::string& device = {}) {
        echolux_renderer* handle = nullptr;
        checked([&](auto* error) {
            return echolux_renderer_create(device.empty() ? nullptr : device.c_str(), &handle, error);
        });
        handle_.reset(handle);
    }
    // Renders with the size of view.width and view.height.
    Picture render(const Volume& volume, View& view, const Volume* flow = nullptr) {
        Picture picture;
        picture.width = static_cast<std::size_t>(view.settings().number("view.width"));
        picture.height = static_cast<std::size_t>(view.settings().number("view.height"));
        picture.rgba.resize(picture.width * picture.height * 4);
        checked([&](auto* error) {
            return echolux_render(handle_.get(), volume.get(), flow == nullptr ? nullptr : flow->get(), view.get(),
                                  picture.rgba.data(), picture.rgba.size(), error);
        });
        return picture;
    }

  private:
    detail::Owned<echolux_renderer, echolux_renderer_free> handle_;
};

// Writes a movie of `volume` or, if it is nullptr, of the file `input`.
inline void write_movie(const Volume* volume, const std::string& input, View& view, const std::string& output,
                        echolux_movie movie = make<echolux_movie>(), Progress progress = {}) {
    if (progress) {
        movie.progress = detail::tell;
        movie.user = &progress;
    }
    checked([&](auto* error) {
        return echolux_write_movie(volume == nullptr ? nullptr : volume->get(),
                                   volume == nullptr ? input.c_str() : nullptr, view.get(), &movie, output.c_str(),
                                   error);
    });
}

}  // namespace echolux::api

#endif
