/* A sample plugin for Echolux: an imaginary digitizer. It simulates the fringes of a tilted mirror, and writes the
   pattern for the galvanometers to a file. Use it as a starting point for your own driver.

   Options, separated by commas:
     buffers=ring | posted             ownership of block memory
     format=u16 | i16 | packed12       12 bits per sample
     channels=N                        interleaved, each shifted by a quarter of a fringe
     volumes=N                         ends after N volumes; 0: endless
     lose=N                            loses every N-th block, like a device on a slow bus; 0: none
     pattern=FILE                      output of play(): x_um,y_um,marks, one line per point */
#define _POSIX_C_SOURCE 200809L

#include "../echolux_source.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HEADER_BYTES = 16, MOST_SLOTS = 4096, TEXT = 512 };

/* Memory of a block: part of the ring, or a posted buffer. */
typedef struct slot {
    char* bytes;
    uint64_t token;
    int is_free;
} slot;

/* State of the device, called echolux_device in the interface. */
struct echolux_device {
    const echolux_host* host;
    echolux_stream stream;
    long long volumes, lose;
    char pattern_file[TEXT];

    char* frame; /* one acquired B-scan with header: all are identical */
    int64_t frame_bytes;

    pthread_mutex_t mutex; /* protects the slots: release() comes from any thread */
    slot slots[MOST_SLOTS];
    char* ring;

    double started_s;
    int64_t block, lost; /* since start() */
};

