// Interface between C++ and annotate.comp: bindings, tiles, and the shapes drawn over a picture.
#ifndef ECHOLUX_SHADERS_SHARED_ANNOTATE_H
#define ECHOLUX_SHADERS_SHARED_ANNOTATE_H

#ifdef __cplusplus
#include <cstdint>
#include <glm/vec2.hpp>
#include <glm/vec4.hpp>
namespace echolux::shared {
using vec2 = glm::vec2;
using vec4 = glm::vec4;
using uvec4 = glm::uvec4;
using uint = std::uint32_t;
#define ECHOLUX_CONST inline constexpr int
#else
#define ECHOLUX_CONST const int
#endif

ECHOLUX_CONST annotate_shapes = 0;
ECHOLUX_CONST annotate_tiles = 1;     // left, top in tiles of the region; first and end index in the list
ECHOLUX_CONST annotate_list = 2;      // indices of shapes in drawing order
ECHOLUX_CONST annotate_coverage = 3;  // of glyphs, four pixels per word
ECHOLUX_CONST annotate_picture = 4;
ECHOLUX_CONST annotate_binding_count = 5;

ECHOLUX_CONST annotate_tile = 16;   // in pixels; one workgroup
ECHOLUX_CONST annotate_row = 1024;  // workgroups per row of the dispatch

ECHOLUX_CONST shape_line = 0;
ECHOLUX_CONST shape_rectangle = 1;
ECHOLUX_CONST shape_triangle = 2;
ECHOLUX_CONST shape_glyph = 3;

// In pixels from the picture's top left corner.
struct Shape {
    vec4 at;      // line: ends; triangle: two corners; else left, top, right, bottom
    vec4 colour;  // RGB, opacity
    vec2 more;    // line: width; triangle: third corner, clockwise on the screen
    uint kind;
    uint coverage;  // glyph: index of its first word
};

struct AnnotatePart {
    vec4 region;  // left, top, width, height of the drawn region
    uint tiles;
};

#ifdef __cplusplus
static_assert(sizeof(Shape) == 48 && sizeof(AnnotatePart) == 20, "the layout of std430");
}  // namespace echolux::shared
#endif
#undef ECHOLUX_CONST

#endif
