"""From the text in the editor to preprocessed text, after an edit without the preprocessor where that is possible, and back to
places."""