static void tell(const echolux_host* host, int level, const char* what, const char* of) {
    char line[TEXT];
    snprintf(line, sizeof line, "%s%s", what, of);
    host->log(host->context, level, line);
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- options ---------------------------------------------------------------------------------------------------- */

/* Returns 0 for an unknown key or an invalid value. */
static int set_option(echolux_device* device, const char* key, const char* value) {
    static const char* const formats[] = {"u16", "i16", "packed12"};
    static const int32_t codes[] = {ECHOLUX_U16, ECHOLUX_I16, ECHOLUX_PACKED12};
    echolux_stream* stream = &device->stream;
    size_t i;
    if (strcmp(key, "buffers") == 0) {
        stream->buffers = strcmp(value, "posted") == 0 ? ECHOLUX_POSTED : ECHOLUX_RING;
        return strcmp(value, "posted") == 0 || strcmp(value, "ring") == 0;
    }
    if (strcmp(key, "format") == 0) {
        for (i = 0; i < sizeof codes / sizeof *codes; ++i) {
            if (strcmp(value, formats[i]) != 0) continue;
            stream->sample_format = codes[i];
            return 1;
        }
        return 0;
    }
    if (strcmp(key, "channels") == 0) return (stream->channels = (int32_t)atoi(value)) > 0;
    if (strcmp(key, "volumes") == 0) return (device->volumes = atoll(value)) >= 0;
    if (strcmp(key, "lose") == 0) return (device->lose = atoll(value)) >= 0;
    if (strcmp(key, "pattern") == 0) {
        snprintf(device->pattern_file, sizeof device->pattern_file, "%s", value);
        return 1;
    }
    return 0;
}

static int set_options(echolux_device* device, const char* options) {
    char text[TEXT];
    char* option;
    char* rest = NULL;
    snprintf(text, sizeof text, "%s", options);
    for (option = strtok_r(text, ",", &rest); option != NULL; option = strtok_r(NULL, ",", &rest)) {
        char* value = strchr(option, '=');
        if (value != NULL) *value++ = '\0';
        if (value == NULL || !set_option(device, option, value)) {
            tell(device->host, ECHOLUX_LOG_ERROR, "cannot use the option ", option);
            return 0;
        }
    }
    return 1;
}

/* ---- simulated spectra ------------------------------------------------------------------------------------------ */

/* A tilted mirror: the number of fringes rises from 20 to 60 over the A-scans of a B-scan. */
static unsigned count_at(const echolux_stream* stream, int64_t line, int64_t sample, int channel) {
    const double pi = 3.14159265358979323846;
    const double fringes = 20 + 40 * (double)(line / stream->a_repeats) / (double)stream->a_scans;
    const double phase = 2 * pi * (fringes * ((double)sample + 0.5) / (double)stream->samples + 0.25 * channel);
    return (unsigned)(2048.5 + 1200 * cos(phase));
}

/* Stores a 12-bit count as sample `index` of a line. */
static void put(char* line, int32_t format, int64_t index, unsigned count) {
    unsigned char* bytes = (unsigned char*)line;
    if (format == ECHOLUX_PACKED12) {
        bytes += index / 2 * 3;
        if (index % 2 == 0) {
            bytes[0] = (unsigned char)(count & 255);
            bytes[1] = (unsigned char)(count >> 8);
        } else {
            bytes[1] = (unsigned char)(bytes[1] | (count & 15) << 4);
            bytes[2] = (unsigned char)(count >> 4);
        }
    } else {
        const uint16_t bits = (uint16_t)(format == ECHOLUX_I16 ? count - 2048 : count);
        memcpy(bytes + 2 * index, &bits, sizeof bits);
    }
}

/* Simulates the acquired B-scan that all blocks repeat. */
static int make_frame(echolux_device* device) {
    const echolux_stream* stream = &device->stream;
    const int64_t lines = stream->a_scans * stream->a_repeats + stream->flyback_lines;
    const int64_t pixels = stream->samples * stream->channels;
    const int64_t line_bytes = stream->sample_format == ECHOLUX_PACKED12 ? (pixels * 12 + 7) / 8 : pixels * 2;
    int64_t line, sample;
    int channel;
    device->frame_bytes = HEADER_BYTES + lines * line_bytes;
    device->frame = calloc(1, (size_t)device->frame_bytes);
    if (device->frame == NULL) return 0;
    for (line = 0; line < lines; ++line) {
        char* samples = device->frame + HEADER_BYTES + line * line_bytes;
        for (sample = 0; sample < stream->samples; ++sample) {
            for (channel = 0; channel < stream->channels; ++channel) {
                put(samples, stream->sample_format, sample * stream->channels + channel,
                    count_at(stream, line, sample, channel));
            }
        }
    }
    return 1;
}

/* ---- functions of the plugin ------------------------------------------------------------------------------------ */

static int64_t block_bytes(const echolux_device* device, int64_t b_scans) {
    return b_scans * device->stream.b_repeats * device->frame_bytes;
}

static void close_device(echolux_device* device) {
    pthread_mutex_destroy(&device->mutex);
    free(device->ring);
    free(device->frame);
    free(device);
}

static int make_ring(echolux_device* device) {
    const int64_t bytes = block_bytes(device, device->stream.block_b_scans);
    int64_t i;
    device->ring = malloc((size_t)(device->stream.blocks * bytes));
    if (device->ring == NULL) return 0;
    for (i = 0; i < device->stream.blocks; ++i) {
        device->slots[i].bytes = device->ring + i * bytes;
        device->slots[i].token = (uint64_t)i;
        device->slots[i].is_free = 1;
    }
    return 1;
}

/* A device with restrictions would correct the stream here; this one only checks that it is complete. */
static int complete(echolux_device* device) {
    echolux_stream* stream = &device->stream;
    stream->line_bytes = 0;
    stream->big_endian = stream->shift = 0;
    stream->bits = stream->sample_format == ECHOLUX_U16 ? 12 : 0;
    stream->channel_layout = ECHOLUX_INTERLEAVED;
    stream->frame_offset_bytes = HEADER_BYTES;
    stream->memory = ECHOLUX_HOST;
    stream->sets_line_rate = stream->sets_samples = 1;
    if (stream->samples == 0) stream->samples = 1024;
    return stream->a_scans > 0 && stream->b_scans > 0 && stream->block_b_scans > 0 && stream->blocks <= MOST_SLOTS;
}

static int open_device(const echolux_host* host, const char* options, echolux_stream* stream, echolux_device** opened) {
    echolux_device* device = calloc(1, sizeof *device);
    if (device == NULL) return ECHOLUX_FAILED;
    device->host = host;
    device->stream = *stream;
    device->stream.buffers = ECHOLUX_RING;
    device->stream.sample_format = ECHOLUX_U16;
    pthread_mutex_init(&device->mutex, NULL);
    if (!set_options(device, options)) {
        close_device(device);
        return ECHOLUX_FAILED;
    }
    if (!complete(device)) {
        tell(host, ECHOLUX_LOG_ERROR, "needs a scan file with a_scans and b_scans", "");
        close_device(device);
        return ECHOLUX_FAILED;
    }
    if (!make_frame(device) || (device->stream.buffers == ECHOLUX_RING && !make_ring(device))) {
        tell(host, ECHOLUX_LOG_ERROR, "no memory for the scan", "");
        close_device(device);
        return ECHOLUX_FAILED;
    }
    *stream = device->stream;
    *opened = device;
    return ECHOLUX_OK;
}

static int start_device(echolux_device* device) {
    device->block = device->lost = 0;
    device->started_s = now_s();
    return ECHOLUX_OK;
}

static void stop_device(echolux_device* device) {
    int i;
    if (device->stream.buffers != ECHOLUX_POSTED) return;
    for (i = 0; i < MOST_SLOTS; ++i) device->slots[i].is_free = 0;
}

static int post_buffer(echolux_device* device, const echolux_buffer* buffer) {
    int i;
    for (i = 0; i < MOST_SLOTS; ++i) {
        slot* place = &device->slots[i];
        if (place->is_free) continue;
        place->bytes = buffer->bytes;
        place->token = buffer->token;
        place->is_free = 1;
        return ECHOLUX_OK;
    }
    tell(device->host, ECHOLUX_LOG_ERROR, "too many buffers", "");
    return ECHOLUX_FAILED;
}

static slot* free_slot(echolux_device* device) {
    slot* found = NULL;
    int i;
    pthread_mutex_lock(&device->mutex);
    for (i = 0; i < MOST_SLOTS && found == NULL; ++i) {
        if (device->slots[i].is_free) found = &device->slots[i];
    }
    if (found != NULL) found->is_free = 0;
    pthread_mutex_unlock(&device->mutex);
    return found;
}

static void release_block(echolux_device* device, uint64_t token) {
    pthread_mutex_lock(&device->mutex);
    device->slots[token].is_free = 1;
    pthread_mutex_unlock(&device->mutex);
}

/* Waits until `due_s`, or until `deadline_s` if that is earlier. Returns 0 if `due_s` was not reached. */
static int wait_until(double due_s, double deadline_s) {
    const double wait = (due_s < deadline_s ? due_s : deadline_s) - now_s();
    struct timespec pause;
    if (wait > 0) {
        pause.tv_sec = (time_t)wait;
        pause.tv_nsec = (long)(1e9 * (wait - (double)pause.tv_sec));
        nanosleep(&pause, NULL);
    }
    return due_s <= deadline_s;
}

static void fill(const echolux_device* device, char* bytes, int64_t b_scans, uint64_t first_frame) {
    uint64_t frame;
    for (frame = 0; frame < (uint64_t)(b_scans * device->stream.b_repeats); ++frame, bytes += device->frame_bytes) {
        const uint64_t number = first_frame + frame;
        memcpy(bytes, device->frame, (size_t)device->frame_bytes);
        memcpy(bytes, &number, sizeof number); /* header: number of the acquired B-scan */
    }
}

/* A block is due with its last line. The line rate sets the time; without one, blocks are sent immediately. */
static int next_block(echolux_device* device, int64_t patience_us, echolux_block* block) {
    const echolux_stream* stream = &device->stream;
    const int64_t in_volume = (stream->b_scans + stream->block_b_scans - 1) / stream->block_b_scans;
    const int64_t frame_lines = stream->a_scans * stream->a_repeats + stream->flyback_lines;
    const int64_t volume_frames = stream->b_scans * stream->b_repeats + stream->flyback_frames;
    const double line_s = stream->line_rate_hz > 0 ? 1 / stream->line_rate_hz : 0;
    const double deadline_s = now_s() + 1e-6 * (double)patience_us;
    while (1) {
        const int64_t volume = device->block / in_volume;
        const int64_t first = device->block % in_volume * stream->block_b_scans;
        const int64_t left = stream->b_scans - first;
        const int64_t b_scans = left < stream->block_b_scans ? left : stream->block_b_scans;
        const int64_t frame = volume * volume_frames + first * stream->b_repeats;
        const int64_t end = frame + b_scans * stream->b_repeats;
        slot* place;
        if (device->volumes > 0 && volume >= device->volumes) return ECHOLUX_ENDED;
        if (!wait_until(device->started_s + (double)(end * frame_lines) * line_s, deadline_s))
            return ECHOLUX_NOTHING_YET;
        place = device->lose > 0 && (device->block + 1) % device->lose == 0 ? NULL : free_slot(device);
        if (place == NULL && device->lose == 0 && line_s == 0) { /* without a line rate, blocks cannot be late */
            wait_until(now_s() + 1e-3, deadline_s);
            return ECHOLUX_NOTHING_YET;
        }
        ++device->block;
        if (place == NULL) {
            ++device->lost;
            continue;
        }
        fill(device, place->bytes, b_scans, (uint64_t)frame);
        block->bytes = place->bytes;
        block->size = block_bytes(device, b_scans);
        block->token = place->token;
        block->volume = volume;
        block->first_b_scan = first;
        block->b_scans = b_scans;
        block->lost_before = device->lost;
        if (line_s > 0) block->time_s = (double)(frame * frame_lines) * line_s;
        device->lost = 0;
        return ECHOLUX_OK;
    }
}

static int play_pattern(echolux_device* device, const echolux_pattern* pattern) {
    FILE* file;
    int64_t i;
    if (device->pattern_file[0] == '\0') return ECHOLUX_OK;
    file = fopen(device->pattern_file, "w");
    if (file == NULL) {
        tell(device->host, ECHOLUX_LOG_ERROR, "cannot write ", device->pattern_file);
        return ECHOLUX_FAILED;
    }
    fprintf(file, "x_um,y_um,marks\n");
    for (i = 0; i < pattern->points; ++i) {
        fprintf(file, "%.9g,%.9g,%d\n", (double)pattern->x_um[i], (double)pattern->y_um[i], pattern->marks[i]);
    }
    if (fclose(file) != 0) {
        tell(device->host, ECHOLUX_LOG_ERROR, "cannot write all of ", device->pattern_file);
        return ECHOLUX_FAILED;
    }
    return ECHOLUX_OK;
}

const echolux_source* echolux_source_plugin(uint32_t host_version) {
    static const echolux_source source = {sizeof(echolux_source),
                                          ECHOLUX_SOURCE_VERSION,
                                          "sample fringes",
                                          open_device,
                                          start_device,
                                          post_buffer,
                                          next_block,
                                          release_block,
                                          stop_device,
                                          close_device,
                                          play_pattern};
    return host_version == ECHOLUX_SOURCE_VERSION ? &source : NULL;
}
