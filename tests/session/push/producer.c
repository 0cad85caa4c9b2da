/* A mock acquisition program.
   usage: push_producer TARGET SAMPLES A_SCANS B_SCANS BLOCK_B_SCANS LINES_PER_S BLOCKS SLOTS [WHAT]
   TARGET is shm:NAME or HOST:PORT. LINES_PER_S 0: full speed. BLOCKS 0: until killed. WHAT selects the end:
   "ends": reports the end after the last block
   "hangs": stops while writing a block, prints "hangs" and waits to be killed
   "stays": waits with the ring intact */
#include "plugins/echolux_push_tcp.h"

#include "pushed_pattern.h"

static void rest_until(const struct timespec* start, double seconds) {
    struct timespec at = *start;
    at.tv_sec += (time_t)seconds;
    at.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
    if (at.tv_nsec >= 1000000000) {
        at.tv_nsec -= 1000000000;
        ++at.tv_sec;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

int main(int count, char** arguments) {
    static echolux_push_sender sender;
    echolux_push_stream stream;
    struct timespec start;
    const char* what = count > 9 ? arguments[9] : "";
    double rate;
    long long blocks, i;
    int is_shared;
    if (count < 9) return 2;
    memset(&stream, 0, sizeof stream);
    stream.sample_format = ECHOLUX_PUSH_U16;
    stream.samples = atoll(arguments[2]);
    stream.a_scans = atoll(arguments[3]);
    stream.b_scans = atoll(arguments[4]);
    stream.block_b_scans = atoll(arguments[5]);
    stream.line_rate_hz = rate = atof(arguments[6]);
    blocks = atoll(arguments[7]);
    stream.slots = atoll(arguments[8]);
    strcpy(stream.name, "test instrument");
    is_shared = strncmp(arguments[1], "shm:", 4) == 0;
    if (is_shared) {
        if (echolux_push_create(&sender.push, arguments[1] + 4, &stream) != 0) {
            fprintf(stderr, "%s\n", sender.push.problem);
            return 1;
        }
    } else {
        char* colon = strrchr(arguments[1], ':');
        *colon = 0;
        if (echolux_push_connect(&sender, arguments[1], colon + 1, &stream) != 0) return 1;
        while (!echolux_push_is_connected(&sender)) echolux_push_rest(1000);
    }
    puts("ready");
    fflush(stdout);
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (i = 0; blocks == 0 || i < blocks; ++i) {
        const double lines = (double)(stream.a_scans * stream.block_b_scans);
        uint64_t* words = (uint64_t*)echolux_push_begin(&sender.push);
        pattern_fill(words, sender.push.block_bytes / 8, pattern_stamp((uint64_t)getpid() & 0xFFFFFF, (uint64_t)i));
        if (rate > 0) rest_until(&start, (double)(i + 1) * lines / rate);
        if (echolux_push_publish(&sender.push, NULL) != 0) return 3;
    }
    if (strcmp(what, "hangs") == 0) {
        memset(echolux_push_begin(&sender.push), 1, sender.push.block_bytes / 2);
        puts("hangs");
        fflush(stdout);
    }
    if (strcmp(what, "ends") == 0) echolux_push_end(&sender.push);
    while (strcmp(what, "hangs") == 0 || strcmp(what, "stays") == 0) pause();
    if (is_shared)
        echolux_push_close(&sender.push);
    else
        echolux_push_disconnect(&sender, 5000);
    return 0;
}
