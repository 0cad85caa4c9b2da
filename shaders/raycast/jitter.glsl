// Offset of a pixel's first sample within a step, 0 to 1. Blue noise shifted by the golden ratio per pass, so that
// neighbouring pixels and successive passes differ as much as possible.

float sample_offset(vec2 pixel) {
    if (!jittered) return 0.5;
    ivec2 cell = ivec2(pixel / frame.pass.cell_edge) & (noise_edge - 1);
    return fract(texelFetch(noise, cell, 0).r + frame.pass.noise_offset);
}
