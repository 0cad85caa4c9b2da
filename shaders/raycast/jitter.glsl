// Where between two steps the first sample of a pixel's ray lies, from 0 to 1. Blue noise, shifted by the golden section
// from pass to pass: neighbours in the picture and passes in succession differ as much as they can.

float sample_offset(vec2 pixel) {
    if (!jittered) return 0.5;
    ivec2 cell = ivec2(pixel / frame.pass.spot.z) & (noise_edge - 1);
    return fract(texelFetch(noise, cell, 0).r + frame.pass.share.y);
}
