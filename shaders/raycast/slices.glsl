// Planes inside the volume: the first that a ray meets ends it.
