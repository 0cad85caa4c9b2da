/* Live sessions: a source that is reconstructed while it acquires. */
#ifndef ECHOLUX_LIVE_H
#define ECHOLUX_LIVE_H

#include "reconstruct.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Stops and frees the session. Must not be called from its callback. An active recording is finished. */
ECHOLUX_API echolux_status echolux_live_free(echolux_live* live);

/* ---- live ------------------------------------------------------------------------------------------------------- */

/* Delivery of volumes.
 * NEWEST: the next volume replaces one that has not been taken. Blocks that arrive faster than they can be
 * reconstructed are skipped.
 * EVERY: all volumes are kept, and the faster side waits. A source that cannot wait (a camera, a paced replay) loses
 * blocks once its pool is full, and counts them. */
enum { ECHOLUX_NEWEST = 0, ECHOLUX_EVERY = 1 };

/* Receives finished volumes on a thread of the session. The callback owns both volumes and may free them at any time.
 * `flow` is NULL without flow. The session waits for its callback, so echolux_live_free() there returns
 * ECHOLUX_BAD_ARGUMENT. */
typedef void (*echolux_volume_callback)(void* user, echolux_volume* structure, echolux_volume* flow);

typedef struct echolux_live_options {
    size_t size;
    const echolux_device* device;     /* NULL: ECHOLUX_DEVICE_AUTO */
    int32_t delivery;                 /* ECHOLUX_NEWEST or ECHOLUX_EVERY */
    int32_t queue;                    /* EVERY: number of volumes that may wait to be taken; 0: 2 */
    echolux_volume_callback finished; /* NULL: volumes are taken with echolux_live_next() */
    void* user;
    const echolux_stages* stages; /* NULL: the stages of the scan, if any */
    double keep_gb;               /* memory for recent volumes; 0: `source.keep_gb` of echolux_live_open() */
} echolux_live_options;

/* Opens a source: sim[:SCENE], sim:scan.toml, replay:scan.toml, genicam[:ID], gentl:FILE.cti, plugin:FILE.so,
 * shm:NAME, tcp://ADDRESS:PORT, join:A+B or interleave:A+B. `scan_toml` (may be NULL) describes the data of a camera or
 * plugin. `assignments` are of the sections source, simulation, scan, recipe ... `options` may be NULL. */
ECHOLUX_API echolux_status echolux_live_open(const char* source, const char* scan_toml, const char* const* assignments,
                                             size_t count, const echolux_live_options* options, echolux_live** live,
                                             echolux_error* error);

/* Creates a session for blocks from the caller, passed to echolux_live_push() in the layout of `scan`. A block has at
 * most `block_b_scans` positions; 0: no limit. An open noise floor is measured from the first block. */
ECHOLUX_API echolux_status echolux_live_create(const echolux_scan* scan, int64_t block_b_scans,
                                               const echolux_live_options* options, echolux_live** live,
                                               echolux_error* error);

/* Starts acquisition. It ends after `volumes`; 0: when the source ends. */
ECHOLUX_API echolux_status echolux_live_start(echolux_live* live, int64_t volumes, echolux_error* error);

/* Stops acquisition. Acquired blocks are still reconstructed and can be taken. Pushed blocks that have not been
 * acquired are discarded. After a restart, volume numbers and time begin at 0, and blocks can be pushed even after
 * echolux_live_end(). */
ECHOLUX_API echolux_status echolux_live_stop(echolux_live* live, echolux_error* error);

/* Waits until the session is idle: everything acquired has been reconstructed, or is waiting for a volume to be taken.
 * While idle, no stage or callback is called until more is acquired or taken. ECHOLUX_NOTHING_YET: not idle within
 * `timeout_ms`; a session that was not stopped may never be idle. Must not be called from its callback or stages. */
ECHOLUX_API echolux_status echolux_live_wait(echolux_live* live, int32_t timeout_ms, echolux_error* error);

/* Queues a copy of the block's spectra. Can be called from any thread. The block must be in host memory with
 * ECHOLUX_SYNC_NONE. Blocks of a volume must arrive in order. Blocks pushed while the session is stopped are used first
 * after the start. ECHOLUX_NOTHING_YET: no room within `timeout_ms`; the block was not queued. */
ECHOLUX_API echolux_status echolux_live_push(echolux_live* live, const echolux_block* block, int32_t timeout_ms,
                                             echolux_error* error);

/* Announces that no more blocks will be pushed. */
ECHOLUX_API echolux_status echolux_live_end(echolux_live* live, echolux_error* error);

/* Returns the next finished volume, which the caller must free. Can be called from any thread. `flow` may be NULL.
 * ECHOLUX_NOTHING_YET: none within `timeout_ms`. ECHOLUX_ENDED: all have been taken. */
