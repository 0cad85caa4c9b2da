/* Live: a source, reconstructed while it acquires. */
#ifndef ECHOLUX_LIVE_H
#define ECHOLUX_LIVE_H

#include "reconstruct.h"

#ifdef __cplusplus
extern "C" {
#endif

ECHOLUX_API echolux_status echolux_live_free(echolux_live* live); /* stops it; not in its callback */

/* ---- live ------------------------------------------------------------------------------------------------------- */

/* NEWEST: a volume that has not been taken is replaced by the next one, and blocks that arrive faster than they can be
 * reconstructed are left out. EVERY: all volumes are kept, and the faster side waits; a source that cannot wait (a
 * camera, a paced replay) loses blocks, and counts them, once its pool is full. */
enum { ECHOLUX_NEWEST = 0, ECHOLUX_EVERY = 1 };

/* On a thread of the session. Both volumes are the callee's, to be freed at any time; `flow` may be NULL. The session
 * waits for its callback, so it cannot be freed there: ECHOLUX_BAD_ARGUMENT. */
typedef void (*echolux_volume_callback)(void* user, echolux_volume* structure, echolux_volume* flow);

typedef struct echolux_live_options {
    size_t size;
    const echolux_device* device;     /* NULL: ECHOLUX_DEVICE_AUTO */
    int32_t delivery;                 /* ECHOLUX_NEWEST or ECHOLUX_EVERY */
    int32_t queue;                    /* EVERY: volumes that may wait to be taken; 0: 2 */
    echolux_volume_callback finished; /* NULL: echolux_live_next() takes them */
    void* user;
    const echolux_stages* stages; /* NULL: those of the scan, where there is one */
    double keep_gb;               /* memory for the last volumes; 0: `source.keep_gb` of echolux_live_open() */
} echolux_live_options;

/* `source`: sim[:SCENE], sim:scan.toml, replay:scan.toml, genicam[:ID], plugin:FILE.so, shm:NAME, tcp://ADDRESS:PORT,
 * join:A+B, interleave:A+B. `scan_toml` (may be NULL) describes what a camera or plugin sends. `assignments` of
 * sections source, simulation, scan, recipe ... `options` may be NULL. */
ECHOLUX_API echolux_status echolux_live_open(const char* source, const char* scan_toml, const char* const* assignments,
                                             size_t count, const echolux_live_options* options, echolux_live** live,
                                             echolux_error* error);

/* The caller's own blocks, given by echolux_live_push(), as `scan` describes them; at most `block_b_scans` positions
 * each, 0: any number. A noise floor that is open is measured from the first block. */
ECHOLUX_API echolux_status echolux_live_create(const echolux_scan* scan, int64_t block_b_scans,
                                               const echolux_live_options* options, echolux_live** live,
                                               echolux_error* error);

/* Ends by itself after `volumes`; 0: when the source does. */
ECHOLUX_API echolux_status echolux_live_start(echolux_live* live, int64_t volumes, echolux_error* error);

/* Stops acquisition. Blocks already acquired are still reconstructed, and can be taken. Blocks that were pushed and not
 * acquired yet are left out. After another start volumes and time count from 0 again, and blocks can be pushed also
 * where they had ended. */
ECHOLUX_API echolux_status echolux_live_stop(echolux_live* live, echolux_error* error);

/* Waits until nothing is worked on: what was acquired is reconstructed, or waits for room until a volume is taken. Then
 * no stage and no callback is called before something else is acquired or taken. ECHOLUX_NOTHING_YET: it took longer
 * than `timeout_ms`; a session that was not stopped may never rest. Not in its callback or stages. */
ECHOLUX_API echolux_status echolux_live_wait(echolux_live* live, int32_t timeout_ms, echolux_error* error);

/* From any thread: a copy of the block's spectra (host memory, no `sync`) joins the queue. Blocks of a volume come in
 * their order. What was pushed while the session was stopped comes first when it starts.
 * ECHOLUX_NOTHING_YET: there was no room within `timeout_ms`; the block is not taken. */
ECHOLUX_API echolux_status echolux_live_push(echolux_live* live, const echolux_block* block, int32_t timeout_ms,
                                             echolux_error* error);
ECHOLUX_API echolux_status echolux_live_end(echolux_live* live, echolux_error* error); /* no more will be pushed */

/* From any thread. The next finished volume, the caller's to free; `flow` may be NULL. ECHOLUX_NOTHING_YET within
 * `timeout_ms`; ECHOLUX_ENDED when all were taken. */
ECHOLUX_API echolux_status echolux_live_next(echolux_live* live, int32_t timeout_ms, echolux_volume** structure,
                                             echolux_volume** flow, echolux_error* error);

/* ---- the last volumes: interface version 5

 * With keep_gb among its options, or `source.keep_gb` among the assignments of echolux_live_open(), the session keeps
 * as many of its last volumes as fit into that memory, taken or not; they share their voxels with those that were
 * taken. From any thread. */

/* How many there are now. */
ECHOLUX_API echolux_status echolux_live_kept(echolux_live* live, int64_t* time_points, echolux_error* error);

/* The volume `time_point` of them, 0: the oldest; the caller's to free; `flow` may be NULL. From then on the same
 * volumes are kept and newer ones, which are delivered as ever, pass by, until echolux_live_play(). */
ECHOLUX_API echolux_status echolux_live_go_to(echolux_live* live, int64_t time_point, echolux_volume** structure,
                                              echolux_volume** flow, echolux_error* error);
ECHOLUX_API echolux_status echolux_live_play(echolux_live* live, echolux_error* error);

/* Writes those of the last `seconds`, 0: all, as one series with their times; `volumes`, which may be NULL, says how
 * many. A file that is there is replaced. */
ECHOLUX_API echolux_status echolux_live_save_kept(echolux_live* live, const char* path, double seconds,
                                                  int64_t* volumes, echolux_error* error);

/* What the source sends and how it is processed now, without a file: sizes, calibration, settings. */
ECHOLUX_API echolux_status echolux_live_scan(echolux_live* live, echolux_scan** scan, echolux_error* error);

/* Takes effect with a later volume; sections recipe, flow, nufft, defr, compressive; filter and registration, whose
 * `shown` has volumes filtered and stabilised before they are delivered. Where nothing newer comes, the
 * last volume is made again and delivered once more, with the same number and time. */
ECHOLUX_API echolux_status echolux_live_set(echolux_live* live, const char* key, const char* value,
                                            echolux_error* error);

typedef struct echolux_live_stats {
    size_t size;
    int32_t running;
    int32_t ended; /* the source has no more blocks */
    double seconds;
    int64_t acquired_blocks, acquired_volumes, acquired_a_scans;
    int64_t lost_blocks;                                    /* by the source */
    int64_t finished_volumes;                               /* reconstructed whole */
    int64_t left_out_volumes;                               /* skipped in favour of newer ones, incomplete, or failed */
    int64_t overwritten_volumes;                            /* finished, but not taken in time */
    double acquired_a_scans_per_s, processed_a_scans_per_s; /* lately */
    double load;                                            /* share of the time that reconstruction takes */
    int64_t recorded_blocks;                                /* of the recording that is under way */
    int64_t not_recorded_blocks; /* lost by the source, or by a disk that is full or too slow */
    int32_t recording;
    int32_t reserved;
} echolux_live_stats;

ECHOLUX_API echolux_status echolux_live_get_stats(echolux_live* live, echolux_live_stats* stats, echolux_error* error);

/* Every block from the next volume on goes to NAME.toml, NAME.raw, NAME.index.csv and calibration files beside them,
 * which open as a scan, whatever ends it. A recording that is there is replaced only with `overwrite`. One at a time.
 */
ECHOLUX_API echolux_status echolux_live_record(echolux_live* live, const char* scan_toml, int32_t overwrite,
                                               echolux_error* error);

/* Interface version 5: the same, spectra in stripes to the disk of `scan_toml` and to `count` further ones, each given
 * by a folder on it, all at once. */
ECHOLUX_API echolux_status echolux_live_record_striped(echolux_live* live, const char* scan_toml,
                                                       const char* const* folders, size_t count, int32_t overwrite,
                                                       echolux_error* error);

typedef struct echolux_recorded {
    size_t size;
    int64_t blocks, bytes;
    int64_t missing_blocks; /* that came and are not in it: the disk was too slow, or full */
    int64_t lost_blocks;    /* by the source */
    int64_t refused_blocks; /* out of order or of another size */
} echolux_recorded;

/* Waits for the disk. Where no block was recorded, no file is left. A recording that is under way when the session is
 * freed is ended as well. */
ECHOLUX_API echolux_status echolux_live_stop_recording(echolux_live* live, echolux_recorded* recorded,
                                                       echolux_error* error);

/* Events since the last call that had room for them, one line each. */
ECHOLUX_API echolux_status echolux_live_events(echolux_live* live, char* buffer, size_t size, size_t* needed,
                                               echolux_error* error);

#ifdef __cplusplus
}
#endif
#endif
