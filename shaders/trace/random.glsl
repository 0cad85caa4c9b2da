// Random numbers of a path. They depend on the pixel and the number of the path only, not on tiles or order of work.
#include "shaders/shared/philox.h"

uvec2 random_pixel;       // number of the pixel, number of the path
uvec2 random_place;       // column and row of the pixel
uint random_draws = 0u;  // number of previous draws

uvec2 random_key() {
    return uvec2(frame.trace.seed, frame.trace.movie_frame);
}

vec4 draw() {
    return uniform_numbers(philox(uvec4(random_pixel, random_draws++, 0u), random_key()));
}

// The first decisions of a path have the largest effect: up to its first scattering, and the choice of a light there.
// For them, the paths of a pixel use low-discrepancy sequences with steps of the roots of primes (R. Richtmyer, 1951),
// shifted at random per pixel (R. Cranley, T. Patterson, SIAM J. Numer. Anal. 13(6), 1976). Each number by itself is
// still uniformly distributed.
const uint decision_flight = 0u, decision_scattering = 1u, decision_facet = 2u, decision_light = 3u;
const uvec4 decision_steps[4] = {
    uvec4(0x6A09E667u, 0xBB67AE85u, 0x3C6EF372u, 0xA54FF53Au),
    uvec4(0x510E527Fu, 0x9B05688Cu, 0x1F83D9ABu, 0x5BE0CD19u),
    uvec4(0xCBBB9D5Du, 0x629A292Au, 0x9159015Au, 0x152FECD8u),
    uvec4(0x67332667u, 0x8EB44A87u, 0xDB0C2E0Du, 0x47B5481Du)};
bool is_first_decision;

// Starts the random numbers of a pixel of the whole picture. Pixel numbers have less than 32 bits, so the comparison is
// with 0. It avoids a branch on the frame alone (shaders/raycast/pixel.glsl).
void begin_draws(uvec2 place) {
    random_place = place;
    random_pixel = uvec2(place.y * frame.trace.width + place.x, frame.trace.path_number);
    is_first_decision = frame.trace.spreads_paths > float(random_pixel.x >> 31);
}

// Returns the random shift of a pixel. Neighbouring pixels differ as much as possible (blue noise: I. Georgiev, M.
// Fajardo, "Blue-noise dithered sampling", SIGGRAPH Talks 2016), so that the denoiser and the eye average their errors
// out. Each decision and seed reads the noise at another offset to make all numbers equally likely. The noise has few
// bits; the lower ones are random.
uvec4 start_of(uint decision) {
    const int noise_bits = 2 * noise_edge_bits;
    uvec4 drawn = philox(uvec4(random_pixel.x, decision, 0u, 1u), random_key());
    uvec4 shift = philox(uvec4(decision, 0u, 0u, 2u), random_key());
    uvec4 spread;
    for (int i = 0; i < 4; ++i) {
        uvec2 cell = (random_place + uvec2(shift[i], shift[i] >> 16)) & uint(noise_edge - 1);
        uint number = uint(texelFetch(noise, ivec2(cell), 0).r * float(1 << noise_bits));
        spread[i] = number << (32 - noise_bits) | drawn[i] >> noise_bits;
    }
    return mix(drawn, spread, bvec4(frame.trace.spreads_paths > 1.0));
}

// Returns numbers of the low-discrepancy sequence for first decisions, else random numbers.
vec4 draw_for(uint decision) {
    uvec4 bits = is_first_decision ? start_of(decision) + random_pixel.y * decision_steps[decision]
                                   : philox(uvec4(random_pixel, random_draws++, 0u), random_key());
    return uniform_numbers(bits);
}
