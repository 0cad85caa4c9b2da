// Draws shapes over a picture of 8 bits per channel.
#version 460
#extension GL_GOOGLE_include_directive : require
#define picture_format rgba8
#include "shaders/shared/annotate.h"
#include "shaders/annotate.glsl"
