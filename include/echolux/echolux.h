/* Echolux as a library: spectra of optical coherence tomography to volumes, on a CPU or a GPU. docs/library.md is the
 * tutorial; echolux.hpp is the same for C++. This includes all of it; each header beside it is about one kind of
 * handle.
 *
 * Every call returns an echolux_status and, where `error` is not NULL, fills it in: what is wrong, where, and what to
 * do about it. Nothing throws, exits, prints or keeps global state. A handle is used by one thread at a time; different
 * handles by different threads. Memory that a call gives belongs to the handle it came from, unless it says otherwise.
 *
 * Structs passed by pointer begin with their size: set it to sizeof (ECHOLUX_INIT does, and clears the rest). What a
 * caller's older, shorter struct lacks has its default, which is 0 in every field; echolux_error.size must be set too.
 *
 * Texts are UTF-8 and end with 0. Calls that return a text write it to `buffer` of `size` bytes and set `*needed` (may
 * be NULL) to its length with the 0. Size 0 only asks for the length; a buffer that is too small is
 * ECHOLUX_BAD_ARGUMENT and receives the beginning. Memory order of volumes: depth fastest, then A-scans, then B-scans.
 */
#ifndef ECHOLUX_H
#define ECHOLUX_H

#include "base.h"
#include "calibrate.h"
#include "live.h"
#include "picture.h"
#include "reconstruct.h"
#include "scan.h"
#include "simulate.h"
#include "tissue.h"
#include "volume.h"

#endif
