// Random numbers of a path: the same for a pixel and a path whatever else is drawn, in whichever tiles and order.
#include "shaders/shared/philox.h"

uvec2 random_pixel;       // number of the pixel, number of its path
uint random_draws = 0u;  // so far

vec4 draw() {
    return uniform_numbers(philox(uvec4(random_pixel, random_draws++, 0u), frame.trace.random.xw));
}

// What a path decides first matters most: up to its first scattering, and the lamp's light there, the numbers of a pixel's paths
// are spread evenly, by steps of the roots of primes (R. Richtmyer, 1951), shifted at random from pixel to pixel (R. Cranley,
// T. Patterson, SIAM J. Numer. Anal. 13(6), 1976): each by itself is as random as any other.
const uint decision_flight = 0u, decision_scattering = 1u, decision_facet = 2u, decision_light = 3u;
const uvec4 decision_steps[4] = {
    uvec4(0x6A09E667u, 0xBB67AE85u, 0x3C6EF372u, 0xA54FF53Au),
    uvec4(0x510E527Fu, 0x9B05688Cu, 0x1F83D9ABu, 0x5BE0CD19u),
    uvec4(0xCBBB9D5Du, 0x629A292Au, 0x9159015Au, 0x152FECD8u),
    uvec4(0x67332667u, 0x8EB44A87u, 0xDB0C2E0Du, 0x47B5481Du)};
bool is_first_decision = frame.trace.lens.w > 0.0;

vec4 draw_for(uint decision) {
    uvec4 counter = is_first_decision ? uvec4(random_pixel.x, decision, 0u, 1u) : uvec4(random_pixel, random_draws++, 0u);
    uvec4 spread = is_first_decision ? random_pixel.y * decision_steps[decision] : uvec4(0);
    return uniform_numbers(philox(counter, frame.trace.random.xw) + spread);
}
