// Shapes over a picture of floats, from which one of 16 bits a channel is made.
#version 460
#extension GL_GOOGLE_include_directive : require
#define picture_format rgba32f
#include "shaders/shared/annotate.h"
#include "shaders/annotate.glsl"
