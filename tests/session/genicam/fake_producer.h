/* Controls the GenTL producer of the tests, fake_producer.c, in the process that has loaded it. */
#ifndef FAKE_PRODUCER_H
#define FAKE_PRODUCER_H

#include <stdint.h>

enum { FAKE_ENCODER_PER_LINE = 3 };

/* All are read while images are sent. The tests change them through fake_gentl(). */
typedef struct fake_gentl_script {
    int devices;           /* number that is found */
    int opens;             /* number of open devices */
    int lose_every;        /* every n-th image is not sent, only counted; 0: none */
    int truncate_every;    /* every n-th image is incomplete */
    int enlarge_every;     /* every n-th image does not fit into its buffer */
    int miss_every;        /* every n-th image is missed by the trigger: the encoder moves, the frame id does not */
    int has_random_faults; /* one of 64 images is lost, one of 64 incomplete */
    int is_silent;         /* no images come */
    int is_unplugged;      /* every access fails */
    int has_no_frame_ids;  /* also no times in ns */
    int reports_height;    /* of the images; 0: the true one */
    int first_with_chunks; /* earlier images have none */
    uint32_t encoder_start;
    int has_32_bit_encoder; /* else 64 */
    int images_per_s;
    int is_locked, is_started; /* by the consumer */
    int64_t sent, lost;        /* images, and images for which no buffer was queued */
} fake_gentl_script;

typedef fake_gentl_script* fake_gentl_function(void);

/* Value of a pixel, in 12 bits. */
static inline uint64_t fake_pixel(uint64_t image, uint64_t index) {
    return (image * 29 + index * 5 + 3) % 4096;
}

#endif
