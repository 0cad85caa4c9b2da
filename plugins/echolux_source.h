/* The interface between Echolux and a plugin that brings spectra: the driver of a digitizer, or of a camera that speaks
   a protocol of its own. A plugin is a shared library with one exported function, echolux_source_plugin(). This header
   is all that it needs; it is plain C99 and includes nothing of Echolux. docs/plugins.md is the guide, plugins/sample a
   working example.

   Threads. Echolux calls everything but release() and close() from one thread at a time. release() comes from any
   thread, also while another function runs, also after stop(); close() is the last call, from any thread. log() may be
   called from any thread, until close() returns.

   Growth. Each struct begins with its size as the side that made it knows it; new fields are appended only. Read or
   write nothing beyond that size. A field that is 0 means "none", "unknown" or "as you like". */
#ifndef ECHOLUX_SOURCE_H
#define ECHOLUX_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ECHOLUX_SOURCE_VERSION 1 /* changes only where a plugin would have to be compiled anew */

#if defined(_WIN32)
#define ECHOLUX_EXPORT __declspec(dllexport)
#else
#define ECHOLUX_EXPORT __attribute__((visibility("default")))
#endif

/* What functions return. After ECHOLUX_FAILED, the last error that was logged is shown to the user; next() must not be
   called again before start(). */
enum { ECHOLUX_OK = 0, ECHOLUX_NOTHING_YET = 1, ECHOLUX_ENDED = 2, ECHOLUX_FAILED = -1 };

enum { ECHOLUX_LOG_DEBUG = 0, ECHOLUX_LOG_NOTE = 1, ECHOLUX_LOG_WARNING = 2, ECHOLUX_LOG_ERROR = 3 };

/* Samples. PACKED12: two samples in three bytes; little endian: b0 | (b1 & 15) << 8 and b1 >> 4 | b2 << 4. */
enum { ECHOLUX_U8 = 0, ECHOLUX_U16 = 1, ECHOLUX_U32 = 2, ECHOLUX_I16 = 3, ECHOLUX_F32 = 4, ECHOLUX_PACKED12 = 5 };

enum { ECHOLUX_INTERLEAVED = 0, ECHOLUX_PLANAR = 1 }; /* channels: sample by sample; spectrum by spectrum in a line */

/* Whose memory blocks lie in.
   POSTED: Echolux posts empty buffers of block_bytes, page aligned and pinned where it uses a GPU; next() returns them
   filled, in any order. Between stop() and start() the plugin owns none.
   RING: the plugin owns the memory; next() lends it a block at a time, and release() takes it back. */
enum { ECHOLUX_POSTED = 0, ECHOLUX_RING = 1 };

/* Memory of a RING. DEVICE: of the CUDA device that Echolux uses; its content must be complete when next() returns. */
enum { ECHOLUX_HOST = 0, ECHOLUX_PINNED = 1, ECHOLUX_DEVICE = 2 };

typedef struct echolux_host {
    uint32_t struct_size;
    uint32_t version; /* ECHOLUX_SOURCE_VERSION of Echolux */
    void* context;
    void (*log)(void* context, int level, const char* text); /* UTF-8, one line, copied; any thread */
} echolux_host;

/* The scan, and how blocks come. Echolux fills in what the user's scan file and settings want; open() changes what the
   device has otherwise. A block holds some positions of the slow axis; each is b_repeats acquired B-scans; each of
   these is frame_offset_bytes of header, then a_scans * a_repeats lines, then flyback_lines lines. After the last
   position of a volume the beam returns during flyback_frames acquired B-scans, which are not sent. */
typedef struct echolux_stream {
    uint32_t struct_size;

    int32_t sample_format;
    int32_t big_endian;     /* samples of more than one byte */
    int32_t shift;          /* right shift of each sample: 4 for 12 bits in the high end of 16 */
    int32_t bits;           /* significant bits after the shift; 0: all */
    int32_t channels;       /* 1 to 64 */
    int32_t channel_layout; /* ECHOLUX_INTERLEAVED, ECHOLUX_PLANAR */
    int64_t samples;        /* of a spectrum, of one channel */
    int64_t line_bytes;     /* from one line to the next; 0: no gap */
    int64_t frame_offset_bytes;

    int64_t a_scans;
    int64_t b_scans;
    int64_t a_repeats;
    int64_t b_repeats;
    int64_t flyback_lines;
    int64_t flyback_frames;
    double line_rate_hz;
    double exposure_us;

    int64_t block_b_scans; /* positions in a block; the last block of a volume may have fewer */
    int64_t blocks;        /* POSTED: buffers that Echolux will post; RING: blocks that can be lent at a time */
    int32_t buffers;       /* ECHOLUX_POSTED, ECHOLUX_RING */
    int32_t memory;        /* of a RING */

    int32_t sets_line_rate; /* 1: line_rate_hz was obeyed, or can be */
    int32_t sets_exposure;
    int32_t sets_samples;
} echolux_stream;

