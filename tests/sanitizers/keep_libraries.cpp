// Keeps loaded libraries in memory in sanitized programs, so that leak reports can name them at exit. Otherwise
// unloaded drivers and layers appear as "unknown module", which no suppression matches.
extern "C" int dlclose(void*) {
    return 0;
}
