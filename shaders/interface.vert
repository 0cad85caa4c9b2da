// Vertices of the user interface: converts screen pixels to clip coordinates.
#version 460

layout(push_constant) uniform Screen { vec2 per_pixel; };  // 2 / size

layout(location = 0) in vec2 pixel;
layout(location = 1) in vec2 glyph;
layout(location = 2) in vec4 colour;

layout(location = 0) out vec2 glyph_at;
layout(location = 1) out vec4 colour_at;

void main() {
    glyph_at = glyph;
    colour_at = colour;
    gl_Position = vec4(pixel * per_pixel - 1.0, 0.0, 1.0);
}
