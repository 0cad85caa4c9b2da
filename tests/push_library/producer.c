/* A mock acquisition program that calls the library, on Linux and on Windows.
   usage: producer HOST:PORT SETTINGS LINES_PER_BLOCK LINES_PER_S SECONDS PRODUCER
   Prints "ready" when a viewer is connected, and at the end "PUSHED SENT DROPPED". LINES_PER_S 0: as fast as the
   network. */
#include "plugins/push_library/echolux_sender.h"

#include "plugins/echolux_push_tcp.h" /* for its clock alone */

#include "pushed_pattern.h"

static void rest_until(int64_t at_ns) {
    for (;;) {
        const int64_t left_us = (at_ns - echolux_push_now_ns()) / 1000;
        if (left_us <= 0) return;
        echolux_push_rest(left_us < 500000 ? (long)left_us : 500000);
    }
}

/* Without a rate: waits while more than two blocks are on their way. */
static void await_room(int32_t sender) {
    int64_t pushed = 0, sent = 0, dropped = 0;
    while (echolux_sender_counts(sender, &pushed, &sent, &dropped) == 0 && pushed - sent - dropped > 2)
        echolux_push_rest(100);
}

int main(int count, char** arguments) {
    char problem[200];
    int64_t bytes, start_ns, pushed = 0, sent = 0, dropped = 0, i;
    double lines, rate, seconds;
    uint64_t producer;
    uint64_t* words;
    int32_t sender;
    if (count < 7) return 2;
    lines = atof(arguments[3]);
    rate = atof(arguments[4]);
    seconds = atof(arguments[5]);
    producer = (uint64_t)atoi(arguments[6]);
    sender = echolux_sender_open(arguments[1], arguments[2], problem, sizeof problem);
    if (sender < 0) {
        fprintf(stderr, "%s\n", problem);
        return 1;
    }
    bytes = echolux_sender_block_bytes(sender);
    words = (uint64_t*)malloc((size_t)bytes);
    while (echolux_sender_wait(sender, 1000) == 0) {
    }
    puts("ready");
    fflush(stdout);
    start_ns = echolux_push_now_ns();
    for (i = 0; (double)(echolux_push_now_ns() - start_ns) < 1e9 * seconds; ++i) {
        pattern_fill(words, (uint64_t)bytes / 8, pattern_stamp(producer, (uint64_t)i));
        if (rate > 0)
            rest_until(start_ns + (int64_t)(1e9 * (double)(i + 1) * lines / rate));
        else
            await_room(sender);
        if (echolux_sender_push(sender, words, bytes) != 0) return 3;
    }
    echolux_sender_end(sender);
    while (echolux_sender_counts(sender, &pushed, &sent, &dropped) == 0 && pushed > sent + dropped &&
           echolux_sender_wait(sender, 0) == 1)
        echolux_push_rest(1000);
    printf("%lld %lld %lld\n", (long long)pushed, (long long)sent, (long long)dropped);
    echolux_sender_close(sender, 5000);
    free(words);
    return 0;
}
