// echolux.h for C++17: handles that free themselves, exceptions, strings and vectors; it adds nothing to the C
// interface, which documents what calls do, their units and shapes. Include path and linking are those of the C
// interface.
#ifndef ECHOLUX_HPP
#define ECHOLUX_HPP

#include "base.hpp"
#include "echolux.h"
#include "live.hpp"
#include "picture.hpp"
#include "reconstruct.hpp"
#include "scan.hpp"
#include "simulate.hpp"
#include "tissue.hpp"
#include "volume.hpp"

#endif
