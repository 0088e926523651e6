"""Abstract domains, one file each. They do not import each other; what two of them need is in `analysis.cpa`."""
