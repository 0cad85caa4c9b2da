/* Echolux as a library: reconstructs spectra of optical coherence tomography to volumes on a CPU or GPU. This header
 * includes the whole C interface; each header beside it covers one kind of handle. docs/library.md is the tutorial.
 * echolux.hpp is the C++17 interface.
 *
 * Errors: every call returns an echolux_status and fills `error` unless it is NULL: problem, location and remedy. No
 * call throws, exits, prints or uses global state.
 *
 * Threads: use a handle from one thread at a time. Different handles may be used concurrently.
 *
 * Ownership: memory returned by a call is owned by its handle unless stated otherwise.
 *
 * Structs: structs passed by pointer begin with their size, by which later versions can extend them. Set it to sizeof,
 * or use ECHOLUX_INIT, which also clears the other fields: 0 is the default of all. Also set echolux_error.size.
 *
 * Texts are UTF-8 and end with 0. Calls that return a text write it to `buffer` of `size` bytes and set `*needed` (may
 * be NULL) to its length including the 0. Use size 0 to query the length. If the buffer is too small, it receives the
 * beginning and the call returns ECHOLUX_BAD_ARGUMENT.
 *
 * Memory order of volumes: depth fastest, then A-scans, then B-scans. */
#ifndef ECHOLUX_H
#define ECHOLUX_H

#include "base.h"
#include "calibrate.h"
#include "live.h"
#include "operations.h"
#include "picture.h"
#include "reconstruct.h"
#include "scan.h"
#include "simulate.h"
#include "volume.h"

#endif
