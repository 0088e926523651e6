"""From declarations to what names mean: types, scopes, linkage, attributes (C11 6.2, 6.7)."""
