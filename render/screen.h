// The content of a window: pictures of the renderer side by side, copied on the device, with the user interface as
// triangles over them. Presented to the surface of the renderer's device, or off screen without one. Independent of the
// code that creates the triangles.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "render/picture.h"
#include "render/renderer.h"

namespace echolux {

// A finished or submitted picture and its rectangle in pixels of the screen. It is clipped at the screen's edges, and
// scaled if the sizes differ.
struct ScreenPane {
    Drawing drawing;
    Region place;
};

struct InterfaceVertex {
    float x, y;            // pixels of the screen
    float u, v;            // texture coordinates of the glyphs, 0 to 1
    std::uint32_t colour;  // RGBA8, red in the lowest byte, straight alpha; multiplied by the glyph coverage
};

// Triangles with a common clip rectangle.
struct InterfacePart {
    std::array<float, 4> clip;  // left, top, right, bottom in pixels
    std::uint32_t first_index;
    std::uint32_t indices;
    std::uint32_t first_vertex;  // vertex of index 0
};

struct InterfaceMesh {
    std::vector<InterfaceVertex> vertices;
    std::vector<std::uint16_t> indices;
    std::vector<InterfacePart> parts;  // in drawing order
};

class Screen {
  public:
    // Creates a screen on the surface of the renderer's device, or off screen without one. The renderer must outlive
    // it. Throws Error{device, out_of_memory}.
    Screen(Renderer& renderer, std::int64_t width, std::int64_t height);
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    bool is_off_screen() const;
    std::int64_t width() const;
    std::int64_t height() const;

    // Sets the glyph texture: coverage, row by row from the top.
    void set_glyphs(std::int64_t width, std::int64_t height, std::span<const std::uint8_t> coverage);

    // Waits for pictures in flight if the size changes.
    void resize(std::int64_t width, std::int64_t height);

    // Shows a picture: background (red, green, blue, 0 to 1), then the panes in order, then the user interface. The
    // host waits only if more than two pictures are in flight, and for the window system. Returns false if it could not
    // be shown now (minimised, just resized); try again. Throws Error{device} if the device is lost.
    bool show(std::span<const ScreenPane> panes, const InterfaceMesh& interface,
              const std::array<float, 3>& background);

    // Reads the last picture back, including the user interface. Waits for it; counted with the renderer's read-backs.
    Image read();

    // Returns the device time of a recent drawing of the user interface. Empty if the device has no timestamps.
    std::optional<double> interface_seconds() const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
