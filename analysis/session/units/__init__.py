"""Units: one file each, built, and built again after an edit, with what is kept of the revision before."""