ECHOLUX_API echolux_status echolux_live_next(echolux_live* live, int32_t timeout_ms, echolux_volume** structure,
                                             echolux_volume** flow, echolux_error* error);

/* ---- recent volumes ----------------------------------------------------------------------------------------------

 * With keep_gb in the options, or `source.keep_gb` in the assignments of echolux_live_open(), the session keeps as many
 * recent volumes as fit into that memory, whether taken or not. They share voxels with the volumes that were taken.
 * These functions can be called from any thread. */

/* Sets `*time_points` to the number of volumes kept now. */
ECHOLUX_API echolux_status echolux_live_kept(echolux_live* live, int64_t* time_points, echolux_error* error);

/* Returns kept volume `time_point` (0: the oldest), which the caller must free. `flow` may be NULL. The set of kept
 * volumes is then frozen until echolux_live_play(). New volumes are still delivered, but not kept. */
ECHOLUX_API echolux_status echolux_live_go_to(echolux_live* live, int64_t time_point, echolux_volume** structure,
                                              echolux_volume** flow, echolux_error* error);

/* Resumes keeping new volumes after echolux_live_go_to(). */
ECHOLUX_API echolux_status echolux_live_play(echolux_live* live, echolux_error* error);

/* Writes the kept volumes of the last `seconds` (0: all) with their times as one series. `*volumes` (may be NULL) is
 * their number. An existing file is replaced. */
ECHOLUX_API echolux_status echolux_live_save_kept(echolux_live* live, const char* path, double seconds,
                                                  int64_t* volumes, echolux_error* error);

/* Returns a new scan without a file that describes the source and its current processing: sizes, calibration, settings.
 * The caller must free it. */
ECHOLUX_API echolux_status echolux_live_scan(echolux_live* live, echolux_scan** scan, echolux_error* error);

/* Changes a setting, effective from a later volume. Sections: recipe, flow, nufft, defr, compressive, filter and
 * registration. With `shown` of filter and registration, volumes are filtered and stabilised before delivery. If no
 * newer volume arrives, the last one is reconstructed again and delivered with the same number and time. */
ECHOLUX_API echolux_status echolux_live_set(echolux_live* live, const char* key, const char* value,
                                            echolux_error* error);

/* Describes a statistic of sessions. Texts are static. */
typedef struct echolux_stat {
    size_t size;
    const char* key; /* "arrived.lost_blocks"; docs/statistics.md lists them */
    const char* unit;
    const char* help;
    int32_t type; /* ECHOLUX_FLAG, ECHOLUX_INTEGER or ECHOLUX_NUMBER */
} echolux_stat;

/* Sets `*count` to the number of statistics. */
ECHOLUX_API echolux_status echolux_live_stat_count(size_t* count, echolux_error* error);

/* Describes statistic `index`, from 0 to count - 1. */
ECHOLUX_API echolux_status echolux_live_stat_describe(size_t index, echolux_stat* stat, echolux_error* error);

/* Returns a statistic: a counter since the start, a current rate, or a flag (0 or 1). Those of `recorder` are of the
 * current recording, otherwise of the last one. Can be called from any thread. */
ECHOLUX_API echolux_status echolux_live_stat(echolux_live* live, const char* key, double* value, echolux_error* error);

/* Copies up to `capacity` statistics of one moment, in the order of their indices. `*count` (may be NULL) is the number
 * available. Can be called from any thread. */
ECHOLUX_API echolux_status echolux_live_stats(echolux_live* live, double* values, size_t capacity, size_t* count,
                                              echolux_error* error);

/* Starts a recording with the next volume. All blocks are written to NAME.toml, NAME.raw, NAME.index.csv and
 * calibration files beside them. However the recording ends, the result can be opened like other scans. Spectra are
 * striped over the disk of `scan_toml` and `count` further disks (0: none), each given by a folder on it. An existing
 * recording is replaced only with `overwrite`. Only one recording can be active. */
ECHOLUX_API echolux_status echolux_live_record(echolux_live* live, const char* scan_toml, const char* const* folders,
                                               size_t count, int32_t overwrite, echolux_error* error);

/* Ends the recording and waits until it is on disk. The statistics of `recorder` then are its result. If no block was
 * recorded, no file remains. */
ECHOLUX_API echolux_status echolux_live_stop_recording(echolux_live* live, echolux_error* error);

/* Writes the events since the last call with a sufficient buffer, one per line. */
ECHOLUX_API echolux_status echolux_live_events(echolux_live* live, char* buffer, size_t size, size_t* needed,
                                               echolux_error* error);

#ifdef __cplusplus
}
#endif
#endif
