/* The interface between Echolux and a plugin that provides spectra: the driver of a digitizer, or of a camera with
   its own protocol. A plugin is a shared library with one exported function, echolux_source_plugin(). It needs only
   this header, which is plain C99 and includes no other part of Echolux. docs/plugins.md is the guide,
   plugins/sample a working example.

   Threads: Echolux calls all functions except release() and close() from one thread at a time. release() may be
   called from any thread, also while another function runs and after stop(). close() is the last call, from any
   thread. log() may be called from any thread until close() returns.

   Compatibility: each struct begins with its size as known by the side that created it, and new fields are only
   appended. Do not access fields beyond that size. A field that is 0 means "none", "unknown" or "default". */
#ifndef ECHOLUX_SOURCE_H
#define ECHOLUX_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ECHOLUX_SOURCE_VERSION 1 /* changes only if plugins must be recompiled */

#if defined(_WIN32)
#define ECHOLUX_EXPORT __declspec(dllexport)
#else
#define ECHOLUX_EXPORT __attribute__((visibility("default")))
#endif

/* Status codes. After ECHOLUX_FAILED, the last logged error is shown to the user, and next() must not be called
   again before start(). */
enum { ECHOLUX_OK = 0, ECHOLUX_NOTHING_YET = 1, ECHOLUX_ENDED = 2, ECHOLUX_FAILED = -1 };

/* Levels of log messages. */
enum { ECHOLUX_LOG_DEBUG = 0, ECHOLUX_LOG_NOTE = 1, ECHOLUX_LOG_WARNING = 2, ECHOLUX_LOG_ERROR = 3 };

/* Sample formats. PACKED12 stores two samples in three little-endian bytes:
   b0 | (b1 & 15) << 8 and b1 >> 4 | b2 << 4. */
enum { ECHOLUX_U8 = 0, ECHOLUX_U16 = 1, ECHOLUX_U32 = 2, ECHOLUX_I16 = 3, ECHOLUX_F32 = 4, ECHOLUX_PACKED12 = 5 };

enum { ECHOLUX_INTERLEAVED = 0, ECHOLUX_PLANAR = 1 }; /* channels alternate by sample, or by spectrum in a line */

/* Ownership of block memory.

   POSTED: Echolux posts empty buffers of block_bytes, page-aligned and pinned if it uses a GPU. next() returns them
   filled, in any order. Between stop() and start() the plugin owns none.

   RING: the plugin owns the memory. next() lends one block at a time, and release() returns it. */
enum { ECHOLUX_POSTED = 0, ECHOLUX_RING = 1 };

/* Memory of a RING. DEVICE is memory of the CUDA device that Echolux uses; its content must be complete when next()
   returns. */
enum { ECHOLUX_HOST = 0, ECHOLUX_PINNED = 1, ECHOLUX_DEVICE = 2 };

/* Functions of Echolux that the plugin may call. */
typedef struct echolux_host {
    uint32_t struct_size;
    uint32_t version; /* ECHOLUX_SOURCE_VERSION of Echolux */
    void* context;
    void (*log)(void* context, int level, const char* text); /* UTF-8, one line, copied; any thread */
} echolux_host;

/* Description of the scan and its blocks. Echolux fills in the requests from the scan file and settings; open()
   corrects the fields that differ on the device. A block contains positions of the slow axis, each with b_repeats
   acquired B-scans. An acquired B-scan consists of a header of frame_offset_bytes, a_scans * a_repeats lines, and
   flyback_lines lines. After the last position of a volume, the beam returns during flyback_frames acquired B-scans,
   which are not sent. */
typedef struct echolux_stream {
    uint32_t struct_size;

    int32_t sample_format;
    int32_t big_endian;     /* for samples of more than one byte */
    int32_t shift;          /* right shift of each sample: 4 for 12 bits in the high end of 16 */
    int32_t bits;           /* significant bits after the shift; 0: all */
    int32_t channels;       /* 1 to 64 */
    int32_t channel_layout; /* ECHOLUX_INTERLEAVED, ECHOLUX_PLANAR */
    int64_t samples;        /* per spectrum and channel */
    int64_t line_bytes;     /* distance between lines; 0: no gap */
    int64_t frame_offset_bytes;

    int64_t a_scans;
    int64_t b_scans;
    int64_t a_repeats;
    int64_t b_repeats;
    int64_t flyback_lines;
    int64_t flyback_frames;
    double line_rate_hz;
    double exposure_us;

    int64_t block_b_scans; /* positions per block; the last block of a volume may have fewer */
    int64_t blocks;        /* POSTED: buffers that Echolux posts; RING: blocks that can be lent simultaneously */
    int32_t buffers;       /* ECHOLUX_POSTED, ECHOLUX_RING */
    int32_t memory;        /* of a RING */

    int32_t sets_line_rate; /* 1: line_rate_hz was applied, or can be */
    int32_t sets_exposure;
    int32_t sets_samples;
} echolux_stream;

