# One line a source; all go into libpkrun.a, which pkrun and the unit tests link.