/* POSTED: an empty buffer. */
typedef struct echolux_buffer {
    uint32_t struct_size;
    int32_t memory; /* ECHOLUX_HOST, ECHOLUX_PINNED */
    void* bytes;
    int64_t size;
    uint64_t token; /* goes into echolux_block */
} echolux_buffer;

/* Where a block belongs: either the plugin counts (volume and first_b_scan), or it leaves both at -1 and Echolux counts
   on from the block before, lost ones included. Marker VOLUME_STARTS, for devices with a trigger for each volume: the
   block begins one, whatever was counted. */
enum { ECHOLUX_VOLUME_STARTS = 1 };

typedef struct echolux_block {
    uint32_t struct_size; /* Echolux fills this in, and the defaults below, before next() */
    uint32_t markers;     /* 0 */
    const void* bytes;    /* first byte; POSTED: the buffer's */
    int64_t size;
    uint64_t token;       /* POSTED: the buffer's; RING: the plugin's own name for it, handed to release() */
    int64_t volume;       /* -1 */
    int64_t first_b_scan; /* -1 */
    int64_t b_scans;      /* block_b_scans */
    int64_t lost_before;  /* 0: blocks that the device lost since the block before */
    double time_s;        /* of the first line since start(), by the device's clock; negative: when next() returned */
} echolux_block;

/* The way of the beam during one volume, flyback included, to be repeated without end: one point for each line. x is
   along the lines of a B-scan, y from B-scan to B-scan, both from the centre of the field. */
enum {
    ECHOLUX_MARK_VOLUME = 1,  /* first line of a volume */
    ECHOLUX_MARK_FRAME = 2,   /* first line of an acquired B-scan */
    ECHOLUX_MARK_FLYBACK = 4, /* the beam is returning */
    ECHOLUX_MARK_SENT = 8     /* the line is part of a block: all but those of the flyback frames */
};

typedef struct echolux_pattern {
    uint32_t struct_size;
    int64_t points;
    double points_per_s; /* the line rate; 0: unknown, one for each line that is triggered */
    const float* x_um;
    const float* y_um;
    const uint8_t* marks; /* sums of the marks above */
} echolux_pattern;

typedef struct echolux_device echolux_device; /* the plugin's own */

typedef struct echolux_source {
    uint32_t struct_size;
    uint32_t version; /* ECHOLUX_SOURCE_VERSION of the plugin */
    const char* name; /* for people */

    /* `options` is the text after the comma in plugin:PATH,OPTIONS. `host` stays until close(). After a failure nothing
       is left open, and close() is not called. */
    int (*open)(const echolux_host* host, const char* options, echolux_stream* stream, echolux_device** device);

    /* From a stopped device: volumes and time count from zero. */
    int (*start)(echolux_device* device);

    /* POSTED only; before start() and while running. The buffer is the plugin's until next() returns it, or stop(). */
    int (*post)(echolux_device* device, const echolux_buffer* buffer);

    /* Waits for a block, at most `patience_us`. Where no buffer is posted, or all of the ring is lent, blocks are lost:
       they are counted in lost_before of the next one. */
    int (*next)(echolux_device* device, int64_t patience_us, echolux_block* block);

    /* RING only: the block is not read any more. */
    void (*release)(echolux_device* device, uint64_t token);

    /* Writes to no posted buffer once it returns. What was lent stays valid until its release(). */
    void (*stop)(echolux_device* device);

    /* After stop(), and after the last release(). */
    void (*close)(echolux_device* device);

    /* The other half, NULL where the device moves no beam: plays the pattern from the next start() on. Called before
       start(); the arrays are valid during the call only. */
    int (*play)(echolux_device* device, const echolux_pattern* pattern);
} echolux_source;

/* What a plugin exports. NULL: it does not work with this version of Echolux. The struct is static. */
ECHOLUX_EXPORT const echolux_source* echolux_source_plugin(uint32_t host_version);

#ifdef __cplusplus
}
#endif

#endif
