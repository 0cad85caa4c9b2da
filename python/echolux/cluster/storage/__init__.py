"""Where results go, what of them is complete, and whose they are."""
