// Pixels of the user interface: the triangle's colour with its opacity scaled by the glyph texture.
#version 460

layout(set = 0, binding = 0) uniform sampler2D glyphs;

layout(location = 0) in vec2 glyph_at;
layout(location = 1) in vec4 colour_at;

layout(location = 0) out vec4 seen;

void main() {
    seen = vec4(colour_at.rgb, colour_at.a * texture(glyphs, glyph_at).r);
}
