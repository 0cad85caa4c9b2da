// Outlines where a surface turns away from the eye (D. Ebert, P. Rheingans, "Volume illustration: non-photorealistic
// rendering of volume models", IEEE Visualization 2000), weighted by the trust in the gradient.

vec3 outlined(vec3 colour, vec3 normal, vec3 unit, float trust) {
    float turned_away = pow(clamp(1.0 - abs(dot(normal, unit)), 0.0, 1.0), frame.studio.outline_sharpness);
    return mix(colour, frame.studio.outline_colour, frame.studio.outline_strength * trust * turned_away);
}
