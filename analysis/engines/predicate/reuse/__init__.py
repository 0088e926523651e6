"""Reuses proofs of earlier revisions ([IPA] section 4).

    earlier_proofs (as bytes, and back) ──> certificate.annotation_map (into the names and contexts of the new program)
        ──> revalidation (the annotation as it is), and where that is not enough, and no violation is found soon from nothing
        ──> local_repair (what the change concerns is found again), and where that is not enough
        ──> strengthening (Algorithm 6, by `cpa.impact`) ──> annotation_reuse (Algorithm 5) ┐
        ──> surviving_lemmas (Houdini over what the assertions consist of)                  ┴─> reusing

Nothing that is reused is believed: a whole annotation counts once the certificate checker has accepted it, and what is only a
part of one is where the search begins.
"""
