// For sanitized programs only: a library that is loaded stays loaded, so that what is still allocated at the end can be
// named. Drivers and layers that were unloaded appear as "unknown module", which no suppression matches.
extern "C" int dlclose(void*) {
    return 0;
}
