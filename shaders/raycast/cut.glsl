// What is cut away of a ray before anything is sampled.

Ray cut(Ray ray) {
    return ray;
}
