// Draws shapes over a picture of floats, which is later saved with 16 bits per channel.
#version 460
#extension GL_GOOGLE_include_directive : require
#define picture_format rgba32f
#include "shaders/shared/annotate.h"
#include "shaders/annotate.glsl"
