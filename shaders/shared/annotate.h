// Interface between C++ and annotate.comp: bindings, tiles, and the shapes drawn over a picture.
#ifndef ECHOLUX_SHADERS_SHARED_ANNOTATE_H
#define ECHOLUX_SHADERS_SHARED_ANNOTATE_H

#include "shaders/shared/language.h"

ECHOLUX_SHARED_BEGIN

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

ECHOLUX_LAYOUT(Shape, 48)
ECHOLUX_LAYOUT(AnnotatePart, 20)
ECHOLUX_SHARED_END

#endif
