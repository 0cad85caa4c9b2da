// The flow that lies over the structure.