/* An empty buffer (POSTED). */
typedef struct echolux_buffer {
    uint32_t struct_size;
    int32_t memory; /* ECHOLUX_HOST, ECHOLUX_PINNED */
    void* bytes;
    int64_t size;
    uint64_t token; /* to be returned in echolux_block */
} echolux_buffer;

/* A block and its position. Either the plugin counts volume and first_b_scan, or it leaves both at -1 and Echolux
   continues from the previous block, including lost ones. For devices with a volume trigger, the marker
   VOLUME_STARTS begins a new volume regardless of the count. */
enum { ECHOLUX_VOLUME_STARTS = 1 };

typedef struct echolux_block {
    uint32_t struct_size; /* set by Echolux before next(), like the defaults below */
    uint32_t markers;     /* 0 */
    const void* bytes;    /* first byte; POSTED: that of the buffer */
    int64_t size;
    uint64_t token;       /* POSTED: that of the buffer; RING: chosen by the plugin, passed to release() */
    int64_t volume;       /* -1 */
    int64_t first_b_scan; /* -1 */
    int64_t b_scans;      /* block_b_scans */
    int64_t lost_before;  /* blocks lost by the device since the previous block; default 0 */
    double time_s;        /* first line since start(), by the device's clock; negative: when next() returned */
} echolux_block;

/* Beam path during one volume, including flyback, to be repeated endlessly: one point per line. x is along the lines
   of a B-scan, y from B-scan to B-scan, both relative to the centre of the field. */
enum {
    ECHOLUX_MARK_VOLUME = 1,  /* first line of a volume */
    ECHOLUX_MARK_FRAME = 2,   /* first line of an acquired B-scan */
    ECHOLUX_MARK_FLYBACK = 4, /* the beam is returning */
    ECHOLUX_MARK_SENT = 8     /* the line is part of a block: all except those of flyback frames */
};

typedef struct echolux_pattern {
    uint32_t struct_size;
    int64_t points;
    double points_per_s; /* the line rate; 0: unknown, one point per triggered line */
    const float* x_um;
    const float* y_um;
    const uint8_t* marks; /* sums of the marks above */
} echolux_pattern;

typedef struct echolux_device echolux_device; /* defined by the plugin */

/* The plugin's functions. */
typedef struct echolux_source {
    uint32_t struct_size;
    uint32_t version; /* ECHOLUX_SOURCE_VERSION of the plugin */
    const char* name; /* display name */

    /* Opens the device. `options` is the text after the comma in plugin:PATH,OPTIONS. `host` is valid until close().
       After a failure nothing may stay open, and close() is not called. */
    int (*open)(const echolux_host* host, const char* options, echolux_stream* stream, echolux_device** device);

    /* Starts a stopped device. Volumes and time count from zero. */
    int (*start)(echolux_device* device);

    /* POSTED only; called before start() and while running. The plugin owns the buffer until next() returns it, or
       until stop(). */
    int (*post)(echolux_device* device, const echolux_buffer* buffer);

    /* Returns the next block, waiting up to `patience_us`. Blocks are lost if no buffer is posted or the whole ring
       is lent; they are counted in lost_before of the next block. */
    int (*next)(echolux_device* device, int64_t patience_us, echolux_block* block);

    /* RING only: Echolux no longer reads the block. */
    void (*release)(echolux_device* device, uint64_t token);

    /* Stops the device. It must not write to posted buffers after this call. Lent blocks stay valid until their
       release(). */
    void (*stop)(echolux_device* device);

    /* Closes the device. Called after stop() and after the last release(). */
    void (*close)(echolux_device* device);

    /* Plays the pattern from the next start(). NULL if the device does not move the beam. Called before start(); the
       arrays are valid only during the call. */
    int (*play)(echolux_device* device, const echolux_pattern* pattern);
} echolux_source;

/* Exported by the plugin. Returns a static struct, or NULL if the plugin does not support this version of Echolux. */
ECHOLUX_EXPORT const echolux_source* echolux_source_plugin(uint32_t host_version);

#ifdef __cplusplus
}
#endif

#endif
