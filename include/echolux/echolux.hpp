// C++17 wrapper of echolux.h: handles that free themselves, exceptions, strings and vectors. It adds no features. The C
// headers document what the calls do, their units and their shapes. Include path and linking are those of the C
// interface.
#ifndef ECHOLUX_HPP
#define ECHOLUX_HPP

#include "base.hpp"
#include "echolux.h"
#include "live.hpp"
#include "operations.hpp"
#include "picture.hpp"
#include "reconstruct.hpp"
#include "scan.hpp"
#include "simulate.hpp"
#include "volume.hpp"

#endif
