// Random numbers of a path: the same for a pixel and a path whatever else is drawn, in whichever tiles and order.
#include "shaders/shared/philox.h"

uvec2 random_pixel;       // number of the pixel, number of its path
uint random_draws = 0u;  // so far

vec4 draw() {
    return uniform_numbers(philox(uvec4(random_pixel, random_draws++, 0u), frame.trace.random.xw));
}
