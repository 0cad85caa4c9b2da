// What a window shows: pictures of the renderer side by side, as they lie on the device, and over them the interface as
// triangles. On the surface of the window that the renderer's device was chosen for, or off screen where there is none.
// Knows nothing of who makes the triangles.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "render/region.h"
#include "render/renderer.h"

namespace echolux {

// A finished or submitted picture and where it stands, in pixels of the screen. It is cut off at the edges, and
// enlarged or reduced where it has another size.
struct ScreenPane {
    Drawing drawing;
    Region place;
};

struct InterfaceVertex {
    float x, y;            // pixels of the screen
    float u, v;            // of the glyphs' picture, 0 to 1
    std::uint32_t colour;  // RGBA8, red in the lowest byte, straight alpha; multiplied by the glyphs' coverage
};

// Triangles that are clipped to one rectangle.
struct InterfacePart {
    std::array<float, 4> clip;  // left, top, right, bottom in pixels
    std::uint32_t first_index;
    std::uint32_t indices;
    std::uint32_t first_vertex;  // that index 0 stands for
};

struct InterfaceMesh {
    std::vector<InterfaceVertex> vertices;
    std::vector<std::uint16_t> indices;
    std::vector<InterfacePart> parts;  // drawn in this order
};

class Screen {
  public:
    // On the surface of the renderer's device where it has one, else off screen. The renderer outlives it. Throws
    // Error{device, out_of_memory}.
    Screen(Renderer& renderer, std::int64_t width, std::int64_t height);
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    bool is_off_screen() const;
    std::int64_t width() const;
    std::int64_t height() const;

    // What glyphs look like: coverage, row by row from the top.
    void set_glyphs(std::int64_t width, std::int64_t height, std::span<const std::uint8_t> coverage);

    void resize(std::int64_t width, std::int64_t height);

    // Shows a picture: background (red, green, blue, 0 to 1), panes in their order, the interface. The host waits only
    // where more than two are under way, and for the window system. False: it could not be shown now (minimised, just
    // resized); try again. Throws Error{device} when the device is lost.
    bool show(std::span<const ScreenPane> panes, const InterfaceMesh& interface,
              const std::array<float, 3>& background);

    // What was shown last, with the interface. Waits for it; counted with the renderer's read-backs.
    Image read();

    // What drawing the interface costs the device, by its own clock, lately; nothing: it keeps no time.
    std::optional<double> interface_seconds() const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
