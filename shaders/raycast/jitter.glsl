// Where between two steps the first sample of a pixel's ray lies, from 0 to 1.

float sample_offset(vec2 pixel) {
    return 0.5;
}
